"""Gaussian schedule in one pass."""

import numpy as np
import pytest

from i2cansay.streams.gaussian import GaussianStream, peak_of_rows

N_CLASSES, PER_CLASS, BATCH = 10, 5000, 50
N_BATCHES = N_CLASSES * PER_CLASS // BATCH


def batch_of_each_row(stream: GaussianStream) -> np.ndarray:
    place = np.empty(stream.y.size)
    for position, batch in enumerate(stream):
        place[batch.rows] = position + 0.5
    return place


def test_classes_peak_at_equal_distances_with_the_width_of_the_original() -> None:
    # 10 classes in 1000 batches: peaks every 100 batches from 50 on, sigma of 50 batches.
    y = np.repeat(np.arange(N_CLASSES), PER_CLASS)
    place = batch_of_each_row(GaussianStream(y=y, seed=1))
    centres = np.array([place[y == label].mean() for label in range(N_CLASSES)])
    spreads = np.array([place[y == label].std() for label in range(N_CLASSES)])
    order = np.argsort(centres)
    # The first and the last two are squeezed: what would fall outside the stream comes inside.
    assert np.allclose(centres[order][2:-2], np.arange(250, 800, 100), atol=6)
    assert np.allclose(spreads[order][2:-2], N_BATCHES / (2 * N_CLASSES), rtol=0.06)


@pytest.mark.parametrize("width", [0.1, 1.0])
def test_width_is_in_units_of_the_distance_between_peaks(width: float) -> None:
    y = np.repeat(np.arange(N_CLASSES), PER_CLASS)
    place = batch_of_each_row(GaussianStream(y=y, width=width))
    time = place / N_BATCHES
    spreads = sorted(time[y == label].std() for label in range(N_CLASSES))
    if width < 0.5:  # classes hardly meet: each fills its own tenth evenly
        assert np.allclose(spreads, 0.1 / np.sqrt(12), rtol=0.2)
    else:  # the inner classes keep their width
        assert np.allclose(spreads[-2:], width / N_CLASSES, rtol=0.1)


def test_class_order_is_random() -> None:
    y = np.repeat(np.arange(6), 200)
    orders = set()
    for seed in range(5):
        place = batch_of_each_row(GaussianStream(y=y, seed=seed))
        orders.add(tuple(np.argsort([place[y == label].mean() for label in range(6)]).tolist()))
    assert len(orders) == 5


def test_peaks_follow_the_given_order_of_the_classes() -> None:
    classes = np.array(["owl", "cat", "dog", "bee"])
    peaks = peak_of_rows(np.array(["bee", "owl", "dog", "cat", "owl"]), classes)
    assert peaks.tolist() == [0.875, 0.125, 0.625, 0.375, 0.125]


def test_neighbours_overlap_and_distant_classes_do_not_meet() -> None:
    y = np.repeat(np.arange(N_CLASSES), 500)
    stream = GaussianStream(y=y)
    per_batch = [np.unique(y[batch.rows]).size for batch in stream]
    assert 2 <= np.mean(per_batch) <= 6
