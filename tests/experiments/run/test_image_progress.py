"""Progress of cells that take minutes: images a second, and time left."""

import io
import re
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from i2cansay.evaluate import play
from i2cansay.evaluate.progress import Moment
from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.run.image_progress import ImageProgress
from i2cansay.experiments.run.playing import play_cell
from i2cansay.experiments.run.shared_features import share_features
from i2cansay.learners import make_learner
from i2cansay.streams import make_stream


def test_a_learner_that_is_given_sessions_is_shown_too() -> None:
    """It learns nothing between the ends of sessions, and then all of one at once."""
    rng, y = np.random.default_rng(0), np.arange(400) % 8
    X = np.eye(8)[y] + 0.1 * rng.normal(size=(400, 8))
    seconds, pipe = count(0, 20), io.StringIO()
    shown = ImageProgress(
        Cell("cats", "eyes", "step:2", "dsdm_sessions"), file=pipe, clock=lambda: float(next(seconds))
    )
    stream = make_stream("step:2", y, batch_size=50, seed=0)
    play(make_learner("dsdm_sessions"), X, y, stream, X_test=X, y_test=y, progress=shown)
    title = "dsdm_sessions on cats, step:2, seed 0: "
    assert pipe.getvalue().splitlines() == [
        title + "150 images, 2.5 a second, 1:40 left",
        title + "250 images, 2.5 a second, 1:00 left",
        title + "350 images, 2.5 a second, 0:20 left",
    ]


def test_what_comes_before_a_bookmark_does_not_count() -> None:
    seconds, pipe = iter([0.0, 50.0]), io.StringIO()
    shown = ImageProgress(Cell("cats", "eyes", "step:2", "l2p"), file=pipe, clock=lambda: next(seconds))
    for batches, samples in ((61, 3050), (71, 3550)):
        shown(Moment(batches=batches, n_batches=101, samples=samples, accuracy=None))
    assert pipe.getvalue().endswith(": 3,550 images, 10 a second, 2:30 left\n")


@pytest.mark.torch
def test_a_cell_of_a_prompt_method_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    for split, n in (("train", 200), ("test", 20)):
        X = np.random.default_rng(0).random((n, 12), np.float32)
        np.savez(tmp_path / f"cats_eyes_{split}.npz", X=X, y=np.arange(n) % 4)
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path))
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("i2cansay.experiments.run.playing.image_parameters", lambda cell: {})
    monkeypatch.setattr("i2cansay.experiments.run.image_progress.SECONDS_BETWEEN_LINES", 1e-9)
    small = {"prompt_length": 2, "prefix_blocks": [0, 1]}
    cell = Cell("cats", "eyes", "step:2", "single_prompt", parameters=small, every_session=False)
    play_cell(cell, share_features(*cell.source))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3  # of the four batches, the first begins to count
    assert all(re.search(r"images, \d+(\.\d)? a second, \d+:\d\d left$", line) for line in lines)
