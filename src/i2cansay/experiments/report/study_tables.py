"""Tables of studies that are not streams through one learner: declared, and made from stored runs.

A run of a study is one line of JSON: table, run, seed, named values, commit.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from i2cansay.experiments.report.table_model import TableModel, table_of
from i2cansay.experiments.run.seed_statistics import spread

Values = Mapping[str, float]
#: Values by table, run and seed.
StudyRuns = Mapping[tuple[str, str, int], Values]


@dataclass(frozen=True)
class StudyColumn:
    """A heading, the run that is shown below it, and which of its values, unless the values are the rows.

    `seeds` is given where a column has other than its table.
    """

    head: str
    run: str
    value: str = ""
    seeds: int | None = None


@dataclass(frozen=True)
class StudyTable:
    """A declared table of a study.

    With `rows`, an entry is a value of the run "ROW, RUN OF THE COLUMN". Without, the values of the
    columns' runs are the rows. With `minus`, the value of that name is shown as it is, and all others less that one,
    seed by seed.
    """

    name: str
    table: str
    title: str
    seeds: int
    digits: int
    columns: tuple[StudyColumn, ...]
    rows: tuple[str, ...] = ()
    minus: str = ""

    def model(self, runs: StudyRuns) -> TableModel:
        """Return the table with the numbers of all stored runs."""
        if self.rows:
            rows = [
                (row, *(self._place(runs, each, f"{row}, {each.run}", each.value) for each in self.columns))
                for row in self.rows
            ]
        else:
            names = dict.fromkeys(name for key in self._keys() for name in runs.get(key, {}))
            rows = [
                (name, *(self._place(runs, each, each.run, name) for each in self.columns)) for name in names
            ]
        return table_of(("", *(each.head for each in self.columns)), rows, title=self.title)

    def _keys(self) -> Iterable[tuple[str, str, int]]:
        return ((self.table, each.run, seed) for each in self.columns for seed in range(self.seeds))

    def _place(self, runs: StudyRuns, column: StudyColumn, run: str, value: str) -> str:
        """Return mean and standard deviation of one value, and the number of runs if some are missing."""
        seeds = self.seeds if column.seeds is None else column.seeds
        found = [runs.get((self.table, run, seed), {}) for seed in range(seeds)]
        compared = bool(self.minus) and value != self.minus
        known = [
            values[value] - (values[self.minus] if compared else 0.0) for values in found if value in values
        ]
        if not known:
            return "-"
        over = spread(known)
        text = f"{over.mean:{'+' if compared else ''}.{self.digits}f}"
        text += f" ± {over.std:.{self.digits}f}" if over.n > 1 else ""
        return text if len(known) == seeds else f"{text} ({len(known)} of {seeds})"


@cache
def load_studies() -> tuple[StudyTable, ...]:
    """Read the declared tables of all studies.

    >>> [study.title for study in load_studies() if study.name == "drift"][0][:21]
    'Drift: CIFAR-100 10%,'
    """
    text = files("i2cansay.experiments").joinpath("declared", "studies.toml").read_text(encoding="utf-8")
    return tuple(
        StudyTable(
            **{
                **study,
                "columns": tuple(StudyColumn(**column) for column in study["columns"]),
                "rows": tuple(study.get("rows", ())),
            }
        )
        for study in tomllib.loads(text)["study"]
    )


def load_study_runs(paths: Sequence[Path]) -> StudyRuns:
    """Read the runs of studies from JSON-lines files."""
    lines = (line for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    runs = map(json.loads, lines)
    return {(run["table"], run["run"], run["seed"]): run["values"] for run in runs}
