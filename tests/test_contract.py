"""Every learner of the table keeps every promise of the contract."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from i2cansay import LEARNERS, make_learner
from i2cansay.testing import learner_checks

# Small enough for thousands of tiny streams; all others are checked with the parameters they come with.
SMALL: dict[str, dict[str, Any]] = {
    "i2cansay_shared": {"lift": 40},
    "ranpac": {"n_projections": 40},
    "rff_lda": {"n_projections": 40},
    "ensemble": {"n_classifiers": 64, "n_active": 8},
}


def cases() -> Iterator[Any]:
    for learner in LEARNERS:
        for name, check in learner_checks(make_learner(learner, **SMALL.get(learner, {}))):
            yield pytest.param(check, id=f"{learner}-{name}")


@pytest.mark.parametrize("check", list(cases()))
def test_contract(check: Callable[[], None]) -> None:
    check()
