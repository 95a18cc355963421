"""The Gaussian schedule to the letter."""

import numpy as np
import pytest

from i2cansay.streams.gaussian_schedule import GaussianScheduleStream, draw_classes


def test_draw_is_the_one_of_drawing_again_while_no_class_takes_part() -> None:
    distance, sigma = np.array([60.0, 100.0, 80.0]), 50.0
    probability = np.exp(-0.5 * (distance / sigma) ** 2)
    rng = np.random.default_rng(0)
    drawn = np.array([draw_classes(distance, sigma, rng) for _ in range(20_000)])
    some = rng.random((400_000, 3)) < probability
    some = some[some.any(axis=1)]
    patterns = np.array([1, 2, 4])
    got = np.bincount(drawn @ patterns, minlength=8) / len(drawn)
    expected = np.bincount(some @ patterns, minlength=8) / len(some)
    assert got[0] == 0
    assert np.abs(got - expected).max() < 0.02


@pytest.mark.parametrize("sigma", [1e-6, 1e-2])
def test_the_nearest_class_takes_part_where_all_probabilities_vanish(sigma: float) -> None:
    assert draw_classes(np.array([9.0, 4.0, 7.0]), sigma, np.random.default_rng(0)).tolist() == [
        False,
        True,
        False,
    ]


def test_classes_come_around_their_peaks() -> None:
    y = np.repeat(np.arange(10), 500)
    stream = GaussianScheduleStream(y=y, batches=1000, batch_size=10)
    seen_at: dict[int, list[int]] = {label: [] for label in range(10)}
    for position, batch in enumerate(stream):
        for label in np.unique(y[batch.rows]):
            seen_at[int(label)].append(position)
    centres = np.sort([np.mean(places) for places in seen_at.values()])
    assert np.allclose(centres[1:-1], np.arange(150, 900, 100), atol=25)
    inner = sorted(seen_at.values(), key=np.mean)[1:-1]
    assert np.mean([np.std(places) for places in inner]) == pytest.approx(50, rel=0.15)


def test_classes_stay_the_same_for_an_episode() -> None:
    y = np.repeat(np.arange(5), 400)
    batches = list(GaussianScheduleStream(y=y, episode=4, batch_size=100, batches=18))
    assert len(batches) == 18
    for start in range(0, 18, 4):
        kinds = {tuple(np.unique(y[batch.rows])) for batch in batches[start : start + 4]}
        assert len(kinds) == 1


def test_an_episode_draws_no_row_twice_while_there_are_others() -> None:
    y = np.repeat(np.arange(3), 1000)
    batches = list(GaussianScheduleStream(y=y, episode=5, batch_size=50))
    for start in range(0, len(batches), 5):
        rows = np.concatenate([batch.rows for batch in batches[start : start + 5]])
        assert np.unique(rows).size == rows.size


def test_short_classes_are_repeated_to_fill_the_batches() -> None:
    stream = GaussianScheduleStream(y=np.array([0, 0, 1]), batch_size=8, batches=4)
    assert [batch.rows.size for batch in stream] == [8, 8, 8, 8]


def test_length_is_that_of_one_pass_by_default() -> None:
    assert len(GaussianScheduleStream(y=np.repeat([0, 1], 100), batch_size=30)) == 6
    assert len(GaussianScheduleStream(y=np.repeat([0, 1], 3), batch_size=30)) == 1
