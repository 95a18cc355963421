"""A stream that was killed goes on from its bookmark, with the outcome it would have had."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from i2cansay.evaluate import play
from i2cansay.evaluate.bookmark import Bookmark
from i2cansay.evaluate.progress import Moment
from i2cansay.learners import make_learner
from i2cansay.streams import make_stream

X, y = load_digits(return_X_y=True)
X = (X / 16).astype(np.float32)


class Killed(Exception):
    """Stands for a kill: nothing after it runs."""


def played(name: str, stream: str, bookmark: Bookmark | None, kill_at: int | None = None) -> Any:
    def progress(moment: Moment) -> None:
        if moment.batches == kill_at:
            raise Killed

    parameters: dict[str, Any] = {"epochs": 2, "hidden": 8} if name == "ewc" else {}
    learner = make_learner(name, random_state=0, **parameters)
    order = make_stream(stream, y[:1000], seed=0)
    return play(
        learner,
        X[:1000],
        y[:1000],
        order,
        X_test=X[1000:],
        y_test=y[1000:],
        progress=progress,
        bookmark=bookmark,
    )


@pytest.mark.parametrize(("name", "stream"), [("i2cansay", "step:2"), ("er", "gaussian"), ("ewc", "step:5")])
@pytest.mark.parametrize("kill_at", [1, 9, 17])
def test_a_killed_stream_ends_as_if_it_had_not_been(
    name: str, stream: str, kill_at: int, tmp_path: Path
) -> None:
    whole = played(name, stream, None)
    path = tmp_path / "folder" / "bookmark"
    with pytest.raises(Killed):
        played(name, stream, Bookmark(path, {"seed": 0}, seconds=0), kill_at)
    resumed = played(name, stream, Bookmark(path, {"seed": 0}, seconds=0))
    times = {"learning_seconds": 0.0, "prediction_seconds": 0.0}
    assert replace(resumed, **times) == replace(whole, **times)
    assert not path.exists()


def test_a_bookmark_saves_the_batches_before_it(tmp_path: Path) -> None:
    path = tmp_path / "bookmark"
    with pytest.raises(Killed):
        played("i2cansay", "step:2", Bookmark(path, {}, seconds=0), kill_at=12)
    place = Bookmark(path, {}).read()
    assert place is not None
    assert place.values["position"] == 11


def test_a_bookmark_of_something_else_is_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "bookmark"
    with pytest.raises(Killed):
        played("i2cansay", "step:2", Bookmark(path, {"commit": "a"}, seconds=0), kill_at=12)
    assert Bookmark(path, {"commit": "b"}).read() is None
    path.write_bytes(path.read_bytes()[:100])
    assert Bookmark(path, {"commit": "a"}).read() is None


def test_it_is_written_only_now_and_then(tmp_path: Path) -> None:
    now = [0.0]
    bookmark = Bookmark(tmp_path / "bookmark", {}, seconds=60, clock=lambda: now[0])
    assert not bookmark.due
    now[0] = 61.0
    assert bookmark.due
