"""All rows in random order."""

import numpy as np

from i2cansay.streams.iid import IidStream


def test_every_stretch_holds_about_the_same_share_of_every_class() -> None:
    y = np.repeat(np.arange(4), 1000)
    stream = IidStream(y=y, points=4)
    for session in range(4):
        labels = y[np.concatenate([batch.rows for batch in stream if batch.session == session])]
        assert np.abs(np.bincount(labels) / labels.size - 0.25).max() < 0.05


def test_marks_are_not_called_sessions() -> None:
    stream = IidStream(y=np.zeros(500))
    assert not stream.has_sessions
    assert stream.n_sessions == 10


def test_there_are_no_more_points_than_batches() -> None:
    assert IidStream(y=np.zeros(70), batch_size=50, points=10).n_sessions == 2
