"""When a ridge is chosen, how long it is held, and what of it is saved."""

import numpy as np
import pytest

from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.learners.shared import held_ridge
from i2cansay.learners.shared.held_ridge import GROWTH, HELD_FROM_WIDTH, SMALL_LESSON, HeldRidge

WIDE = HELD_FROM_WIDTH


class Stream:
    """Teaches a scatter and a ridge beside it, and counts how often the shrinkage was asked for."""

    def __init__(self, width: int = WIDE) -> None:
        self.scatter, self.held, self.chosen = SharedScatter(width), HeldRidge(1), 0
        self.scatter.resize(2)
        self._rng = np.random.default_rng(0)

    def teach(self, n: int) -> bool:
        """Teach a lesson of `n` samples; return whether the ridge stayed."""
        X = self._rng.standard_normal((n, self.scatter.matrix.size))
        self.scatter.add(X, self._rng.integers(0, 2, n))
        return self.held.learn(self.scatter, n, self._shrinkage)

    def _shrinkage(self) -> float:
        self.chosen += 1
        return 0.1


def test_a_small_lesson_chooses_it_and_the_following_keep_it() -> None:
    stream = Stream()
    stream.teach(WIDE)
    assert stream.held.ridge is None
    assert not stream.teach(SMALL_LESSON)
    ridge = stream.held.ridge
    assert ridge is not None
    assert stream.teach(1)
    assert stream.teach(SMALL_LESSON + 1)  # a large one drops nothing
    np.testing.assert_array_equal(stream.held.ridge, ridge)
    assert stream.chosen == 1


def test_a_stream_in_batches_never_chooses_one() -> None:
    stream = Stream()
    for _ in range(20):
        stream.teach(SMALL_LESSON + 1)
    assert stream.held.ridge is None
    assert stream.chosen == 0


def test_choices_grow_with_the_logarithm_of_the_samples() -> None:
    stream, times = Stream(), 4
    stream.teach(WIDE)
    for _ in range((times - 1) * WIDE):
        stream.teach(1)
    assert 1 < stream.chosen <= 2 + np.log(times) / np.log(1 + GROWTH)


def test_large_and_small_lessons_in_turn_choose_no_more_often() -> None:
    stream = Stream()
    stream.teach(2 * WIDE)
    for _ in range(8):
        stream.teach(1)
        stream.teach(SMALL_LESSON + 1)
    assert stream.chosen == 1


def test_none_is_held_for_few_samples_narrow_features_or_very_many_classes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = Stream()
    few.teach(WIDE // 4 - 1)
    few.teach(1)
    assert few.held.ridge is None
    few.teach(1)
    assert few.held.ridge is not None
    narrow = Stream(WIDE - 1)
    narrow.teach(WIDE)
    narrow.teach(1)
    assert narrow.held.ridge is None
    monkeypatch.setattr(held_ridge, "MOST_JUDGED", 1)
    many = Stream()
    many.teach(WIDE)
    many.teach(1)
    assert many.held.ridge is None
    assert narrow.chosen == many.chosen == 0


def test_what_is_saved_is_held_again() -> None:
    stream = Stream()
    assert stream.held.state() == {}
    stream.teach(WIDE)
    stream.teach(1)
    saved = stream.held.state()
    assert saved["ridge"].shape == (2,)
    other = HeldRidge(1)
    other.restore(saved)
    np.testing.assert_array_equal(other.ridge, stream.held.ridge)
    assert other.state()["ridge"].tolist() == saved["ridge"].tolist()
    other.restore({})
    assert other.ridge is None


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        ([1.0], "1 numbers"),
        ([1.0, 2.0, 3.0], "1 numbers"),
        ([-1.0, 2.0], "the ridge should lie"),
        ([np.nan, 2.0], "the ridge should lie"),
        ([1.0, -2.0], "the count until which"),
        ([0.0, 2.0], "above zero"),
    ],
)
def test_a_damaged_one_is_refused(damaged: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HeldRidge(1).restore({"ridge": np.array(damaged)})


def test_it_is_let_go_with_more_classes_than_products_are_kept_of(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream()
    stream.teach(WIDE)
    stream.teach(SMALL_LESSON)
    assert stream.held.ridge is not None
    monkeypatch.setattr(held_ridge, "MOST_JUDGED", 1)  # fewer than the two classes there are
    assert not stream.teach(1)
    assert stream.held.ridge is None
