"""Claims checked on our records: each is taken apart into differences that are paired by seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from i2cansay.experiments.claims.checked_claim import CheckedClaim, Comparison, Run, within
from i2cansay.experiments.claims.finding import OURS, PRINTED
from i2cansay.experiments.declare.relation import Relation
from i2cansay.experiments.run.paired_difference import Difference, paired_difference
from i2cansay.experiments.run.plan import Entry, Plan, TableRow

# Below this share of changed predictions a comparison is vacuous: what is varied decides nothing.
VACUOUS_BELOW = 0.001
# Below this share a comparison is flagged with it.
FLAGGED_BELOW = 0.02


class NotTestable(Exception):
    """There are no records to test a claim with; the message names what is missing and why."""

    def __init__(self, subject: str, reason: str) -> None:
        self.subject, self.reason = subject, reason
        super().__init__(f"{subject}: {reason}")


@dataclass
class _Claim:
    """A relation, the filled table it is about, the variant of the rule it is checked for, and what is missing."""

    relation: Relation
    measured: Plan
    variant: str | None
    missing: dict[str, dict[str, None]] = field(default_factory=dict)

    def row_name(self, name: str) -> str:
        """Return the row's variant where it has one, else the row itself."""
        other = f"{name}:{self.variant}"
        return other if any(row.declared.name == other for row in self.block()) else name

    def block(self) -> list[TableRow]:
        """Return the rows of the backbone that the claim is about."""
        wanted = self.relation.backbone
        return [row for row in self.measured.rows if wanted in (None, row.backbone)]

    def entry(self, row: str, column: str) -> Entry:
        """Return a place of the table that has records of what the claim is about."""
        place = [each.name for each in self.measured.columns].index(column)
        for measured in self.block():
            if measured.declared.name == self.row_name(row):
                entry = measured.entries[place]
                if entry.ours is None:
                    raise NotTestable(measured.declared.title, entry.why_empty)
                if entry.is_stand_in and not self.relation.ours:
                    played = self.measured.heading(entry.column)
                    raise NotTestable(column, f"not played; {played} is other data and says nothing about it")
                if self.relation.stand_in and not entry.is_stand_in:
                    raise NotTestable(f"the stand-in for {column}", "not played")
                return entry
        raise NotTestable(row, "not in the table")

    def columns(self) -> list[str]:
        return [column.name for column in self.relation.chosen_columns()]

    def heading(self, column: str) -> str:
        """Return what a column is called here: a stand-in has its own name."""
        chosen = next(each for each in self.measured.columns if each.name == column)
        return self.measured.heading(chosen)

    def compare(
        self, name: str, first: tuple[str, str], second: tuple[str, str], *, above: float = 0.0
    ) -> list[Comparison]:
        """Return "the first place minus the second is above a bound"; nothing, and a note, if a place is missing."""
        return [
            Comparison(name, difference, planned, above, waiting)
            for difference, planned, waiting in self._differences(first, second)
        ]

    def same(self, row: str, first: str, second: str) -> list[Comparison]:
        """Return "the two columns of a row differ by less than the tolerance", as two comparisons."""
        margin = self.relation.tolerance
        return [
            each
            for difference, planned, waiting in self._differences((row, first), (row, second))
            for each in within(first, second, difference, planned, margin, waiting=waiting)
        ]

    def _differences(
        self, first: tuple[str, str], second: tuple[str, str]
    ) -> Iterator[tuple[Difference, int, Mapping[Run, float]]]:
        try:
            a, b = self.entry(*first), self.entry(*second)
            if not {record.seed for record in a.records} & {record.seed for record in b.records}:
                raise NotTestable(f"{first[0]} and {second[0]}", "no seed in common")
        except NotTestable as lack:
            self.missing.setdefault(lack.reason, {})[lack.subject] = None
            return
        planned = set(a.seeds) & set(b.seeds)
        waiting = _waiting(first, a, planned) | _waiting(second, b, planned)
        yield paired_difference(a.records, b.records, a.column.metric), len(planned), waiting


def _waiting(place: tuple[str, str], entry: Entry, planned: set[int]) -> dict[Run, float]:
    """Return the runs of a place that are still to be played, each with the mean seconds of those that are."""
    seconds = sum(record.seconds for record in entry.records) / len(entry.records)
    left = planned - {record.seed for record in entry.records}
    return {(*place, seed): seconds for seed in sorted(left)}


