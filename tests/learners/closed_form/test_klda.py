from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.core.types import Float64, Rows
from i2cansay.learners.closed_form.klda import KLDA
from i2cansay.learners.closed_form.rff_lda import RandomFourierLDA
from i2cansay.learners.closed_form.slda import StreamingLDA
from i2cansay.testing import check_learner


def draw(n: int = 90) -> tuple[Float64, Rows]:
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, n))
    return rng.standard_normal((n, 4)) + 2 * np.eye(4)[y], y


def small(**parameters: Any) -> KLDA:
    return KLDA(**{"n_projections": 40, "n_members": 3, "random_state": 0, **parameters})


def test_scikit_learn_and_the_contract_accept_it() -> None:
    check_estimator(small(), on_skip=None)
    check_learner(small())
    check_learner(small(average="probabilities"))


@pytest.mark.parametrize("average", ["probabilities", "scores"])
def test_one_member_decides_as_random_fourier_lda(average: str) -> None:
    X, y = draw()
    one = small(n_members=1, average=average).partial_fit(X, y)
    # A member takes its seed from the ensemble's generator.
    single = RandomFourierLDA(n_projections=40, random_state=np.random.default_rng(0)).partial_fit(X, y)
    np.testing.assert_array_equal(one.predict(X), single.predict(X))
    gaps = [scores - scores[:, :1] for scores in (one.class_scores(X), single.class_scores(X))]
    np.testing.assert_allclose(gaps[0], gaps[1], rtol=1e-7, atol=1e-9)


def test_probabilities_of_the_members_are_averaged() -> None:
    X, y = draw()
    model = small(average="probabilities").partial_fit(X, y)
    each = []
    for member in model._members.members:
        scores = (
            StreamingLDA(shrinkage="oas").partial_fit(member.waves.of(X), y).class_scores(member.waves.of(X))
        )
        each.append(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(np.exp(model.class_scores(X)), np.mean(each, axis=0), rtol=1e-6, atol=1e-12)
    # On a scale as flat as the authors' the mean of the probabilities ranks as the mean of the scores.
    mean_of_scores = small(average="scores").partial_fit(X, y).class_scores(X)
    flat = np.mean([np.exp(np.log(p) * 1e-6) for p in each], axis=0)
    np.testing.assert_array_equal(mean_of_scores.argmax(axis=1), flat.argmax(axis=1))


def test_every_member_has_a_draw_of_its_own() -> None:
    X, y = draw()
    members = small().partial_fit(X, y)._members.members
    assert len({member.waves.seed for member in members}) == 3
    assert np.abs(members[0].waves.of(X) - members[1].waves.of(X)).max() > 0.1


def test_order_batches_and_merge_change_nothing() -> None:
    X, y = draw()
    expected = small().partial_fit(X, y).class_scores(X)
    shuffled = small()
    for row in np.random.default_rng(1).permutation(60):
        shuffled.partial_fit(X[row : row + 1], y[row : row + 1])
    shuffled.merge(small().partial_fit(X[60:], y[60:]))
    np.testing.assert_allclose(shuffled.class_scores(X), expected, rtol=1e-6, atol=1e-8)


def test_more_members_agree_with_each_other_more_than_single_draws_do() -> None:
    X, y = draw(900)
    held = np.arange(900) % 3 == 0

    def answers(n_members: int, seed: int) -> Any:
        model = small(n_members=n_members, n_projections=15, random_state=seed)
        return model.partial_fit(X[~held], y[~held]).predict(X[held])

    agreement = {n: np.mean([(answers(n, a) == answers(n, a + 1)).mean() for a in range(3)]) for n in (1, 12)}
    assert agreement[12] > agreement[1]


def test_merging_different_lifts_is_refused() -> None:
    X, y = draw()
    with pytest.raises(ValueError, match="different lifts"):
        small().partial_fit(X, y).merge(small(random_state=1).partial_fit(X, y))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_members": 0}, "n_members must be a whole number"),
        ({"average": "votes"}, "average must be one of"),
        ({"shrinkage": 0.0}, "shrinkage must be 'oas', or above 0"),
        ({"shrinkage": "none"}, "shrinkage must be 'oas', or above 0"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(**parameters).partial_fit(np.eye(2), [0, 1])
