"""Logs of `play` as files: a table of checkpoints (CSV), or everything as JSON lines.

Every line is handed to the system before the play goes on, so that one that is killed leaves what it measured. Later
runs are appended. Runs that play at the same time need a file each.
"""

import csv
import io
import json
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import Any

from i2cansay.evaluate.metrics import summarise
from i2cansay.evaluate.outcome import Outcome
from i2cansay.evaluate.tracking import Measurement, RunFacts

OF_RUN = ("learner", "stream", "seed")
COLUMNS = (*OF_RUN, *(item.name for item in fields(Measurement)))


class CsvLog:
    """A row per checkpoint: learner, stream and seed, then the figures of `Measurement`; empty where not measured.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from i2cansay.evaluate.tracking import RunFacts
    >>> with TemporaryDirectory() as folder:
    ...     log = CsvLog(f"{folder}/runs.csv")
    ...     log.begin(RunFacts("NCM", {}, {"spec": "step:1", "seed": 0}, n_features=4, n_test=9))
    ...     log.checkpoint(Measurement(0, 50, 2, 0.75, None, 0.5, 0.25))
    ...     print(log.path.read_text())
    learner,stream,seed,session,samples,classes,accuracy,prequential_accuracy,learning_seconds,prediction_seconds
    NCM,step:1,0,0,50,2,0.75,,0.5,0.25
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._of_run: tuple[Any, ...] = ()

    def begin(self, facts: RunFacts, /) -> None:
        """Begin a table, or continue one with the same columns."""
        self._of_run = (facts.learner, facts.stream.get("spec"), facts.stream.get("seed"))
        header = _csv_line(COLUMNS)
        with self.path.open("a+", encoding="utf-8", newline="") as file:
            file.seek(0)
            found = file.readline()
            if not found:
                file.write(header)
            elif found.strip() != header.strip():
                raise ValueError(
                    f"expected {self.path} to be new or to begin with {header.strip()!r}, it begins with "
                    f"{found.strip()[:60]!r}; name another file"
                )

    def checkpoint(self, measurement: Measurement, /) -> None:
        """Append a row."""
        _append(self.path, _csv_line((*self._of_run, *asdict(measurement).values())))

    def end(self, outcome: Outcome, /) -> None:
        """Do nothing: the last checkpoint is the end."""


class JsonLinesLog:
    """An object per line: `begin` with the facts, a `checkpoint` for each, `end` with every metric and the outcome.

    `Outcome.from_dict(line["outcome"])` gives the outcome back.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     log = JsonLinesLog(f"{folder}/run.jsonl")
    ...     log.checkpoint(Measurement(0, 50, 2, 0.75, None, 0.5, 0.25))
    ...     json.loads(log.path.read_text())["accuracy"]
    0.75
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)

    def begin(self, facts: RunFacts, /) -> None:
        """Append the facts."""
        self._append("begin", asdict(facts))

    def checkpoint(self, measurement: Measurement, /) -> None:
        """Append the figures."""
        self._append("checkpoint", asdict(measurement))

    def end(self, outcome: Outcome, /) -> None:
        """Append every metric and the whole outcome."""
        self._append("end", {"metrics": summarise(outcome), "outcome": outcome.to_dict()})

    def _append(self, event: str, content: dict[str, Any]) -> None:
        _append(self.path, json.dumps({"event": event, **content}, ensure_ascii=False) + "\n")


def _csv_line(values: tuple[Any, ...]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def _append(path: Path, line: str) -> None:
    # Opened for each line: there is no file to close if the play is interrupted, and checkpoints are rare.
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(line)
