"""Claims checked on our records: differences are paired by seed, and comparisons that change nothing are flagged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from i2cansay.experiments.claims.finding import OURS, PRINTED, Finding, Verdict
from i2cansay.experiments.declare.declaration import VARIANTS
from i2cansay.experiments.declare.relation import Relation
from i2cansay.experiments.run.metric import metric_of
from i2cansay.experiments.run.plan import Entry, Plan, TableRow
from i2cansay.experiments.run.seed_statistics import Difference, changed_share, paired_difference, spread

# Below this share of changed predictions a comparison is vacuous: what is varied decides nothing.
VACUOUS_BELOW = 0.001
# Below this share a comparison is flagged with it.
FLAGGED_BELOW = 0.02
# A smaller difference, in points, does not count as one, however many seeds make it significant.
NEGLIGIBLE = 0.5


class Vacuous(Exception):
    """What a claim varies changes next to no prediction, so that a comparison says nothing about it."""


class NotTestable(Exception):
    """There are no records to test a claim with; the message names what is missing and why."""

    def __init__(self, subject: str, reason: str) -> None:
        self.subject, self.reason = subject, reason
        super().__init__(f"{subject}: {reason}")


@dataclass(frozen=True)
class _Claim:
    """A relation, the filled table it is about, and the variant of the rule it is checked for."""

    relation: Relation
    measured: Plan
    variant: str | None

    def row_name(self, name: str) -> str:
        """Return the row's variant where it has one, else the row itself."""
        other = f"{name}:{self.variant}"
        return other if any(row.declared.name == other for row in self.block()) else name

    def block(self) -> list[TableRow]:
        """Return the rows of the backbone that the claim is about."""
        wanted = self.relation.backbone
        return [row for row in self.measured.rows if wanted in (None, row.backbone)]

    def entry(self, row: str, column: str) -> Entry:
        """Return a place of the table that has records."""
        place = [each.name for each in self.measured.columns].index(column)
        for measured in self.block():
            if measured.declared.name == self.row_name(row):
                entry = measured.entries[place]
                if entry.ours is None:
                    raise NotTestable(measured.declared.title, entry.why_empty)
                return entry
        raise NotTestable(row, "not in the table")

    def columns(self) -> list[str]:
        return [column.name for column in self.relation.chosen_columns()]

    def entries(self) -> list[Entry]:
        """Return the places of the claim's row in all its columns."""
        return [self.entry(self.relation.row, column) for column in self.columns()]


def check_ours(relation: Relation, measured: Plan, *, encoder: str) -> list[Finding]:
    """Return what our records say about a claim, for the printed rule and for each of its variants.

    Variants are not checked where the printed rule cannot be.
    """
    findings: list[Finding] = []
    for variant in (None, *VARIANTS):
        claim = _Claim(relation, measured, variant)
        rows = (relation.row, *relation.rivals, *relation.rows)
        if variant is not None and all(claim.row_name(row) == row for row in rows):
            continue
        if findings and findings[0].verdict == Verdict.UNTESTABLE:
            break
        try:
            verdict, detail = _CHECKS[relation.kind](claim)
        except Vacuous as reason:
            verdict, detail = Verdict.VACUOUS, str(reason)
        except NotTestable as reason:
            verdict, detail = Verdict.UNTESTABLE, str(reason)
        where = PRINTED if variant is None else f"{OURS}{variant}"
        findings.append(Finding(relation.name, relation.says, where, verdict, detail, encoder))
    return findings


def _difference(first: Entry, second: Entry) -> Difference:
    return paired_difference(first.records, second.records, metric_of(first.column.metric))


