"""CoRe50's sessions."""

import numpy as np
import pytest

from i2cansay.streams.core50_sessions import Core50Stream

Y = np.repeat(np.arange(50), 20)


def classes_of_sessions(stream: Core50Stream) -> list[list[int]]:
    return [
        np.unique(
            np.concatenate([stream.y[batch.rows] for batch in stream if batch.session == session])
        ).tolist()
        for session in range(stream.n_sessions)
    ]


def test_nine_sessions_of_ten_then_five_classes() -> None:
    groups = classes_of_sessions(Core50Stream(y=Y))
    assert [len(group) for group in groups] == [10] + [5] * 8
    assert sorted(label for group in groups for label in group) == list(range(50))


def test_random_groups_differ_between_seeds() -> None:
    assert classes_of_sessions(Core50Stream(y=Y, seed=0)) != classes_of_sessions(Core50Stream(y=Y, seed=1))


def test_consecutive_groups_come_in_random_order() -> None:
    expected = [list(range(10)), *(list(range(start, start + 5)) for start in range(10, 50, 5))]
    orders = [classes_of_sessions(Core50Stream(y=Y, groups="consecutive", seed=seed)) for seed in range(6)]
    assert all(sorted(order) == expected for order in orders)
    assert len({str(order) for order in orders}) > 1
    assert len({[len(group) for group in order].index(10) for order in orders}) > 1


def test_batches_per_session_can_be_limited() -> None:
    stream = Core50Stream(y=Y, batch_size=30, max_batches=3)
    assert np.bincount([batch.session for batch in stream]).tolist() == [3] * 9
    rows = np.concatenate([batch.rows for batch in stream])
    assert np.unique(rows).size == rows.size == 9 * 90


@pytest.mark.parametrize("n_classes", [10, 49, 51])
def test_another_number_of_classes_is_refused(n_classes: int) -> None:
    with pytest.raises(ValueError, match=f"expects labels of 50 classes, got {n_classes}; use step:5"):
        Core50Stream(y=np.arange(n_classes))


def test_unknown_grouping_is_refused() -> None:
    with pytest.raises(ValueError, match="expected groups to be 'random' or 'consecutive', got 'sorted'"):
        Core50Stream(y=Y, groups="sorted")
