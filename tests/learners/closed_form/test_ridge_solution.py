import numpy as np
import pytest

from i2cansay.core.statistics.ridge_statistics import RidgeStatistics
from i2cansay.learners.closed_form.ridge_solution import check_penalty, solve_ridge


def test_number_is_taken_and_gcv_is_chosen() -> None:
    statistics = RidgeStatistics(4)
    statistics.resize(3)
    y = np.arange(30) % 3
    statistics.add(np.eye(4)[y] + np.random.default_rng(0).standard_normal((30, 4)), y)
    assert solve_ridge(statistics, 3.0, relative=True, intercept=True).penalty == 3.0
    chosen = solve_ridge(statistics, "gcv", relative=True, intercept=True)
    again = solve_ridge(statistics, chosen.penalty, relative=True, intercept=True)
    np.testing.assert_allclose(chosen.rule.weights, again.rule.weights, rtol=1e-8)


@pytest.mark.parametrize("penalty", [0.0, -1.0, "best"])
def test_other_penalties_are_named(penalty: float | str) -> None:
    with pytest.raises(ValueError, match="penalty must be a number above 0"):
        check_penalty(penalty)  # type: ignore[arg-type]
