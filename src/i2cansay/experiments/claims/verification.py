"""Check all claims on all records: which hold, which do not, which are vacuous, which cannot be tested here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from i2cansay.experiments.claims.claims_in_print import check_paper
from i2cansay.experiments.claims.claims_on_records import check_ours
from i2cansay.experiments.claims.finding import PRINTED, Finding, Verdict
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import DECLARED, VARIANTS, load_table, printed
from i2cansay.experiments.declare.relation import load_relations
from i2cansay.experiments.run.filling import RecordIndex, fill_table
from i2cansay.experiments.run.plan import Plan
from i2cansay.experiments.run.record import Record

# A printed number is reproduced if ours differs by at most this many deviations, or this many points.
DEVIATIONS, AT_LEAST = 2.0, 0.5


def verify(records: Sequence[Record]) -> list[Finding]:
    """Check the paper's claims against its own tables and against the records, encoder by encoder."""
    index = RecordIndex(records)
    findings = [check_paper(relation) for relation in load_relations() if relation.is_printed()]
    for encoder in sorted({str(record.cell["encoder"]) for record in records}):
        tables = {name: fill_table(load_table(name), index, Choice(encoder=encoder)) for name in DECLARED}
        for relation in load_relations():
            if relation.kind != "same":  # one setting is one cell here
                findings += check_ours(relation, tables[relation.table], encoder=encoder)
        findings += [_printed_numbers(table, encoder) for table in tables.values() if _prints(table)]
    order = {relation.name: place for place, relation in enumerate(load_relations())}
    return sorted(findings, key=lambda finding: (order.get(finding.claim, len(order)), finding.encoder))


def claim_names() -> list[str]:
    """Return the names of all claims."""
    return [*(relation.name for relation in load_relations()), *(f"{name}-numbers" for name in DECLARED)]


def claim_labels() -> list[str]:
    """Return the names of all claims, and of each with every variant of the rule."""
    names = claim_names()
    return [*names, *(f"{name}:{variant}" for name in names for variant in VARIANTS)]


def is_tested(findings: Iterable[Finding]) -> bool:
    """Whether our records said anything about any claim."""
    return any(finding.is_ours and finding.verdict != Verdict.UNTESTABLE for finding in findings)


def foreign_datasets(records: Sequence[Record]) -> list[str]:
    """Return the data sets of the records where none of them is one of the paper's: then no claim can be tested."""
    papers = {column.dataset for name in DECLARED for column in load_table(name).columns}
    played = {str(record.cell["dataset"]) for record in records}
    return [] if played & papers else sorted(played)


def failures(findings: Iterable[Finding], allowed: Sequence[str] = ()) -> list[Finding]:
    """Return the claims that fail on our records and are not allowed to.

    `allowed` has names of claims, for the printed rule, and `name:variant` for a variant of the rule.
    """
    return [
        finding
        for finding in findings
        if finding.is_ours and finding.verdict == Verdict.FAILS and finding.label not in allowed
    ]


def _prints(table: Plan) -> bool:
    return any(printed(entry.paper) for row in table.rows for entry in row.entries)


def _printed_numbers(table: Plan, encoder: str) -> Finding:
    """Compare our numbers with the printed ones, where backbone and data are the paper's."""
    name = f"{table.table.name}-numbers"
    says = f"The numbers printed in {table.table.title}"
    off, seeds, backbones = [], [], set()
    for row in table.rows:
        backbones.add(row.backbone)
        for entry in row.entries:
            ours = entry.ours
            if ours is None or not entry.is_papers or not printed(entry.paper):
                continue
            seeds.append(ours.n)
            deviation = max(ours.std, entry.pm if printed(entry.pm) else 0.0)
            if abs(ours.mean - entry.paper) > max(DEVIATIONS * deviation, AT_LEAST):
                where = f"{row.declared.title}, {entry.column.name}"
                off.append(f"{where}: {ours} against {entry.paper:g}")
    if not seeds:
        reason = f"the records are of {encoder}, the paper's backbone is {' or '.join(sorted(backbones))}"
        return Finding(name, says, PRINTED, Verdict.UNTESTABLE, reason, encoder)
    if min(seeds) < 2:
        detail = "; ".join(["1 seed does not decide", *off])
        return Finding(name, says, PRINTED, Verdict.UNDECIDED, detail, encoder)
    if off:
        return Finding(name, says, PRINTED, Verdict.FAILS, "; ".join(off), encoder)
    return Finding(name, says, PRINTED, Verdict.HOLDS, f"{len(seeds)} numbers", encoder)
