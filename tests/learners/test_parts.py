"""Parts of a learner: taught without being scored, and agreed on how they see features."""

from __future__ import annotations

import numpy as np
import pytest

from i2cansay.learners import make_learner
from i2cansay.learners.parts import absorb, begin_part, check_partable
from i2cansay.learners.shared.shared_i2cansay import SharedI2CANSAY

RNG = np.random.default_rng(0)
X = RNG.random((200, 6))
Y = np.arange(200) % 4


def part(**parameters: object) -> SharedI2CANSAY:
    return begin_part(SharedI2CANSAY(analogies=False, lift=0, random_state=0, **parameters), X[:10])  # type: ignore[arg-type]


def test_parts_that_looked_at_the_same_rows_agree_whatever_they_are_taught() -> None:
    below = X - 0.5
    parts = [
        absorb(part(), rows[half], Y[half]) for rows, half in ((X, slice(0, 100)), (below, slice(100, 200)))
    ]
    assert [each._features.rooted for each in parts] == [(True,), (True,)]
    assert parts[0].merge(parts[1]).class_counts_.sum() == 200
    apart = [
        SharedI2CANSAY(analogies=False, lift=0, random_state=0).partial_fit(rows, Y) for rows in (X, below)
    ]
    with pytest.raises(ValueError, match="square root"):
        apart[0].merge(apart[1])


def test_a_look_is_not_learnt_and_a_part_is_not_scored() -> None:
    begun = part()
    assert begun._n_seen == 0
    for start in range(0, 200, 10):
        absorb(begun, X[start : start + 10], Y[start : start + 10])
    assert begun._evidence.n_scored == 0
    assert begun._n_seen == begun.class_counts_.sum() == 200
    taught = SharedI2CANSAY(analogies=False, lift=0, random_state=0).partial_fit(X, Y)
    np.testing.assert_allclose(begun.class_scores(X), taught.class_scores(X), rtol=1e-9, atol=1e-9)


def test_bad_rows_change_nothing() -> None:
    begun = absorb(part(), X[:50], Y[:50])
    before = begun.state()
    with pytest.raises(ValueError, match="6"):
        absorb(begun, X[:, :4], Y)
    with pytest.raises(ValueError, match="labels"):
        absorb(begun, X, Y[:3])
    assert all(np.array_equal(array, before[name]) for name, array in begun.state().items())


@pytest.mark.parametrize("name", ["i2cansay", "er", "joint"])
def test_what_depends_on_order_or_cannot_be_merged_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be learnt in parts"):
        check_partable(make_learner(name))
