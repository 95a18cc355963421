"""Step partition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.streams.step import StepStream


@settings(deadline=None, max_examples=50)
@given(n_classes=st.integers(1, 12), step=st.integers(1, 12), seed=st.integers(0, 5))
def test_each_session_brings_its_own_classes_whole(n_classes: int, step: int, seed: int) -> None:
    step = min(step, n_classes)
    y = np.repeat(np.arange(n_classes), np.arange(1, n_classes + 1))
    stream = StepStream(y=y, classes_per_session=step, batch_size=4, seed=seed)
    sizes = []
    for session in range(stream.n_sessions):
        labels = y[np.concatenate([batch.rows for batch in stream if batch.session == session])]
        sizes.append(np.unique(labels).size)
        assert labels.size == sum(label + 1 for label in np.unique(labels))
    assert sizes[:-1] == [step] * (len(sizes) - 1)
    assert sum(sizes) == n_classes


def test_rows_of_a_session_are_mixed() -> None:
    y = np.repeat(np.arange(4), 100)
    first = next(iter(StepStream(y=y, classes_per_session=2)))
    assert np.unique(y[first.rows]).size == 2


def test_class_order_changes_with_the_seed() -> None:
    y = np.arange(30)
    orders = {
        tuple(int(batch.rows[0]) for batch in StepStream(y=y, classes_per_session=1, seed=seed))
        for seed in range(5)
    }
    assert len(orders) == 5


def test_epochs_repeat_a_session_in_fresh_orders_before_the_next() -> None:
    y = np.repeat(np.arange(4), 25)
    stream = StepStream(y=y, classes_per_session=2, epochs=3, batch_size=20)
    for session in (0, 1):
        rows = np.concatenate([batch.rows for batch in stream if batch.session == session])
        passes = rows.reshape(3, 50)
        assert all(sorted(one) == sorted(passes[0]) for one in passes)
        assert len({tuple(one) for one in passes}) == 3
    assert stream.n_samples == 300


def test_step_above_the_number_of_classes_is_refused() -> None:
    with pytest.raises(ValueError, match="from 1 to 2, the number of classes in the labels, got 3"):
        StepStream(y=np.array(["a", "b"]), classes_per_session=3)