def check_claim(relation: Relation, measured: Plan, *, encoder: str) -> list[CheckedClaim]:
    """Return what our records say about a claim, for the printed rule and for each of its variants.

    Variants are not asked where the records have nothing on the printed rule.
    """
    found: list[CheckedClaim] = []
    for variant in (None, *relation.variants):
        claim = _Claim(relation, measured, variant)
        rows = (relation.row, *relation.rivals, *relation.rows)
        if variant is not None and all(claim.row_name(row) == row for row in rows):
            continue
        if found and not found[0].comparisons:
            break
        comparisons = tuple(_KINDS[relation.kind](claim))
        # An order that changes no prediction is what "the same in either order" says; it is not vacuous.
        varied = () if relation.kind == "close" else comparisons
        vacuous, flag = _flag([each.difference.share_changed for each in varied])
        found.append(
            CheckedClaim(
                claim=relation.name,
                says=relation.says,
                where=PRINTED if variant is None else f"{OURS}{variant}",
                encoder=encoder,
                comparisons=comparisons,
                missing={reason: tuple(subjects) for reason, subjects in claim.missing.items()},
                vacuous=vacuous,
                headline=_headline(claim) if comparisons else "",
                note=flag,
                family="ours" if relation.ours else "paper",
            )
        )
    return found


def _flag(shares: list[float]) -> tuple[str, str]:
    """Return why the comparisons are vacuous, if next to no prediction changes, and a warning, if few do."""
    most = max(shares, default=1.0)
    if most == 0:
        return "the varied part changes no prediction at all", ""
    if most < VACUOUS_BELOW:
        return f"the varied part changes {most:.3%} of the predictions at most", ""
    return "", f"changes only {most:.1%} of the predictions" if most < FLAGGED_BELOW else ""


def _gain(claim: _Claim) -> list[Comparison]:
    row = claim.relation.row
    return [
        each
        for column in claim.columns()
        for rival in claim.relation.rivals
        for each in claim.compare(f"{claim.heading(column)} against {rival}", (row, column), (rival, column))
    ]


def _flat(claim: _Claim) -> list[Comparison]:
    row = claim.relation.row
    return [each for a, b in combinations(claim.columns(), 2) for each in claim.same(row, a, b)]


def _peak(claim: _Claim) -> list[Comparison]:
    row, at = claim.relation.row, claim.relation.at
    return [
        each
        for column in claim.columns()
        if column != at
        for each in claim.compare(f"{at} against {column}", (row, at), (row, column))
    ]


def _saturates(claim: _Claim) -> list[Comparison]:
    row, at, margin = claim.relation.row, claim.relation.at, claim.relation.tolerance
    columns = claim.columns()
    rise = claim.compare(f"rise up to {at}", (row, at), (row, columns[0]), above=margin)
    return rise + [
        each for column in columns[columns.index(at) + 1 :] for each in claim.same(row, at, column)
    ]


def _depends(claim: _Claim) -> list[Comparison]:
    relation = claim.relation
    small, large = relation.memories[0], relation.memories[-1]
    return [
        each
        for row in relation.rows
        for column in claim.columns()
        for each in claim.compare(
            f"{row} {claim.heading(column)}",
            (f"{row}_{large}", column),
            (f"{row}_{small}", column),
            above=relation.tolerance,
        )
    ]


def _floor(claim: _Claim) -> list[Comparison]:
    relation = claim.relation
    return [
        each
        for row in relation.rows
        for memory in relation.memories
        for column in claim.columns()
        for each in claim.compare(
            f"{memory} {claim.heading(column)}",
            (f"{row}_{memory}", column),
            (f"{relation.row}_{memory}", column),
            above=-relation.tolerance,
        )
    ]


def _close(claim: _Claim) -> list[Comparison]:
    row = claim.relation.row
    return [each for first, second in claim.relation.pairs for each in claim.same(row, first, second)]


def _range(claim: _Claim) -> str:
    means = _means(claim).values()
    return (
        f"from {min(means):.2f} to {max(means):.2f}, a range of {max(means) - min(means):.2f}, "
        f"{_points(claim.relation.tolerance)} allowed"
    )


def _best(claim: _Claim) -> str:
    means = _means(claim)
    best = max(means, key=lambda column: means[column])
    return f"best at {best}: {means[best]:.2f}"


def _means(claim: _Claim) -> dict[str, float]:
    """Return the mean of the claim's row in each of its columns; there is none where nothing was played."""
    entries = {}
    for column in claim.columns():
        try:
            entries[column] = claim.entry(claim.relation.row, column)
        except NotTestable:
            continue
    return {column: entry.ours.mean for column, entry in entries.items() if entry.ours is not None}


def _points(margin: float) -> str:
    return f"{margin:g} point{'' if margin == 1 else 's'}"


_KINDS: dict[str, Callable[[_Claim], list[Comparison]]] = {
    "gain": _gain,
    "flat": _flat,
    "peak": _peak,
    "saturates": _saturates,
    "depends": _depends,
    "close": _close,
    "floor": _floor,
}


def _headline(claim: _Claim) -> str:
    make = _HEADLINES.get(claim.relation.kind)
    return "" if make is None else make(claim)


_HEADLINES: dict[str, Callable[[_Claim], str]] = {
    "flat": _range,
    "peak": _best,
    "saturates": lambda claim: (
        f"a rise of more than {_points(claim.relation.tolerance)}, and no more after it"
    ),
    "depends": lambda claim: f"a gain of {_points(claim.relation.tolerance)} is asked for",
    "close": lambda claim: f"{_points(claim.relation.tolerance)} allowed",
}
