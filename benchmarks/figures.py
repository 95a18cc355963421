"""Runs of studies that are kept: a line of JSON each, so that a study can be finished later.

The tables are declared in `declared/studies.toml` of `i2cansay.experiments` and made from these lines by
`make docs`.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from i2cansay.experiments.report.study_tables import Values, load_study_runs
from i2cansay.experiments.run.playing import commit


class Run(NamedTuple):
    """A run of a study: its table, its name there, and what measures its values for a seed."""

    table: str
    name: str
    measure: Callable[[int], Values]


def play(run: Run, seeds: int, path: Path, *, first: int = 0) -> None:
    """Measure the seeds of a run, from `first` on, that are not in the file yet, and add them.

    A line says which commit it was measured with. Where the code has changed since in a way that matters, delete the
    line, and it is measured again.
    """
    known = load_study_runs([path] if path.exists() else [])
    for seed in range(first, seeds):
        if (run.table, run.name, seed) not in known:
            values = dict(run.measure(seed))
            line = {"table": run.table, "run": run.name, "seed": seed, "values": values, "commit": commit()}
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(json.dumps(line), flush=True)
