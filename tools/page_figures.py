"""Figures in the sentences of pages, taken from records.

A figure is followed by its place, in a comment that no reader of the page sees:

    73.7%<!-- figure: stages_best / CIFAR-100 30% -->          row and column of the table of methods
    78.2<!-- figure: table3: eeil / CIFAR-100 step 5 -->        the same of another table
    7.2<!-- figure: table3: eeil - icarl-linear / CIFAR-100 step 5 -->   the mean of one row minus that of another
    2.0<!-- figure: table3: eeil / CIFAR-100 step 5 ± -->       the deviation over seeds
    91.4<!-- figure: encoders / NAME, cifar10 / best -->        a value of a study's run: study / run / value
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from i2cansay.experiments.report.publication import METHODS_TABLE
from i2cansay.experiments.report.study_tables import StudyRuns
from i2cansay.experiments.run.plan import Plan
from i2cansay.experiments.run.seed_statistics import Spread

FIGURE = re.compile(r"-?\d+\.\d+(%?<!-- figure: (.+?) -->)")
PLACE = re.compile(
    r"(?:(?P<table>[^/:]+): )?(?P<row>[^/]+?)(?: - (?P<other>[^/]+))? / (?P<column>[^/]+?)(?P<pm> ±)?"
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
        if found is None:
            raise ValueError(
                f"expected [TABLE: ]ROW[ - ROW] / COLUMN[ ±] or STUDY / RUN / VALUE, got {place!r}"
            )
        plan = self.plans.get(found["table"] or METHODS_TABLE)
        if plan is None:
            raise ValueError(f"{place}: there is no such table; there are {', '.join(self.plans)}")
        shown = _shown(plan, found["row"], found["column"])
        if found["pm"]:
            return f"{shown.std:.1f}"
        return f"{shown.mean - (_shown(plan, found['other'], found['column']).mean if found['other'] else 0):.1f}"

    def _of_study(self, table: str, run: str, value: str) -> str:
        found = [
            each[value] for (*key, _), each in self.runs.items() if key == [table, run] and value in each
        ]
        if not found:
            raise ValueError(f"{table} / {run} / {value}: not played")
        return f"{sum(found) / len(found):.1f}"


def _shown(plan: Plan, row: str, column: str) -> Spread:
    entries = [
        entry
        for each in plan.rows
        if each.declared.name == row
        for entry in each.entries
        if entry.column.name == column
    ]
    if len(entries) != 1:
        raise ValueError(f"{plan.table.name} has {len(entries)} places {row} / {column}, not one")
    if entries[0].ours is None:
        raise ValueError(f"{plan.table.name}: {row} / {column} is not played")
    return entries[0].ours