def _gain(claim: _Claim) -> tuple[Verdict, str]:
    missing: dict[str, dict[str, None]] = {}
    results: list[tuple[str, Difference]] = []
    for column in claim.columns():
        for rival in claim.relation.rivals:
            try:
                pair = claim.entry(claim.relation.row, column), claim.entry(rival, column)
            except NotTestable as lack:
                missing.setdefault(lack.reason, {})[lack.subject] = None
                continue
            results.append((f"{column} against {rival}", _difference(*pair)))
    lacking = "; ".join(f"{', '.join(subjects)}: {reason}" for reason, subjects in missing.items())
    if not results:
        return Verdict.UNTESTABLE, lacking
    few = _flag([each.share_changed for _, each in results])
    telling = [(name, each) for name, each in results if each.share_changed >= VACUOUS_BELOW]
    if lost := [result for result in telling if _is_not_above(result[1])]:
        return Verdict.FAILS, _first(lost) + few
    if unclear := [result for result in telling if not _is_above(result[1])]:
        more = f"; {lacking}" if lacking else ""
        seeds = min(each.n for _, each in unclear)
        return Verdict.UNDECIDED, f"{_too_few(seeds)}: {_first(unclear)}{few}{more}"
    least = min(telling, key=lambda result: result[1].mean)
    text = str(least[1]) if len(telling) == 1 else f"least: {least[0]} {least[1]}"
    if missing:  # above those that are there, but the claim names others as well
        return Verdict.UNTESTABLE, f"{lacking} (above the others; {text})"
    return Verdict.HOLDS, text + few


def _is_above(difference: Difference) -> bool:
    return difference.n > 1 and difference.low > 0


def _is_not_above(difference: Difference) -> bool:
    # An interval that spans 0 leaves open which is better; one seed has no interval at all.
    return difference.n > 1 and difference.high <= 0


def _first(results: list[tuple[str, Difference]]) -> str:
    """Return the three worst and how many more there are."""
    results = sorted(results, key=lambda result: result[1].mean)
    more = f" and {len(results) - 3} more" if len(results) > 3 else ""
    return "; ".join(f"{name} {each}" for name, each in results[:3]) + more


def _too_few(n: int) -> str:
    return "1 seed does not decide" if n == 1 else f"{n} seeds do not decide"


def _settled(holds: bool, text: str, n: int) -> tuple[Verdict, str]:
    """Return the verdict of a comparison of means; one seed is not enough for one."""
    if n < 2:
        return Verdict.UNDECIDED, f"{_too_few(n)}: {text}"
    return (Verdict.HOLDS if holds else Verdict.FAILS), text


def _flag(shares: list[float]) -> str:
    """Return a warning if few predictions change, "" if many do; raise Vacuous if next to none do."""
    if max(shares) == 0:
        raise Vacuous("the varied part changes no prediction at all")
    if max(shares) < VACUOUS_BELOW:
        raise Vacuous(f"the varied part changes {max(shares):.3%} of the predictions at most")
    return f"; changes only {max(shares):.1%} of the predictions" if max(shares) < FLAGGED_BELOW else ""


def _shares(entries: list[Entry]) -> list[float]:
    """Return the share of the predictions in which each entry differs from the first."""
    shares = []
    for entry in entries[1:]:
        first = {record.seed: record for record in entries[0].records}
        both = [(first[record.seed], record) for record in entry.records if record.seed in first]
        if not both:
            raise NotTestable("the columns", "no seed in common")
        shares.append(float(np.mean([changed_share(a, b) for a, b in both])))
    return shares


def _common(entries: list[Entry]) -> set[int]:
    """Return the seeds that all entries have."""
    common = set.intersection(*({record.seed for record in entry.records} for entry in entries))
    if not common:
        raise NotTestable("the columns", "no seed in common")
    return common


def _means(entries: list[Entry]) -> list[float]:
    """Return the mean of each entry over the seeds that all of them have."""
    common = _common(entries)
    return [
        spread(
            metric_of(entry.column.metric)(record) for record in entry.records if record.seed in common
        ).mean
        for entry in entries
    ]


def _flat(claim: _Claim) -> tuple[Verdict, str]:
    entries = claim.entries()
    few, means = _flag(_shares(entries)), _means(entries)
    extent = max(means) - min(means)
    text = f"from {min(means):.2f} to {max(means):.2f}, a range of {extent:.2f}{few}"
    return _settled(extent <= claim.relation.tolerance, text, len(_common(entries)))


