"""A prompt method that is killed between two batches goes on as if it had not been."""

from dataclasses import replace
from pathlib import Path

import pytest

from i2cansay.evaluate import Outcome, play
from i2cansay.evaluate.bookmark import Bookmark
from i2cansay.evaluate.progress import Moment
from i2cansay.streams import make_stream
from tests.learners.prompts.test_prompt_methods import images, made

pytest.importorskip("torch")
pytestmark = pytest.mark.torch


class Killed(Exception):
    pass


class KillAfter:
    """In place of a progress bar: kills a run after so many samples."""

    def __init__(self, samples: int) -> None:
        self.samples = samples

    def __call__(self, moment: Moment) -> None:
        if moment.samples >= self.samples:
            raise Killed


def played(name: str, bookmark: Bookmark | None, kill_after: int = 1000) -> Outcome:
    X, y = images(120)
    X_test, y_test = images(30, seed=1)
    learner = made(name, memory_size=15, n_replayed=5, **({"epochs": 2} if "sessions" in name else {}))
    stream = make_stream("step:1", y, batch_size=10, seed=0)
    return play(
        learner, X, y, stream, X_test=X_test, y_test=y_test, progress=KillAfter(kill_after), bookmark=bookmark
    )


@pytest.mark.parametrize("name", ["single_prompt", "dualprompt", "l2p_sessions", "coda_sessions"])
def test_a_killed_run_ends_as_if_it_had_not_been(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bookmark"
    with pytest.raises(Killed):
        played(name, Bookmark(path, {"seed": 0}, seconds=0), kill_after=60)
    assert path.exists()
    resumed = played(name, Bookmark(path, {"seed": 0}, seconds=0))
    whole = played(name, None)
    same = replace(
        resumed, learning_seconds=whole.learning_seconds, prediction_seconds=whole.prediction_seconds
    )
    assert same == whole
