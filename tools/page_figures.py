"""Figures in the sentences of pages, taken from records.

A figure is followed by its place, in a comment that no reader of the page sees:

    73.7%<!-- figure: stages_best / CIFAR-100 30% -->          row and column of the table of methods
    78.2<!-- figure: table3: eeil / CIFAR-100 step 5 -->        the same of another table
    7.2<!-- figure: table3: eeil - icarl-linear / CIFAR-100 step 5 -->   one row minus another, paired by seed
    1.8<!-- figure: stages_best - joint / least of CIFAR-10; CIFAR-100 -->   the least, or the most, of columns
    2.0<!-- figure: table3: eeil / CIFAR-100 step 5 ± -->       the deviation over seeds, also of ROW - ROW
    76 MB<!-- figure: stages_best / CIFAR-100 MB -->            the size of the saved state
    91.4<!-- figure: encoders / NAME, cifar10 / best -->        a value of a study's run: study / run / value
    1.7<!-- figure: encoders / NAME, cifar10 / best - NCM -->   one value of the run minus another

`figure_sources.py` finds figures without a place.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from i2cansay.experiments.report.plan_models import paired_records
from i2cansay.experiments.report.publication import METHODS_TABLE
from i2cansay.experiments.report.study_tables import StudyRuns
from i2cansay.experiments.run.metric import metric_of
from i2cansay.experiments.run.plan import Entry, Plan
from i2cansay.experiments.run.seed_statistics import Spread, spread

FIGURE = re.compile(r"-?\d+(?:\.\d+)?((?:%| MB)?<!-- figure: (.+?) -->)")
PLACE = re.compile(
    r"(?:(?P<table>[^/:]+): )?(?P<row>[^/]+?)(?: - (?P<other>[^/]+))? / "
    r"(?:(?P<extreme>least|most) of )?(?P<columns>[^/]+?)(?P<unit> ±| MB)?"
)


@dataclass(frozen=True)
class Figures:
    """Where figures come from: tables by name, and the runs of studies."""

    plans: Mapping[str, Plan]
    runs: StudyRuns

    def fill(self, text: str) -> str:
        """Return a text with its figures as the records have them."""
        return FIGURE.sub(lambda found: self.find(found[2]) + found[1], text)

    def find(self, place: str) -> str:
        """Return the figure of a place."""
        if place.count(" / ") == 2:
            return self._of_study(*place.split(" / "))
        found = PLACE.fullmatch(place)
        if found is None or _is_mixed(found):
            raise ValueError(
                "expected [TABLE: ]ROW[ - ROW] / COLUMN, / least of COLUMN; COLUMN or / most of COLUMN; COLUMN, "
                f"[TABLE: ]ROW[ - ROW] / COLUMN ± or MB, or STUDY / RUN / VALUE[ - VALUE], got {place!r}"
            )
        plan = self.plans.get(found["table"] or METHODS_TABLE)
        if plan is None:
            raise ValueError(f"{place}: there is no such table; there are {', '.join(self.plans)}")
        if found["unit"] == " MB":
            return f"{_entry(plan, found['row'], found['columns']).records[0].state_bytes / 1e6:.0f}"
        if found["unit"]:
            return f"{_spread(plan, found['row'], found['other'], found['columns']).std:.1f}"
        columns = found["columns"].split("; ") if found["extreme"] else [found["columns"]]
        values = [_spread(plan, found["row"], found["other"], column).mean for column in columns]
        return f"{min(values) if found['extreme'] == 'least' else max(values):.1f}"

    def _of_study(self, table: str, run: str, value: str) -> str:
        played = [each for (*key, _), each in self.runs.items() if key == [table, run]]
        # The name of a value may have a minus of its own: "1 - highest probability".
        whole = any(value in each for each in played)
        first, _, other = (value, "", "") if whole else value.partition(" - ")
        found = [
            each[first] - (each[other] if other else 0.0)
            for each in played
            if first in each and (not other or other in each)
        ]
        if not found:
            raise ValueError(f"{table} / {run} / {value}: not played")
        return f"{sum(found) / len(found):.1f}"


def _is_mixed(place: re.Match[str]) -> bool:
    """Whether a place asks for what has no meaning: the size of a difference, the deviation of an extreme."""
    return bool(place["unit"] and (place["extreme"] or (place["other"] and place["unit"] == " MB")))


def _spread(plan: Plan, row: str, other: str | None, column: str) -> Spread:
    """Return mean and deviation of a row in a column, or of its differences from another one, seed by seed."""
    mine = _entry(plan, row, column)
    metric = metric_of(mine.column.metric)
    if other is None:
        return spread(map(metric, mine.records))
    pairs = paired_records(mine, _entry(plan, other, column))
    if not pairs:
        raise ValueError(f"{plan.table.name}: {row} and {other} / {column} have no seed in common")
    return spread(metric(first) - metric(second) for first, second in pairs)


def _entry(plan: Plan, row: str, column: str) -> Entry:
    entries = [
        entry
        for each in plan.rows
        if each.declared.name == row
        for entry in each.entries
        if entry.column.name == column
    ]
    if len(entries) != 1:
        raise ValueError(f"{plan.table.name} has {len(entries)} places {row} / {column}, not one")
    if not entries[0].records:
        raise ValueError(f"{plan.table.name}: {row} / {column} is not played")
    return entries[0]