def _peak(claim: _Claim) -> tuple[Verdict, str]:
    entries = claim.entries()
    few, means = _flag(_shares(entries)), _means(entries)
    best = entries[int(np.argmax(means))]
    at = claim.entry(claim.relation.row, claim.relation.at)
    others = {entry.column.name: _difference(at, entry) for entry in entries if entry is not at}
    rival = min(others, key=lambda name: others[name].mean)
    nearest = others[rival]
    highest = f"best at {best.column.name}: {max(means):.2f}"
    text = f"{highest}; {claim.relation.at} against {rival} {nearest}{few}"
    if all(map(_is_above, others.values())):
        return Verdict.HOLDS, text
    if any(each.n > 1 and each.high < 0 for each in others.values()):
        return Verdict.FAILS, text
    return Verdict.UNDECIDED, f"{_too_few(nearest.n)}: {text}"


def _saturates(claim: _Claim) -> tuple[Verdict, str]:
    entries = claim.entries()
    few, means = _flag(_shares(entries)), _means(entries)
    place = claim.columns().index(claim.relation.at)
    rise, rest = means[place] - means[0], max(means[place:]) - means[place]
    holds = rise > claim.relation.tolerance >= rest
    text = f"{rise:+.1f} up to {claim.relation.at}, {rest:+.1f} after{few}"
    return _settled(holds, text, len(_common(entries)))


def _depends(claim: _Claim) -> tuple[Verdict, str]:
    relation = claim.relation
    gains, n = {}, []
    for row in relation.rows:
        for column in claim.columns():
            ends = [
                claim.entry(f"{row}_{memory}", column)
                for memory in (relation.memories[0], relation.memories[-1])
            ]
            small, large = _means(ends)
            gains[f"{row} {column}"] = large - small
            n.append(len(_common(ends)))
    least = min(gains, key=lambda name: gains[name])
    text = f"between {gains[least]:+.1f} ({least}) and {max(gains.values()):+.1f}"
    return _settled(gains[least] >= relation.tolerance, text, min(n))


def _floor(claim: _Claim) -> tuple[Verdict, str]:
    relation = claim.relation
    least = -relation.tolerance
    results = []
    for row in relation.rows:
        for memory in relation.memories:
            for column in claim.columns():
                pair = claim.entry(f"{row}_{memory}", column), claim.entry(f"{relation.row}_{memory}", column)
                results.append((f"{memory} {column}", _difference(*pair)))
    if short := [result for result in results if result[1].n > 1 and result[1].high < least]:
        return Verdict.FAILS, f"short in {len(short)} of {len(results)}: {_first(short)}"
    if unclear := [result for result in results if not result[1].low >= least]:  # nan with one seed
        few = f"{_too_few(min(each.n for _, each in unclear))} in {len(unclear)} of {len(results)}"
        return Verdict.UNDECIDED, f"{few}: {_first(unclear)}"
    return Verdict.HOLDS, f"lowest: {_first([min(results, key=lambda result: result[1].mean)])}"


def _close(claim: _Claim) -> tuple[Verdict, str]:
    holds, texts, n = True, [], []
    for first, second in claim.relation.pairs:
        a, b = claim.entry(claim.relation.row, first).ours, claim.entry(claim.relation.row, second).ours
        assert a is not None  # an entry without records has raised
        assert b is not None
        difference, noise = a.mean - b.mean, max(a.std, b.std, NEGLIGIBLE)
        holds = holds and abs(difference) <= noise
        n.append(min(a.n, b.n))
        spread_over_seeds = f"deviation {max(a.std, b.std):.2f}"
        texts.append(f"{first} - Gaussian {difference:+.2f}, allowed {noise:.2f} ({spread_over_seeds})")
    allowed = f"; allowed is the larger deviation over seeds, at least {NEGLIGIBLE}"
    return _settled(holds, "; ".join(texts) + allowed, min(n))


_CHECKS: dict[str, Callable[[_Claim], tuple[Verdict, str]]] = {
    "gain": _gain,
    "flat": _flat,
    "peak": _peak,
    "saturates": _saturates,
    "depends": _depends,
    "close": _close,
    "floor": _floor,
}
