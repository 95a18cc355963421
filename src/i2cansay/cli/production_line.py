"""Images that arrive in a folder, answered one by one, and what becomes of them."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from i2cansay.cli.answered_files import AnsweredFiles
from i2cansay.cli.arrivals import Arrivals, Version
from i2cansay.cli.model import open_image_model, stamp_of
from i2cansay.cli.predict import answer_record

if TYPE_CHECKING:
    from i2cansay.image_learner import Answer, ImageLearner

# Images that are encoded together; a stop or the next line of output waits for no more than these.
TOGETHER = 16


class CurrentModel:
    """The model as it is now: read again when its file has changed."""

    def __init__(self, path: Path, *, own: str | None, encoder: str | None, threads: int | None) -> None:
        self._path, self._own, self._stamp = path, own, stamp_of(path)
        self._model = open_image_model(path, own=own, encoder=encoder, threads=threads)

    def now(self) -> ImageLearner:
        """Return the model; where its new file cannot be read, the one that was there, and say so."""
        stamp = stamp_of(self._path)
        if stamp not in (None, self._stamp):
            from i2cansay.image_learner import ImageLearner

            self._stamp = stamp
            try:
                self._model = ImageLearner.load(
                    self._path, encoder=self._model.encoder, learner=type(self._model.learner)
                )
                typer.echo(f"{self._path} has changed and was read again", err=True)
            except (ValueError, OSError) as error:
                typer.echo(f"{self._path} has changed, and the model before it answers on: {error}", err=True)
        return self._model


@dataclass
class ProductionLine:
    """The images that arrive, and what becomes of them."""

    folder: Path
    model: CurrentModel
    arrivals: Arrivals
    answered: AnsweredFiles
    move_to: Path | None
    top: int
    error: float
    new_error: float
    done: int = 0
    unreadable: int = 0

    def work(self, stop: threading.Event) -> None:
        """Answer everything that is whole, unless told to stop on the way."""
        whole = self.arrivals.look(self.answered)
        for start in range(0, len(whole), TOGETHER):
            if stop.is_set():
                return
            self._answer(whole[start : start + TOGETHER])

    def _answer(self, files: list[tuple[str, Version]]) -> None:
        paths = [self.folder / name for name, _ in files]
        answers = self.model.now().answer(paths, self.top, error=self.error, new_error=self.new_error)
        for (name, version), answer in zip(files, answers, strict=True):
            # A file that was written to meanwhile is not one whole file; it is looked at again.
            if self.arrivals.unchanged(name, version):
                self._finish(name, version, answer)
        sys.stdout.flush()
        # After the lines: a crash in between repeats answers, and loses none.
        self.answered.save(self.arrivals.names())

    def _finish(self, name: str, version: Version, answer: Answer) -> None:
        record = answer_record(name, answer)
        if self.move_to is not None:
            record["moved_to"] = str(_moved(self.folder / name, self.move_to / answer.verdict / name))
        else:
            self.answered[name] = version
        self.done += 1
        self.unreadable += bool(answer.reason)
        print(json.dumps(record))


def _moved(path: Path, target: Path) -> Path:
    """Move a file, to a name with a number where the name is taken; return where it is now."""
    target.parent.mkdir(parents=True, exist_ok=True)
    free, number = target, 2
    while free.exists():
        free, number = target.with_name(f"{target.stem}-{number}{target.suffix}"), number + 1
    shutil.move(path, free)
    return free


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C and SIGTERM set; the second one stops at once, as usual."""
    stop, usual = threading.Event(), dict[int, object]()

    def ask(number: int, frame: object) -> None:
        stop.set()
        restore()

    def restore() -> None:
        for number, handler in usual.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    for number in (signal.SIGINT, signal.SIGTERM):
        usual[number] = signal.signal(number, ask)
    try:
        yield stop
    finally:
        restore()
