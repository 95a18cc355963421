"""Check all claims on all records: which hold, which do not, which are vacuous, which cannot be tested here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt

from i2cansay.experiments.claims.checked_claim import CheckedClaim, Comparison, within
from i2cansay.experiments.claims.claims_in_print import ROUNDING, check_paper
from i2cansay.experiments.claims.claims_on_records import check_claim
from i2cansay.experiments.claims.finding import PRINTED, Finding, Verdict
from i2cansay.experiments.claims.judgement import judge
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import DECLARED, OURS, VARIANTS, load_table, printed
from i2cansay.experiments.declare.relation import load_relations
from i2cansay.experiments.run.filling import RecordIndex, fill_table
from i2cansay.experiments.run.paired_difference import Difference, StandardError
from i2cansay.experiments.run.plan import Plan
from i2cansay.experiments.run.record import Record

# A printed number is reproduced if ours is shown to differ by less than this many points.
REPRODUCED = 1.0
# How many runs the paper's means and deviations are over.
PAPER_RUNS = 20


def verify(records: Sequence[Record]) -> list[Finding]:
    """Check the paper's claims against its own tables and against the records, encoder by encoder."""
    index = RecordIndex(records)
    relations = [relation for relation in load_relations() if relation.table not in OURS]
    findings = [check_paper(relation) for relation in relations if relation.is_printed()]
    claims: list[CheckedClaim] = []
    for encoder in sorted({str(record.cell["encoder"]) for record in records}):
        tables = {name: fill_table(load_table(name), index, Choice(encoder=encoder)) for name in DECLARED}
        for relation in relations:
            if relation.kind != "same":  # one setting is one cell here
                claims += check_claim(relation, tables[relation.table], encoder=encoder)
        claims += [_printed_numbers(table, encoder) for table in tables.values() if _prints(table)]
    findings += judge(claims)
    for name in OURS:
        findings += verify_table(fill_table(load_table(name), index, Choice()))
    order = {relation.name: place for place, relation in enumerate(load_relations())}
    return sorted(findings, key=lambda finding: (order.get(finding.claim, len(order)), finding.encoder))


def verify_table(plan: Plan) -> list[Finding]:
    """Check the relations about a table of our own, on its own encoders; return none where nothing is played."""
    if not any(row.records for row in plan.rows):
        return []
    relations = [relation for relation in load_relations() if relation.table == plan.table.name]
    claims = [check_claim(each, plan, encoder=each.backbone or "") for each in relations]
    return judge([claim for checked in claims for claim in checked])


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


def _printed_numbers(table: Plan, encoder: str) -> CheckedClaim:
    """Compare our numbers with the printed ones, where backbone and data are the paper's.

    The printed numbers are of the same test images, so there is no error of the test set; the paper's own runs have
    one of their seeds, where their deviation is printed.
    """
    missing: dict[str, dict[str, None]] = {}
    comparisons: list[Comparison] = []
    for row in table.rows:
        for entry in row.entries:
            if not printed(entry.paper):
                continue
            name = f"the printed {row.declared.title}, {entry.column.name}"
            if entry.ours is None or not entry.is_papers:
                missing.setdefault(entry.why_empty or "not as in the paper", {})[row.declared.title] = None
                continue
            n, paper = entry.ours.n, entry.pm / sqrt(PAPER_RUNS) if printed(entry.pm) else 0.0
            errors = StandardError(entry.ours.std / sqrt(n), n - 1), StandardError(paper, PAPER_RUNS - 1)
            difference = Difference(entry.ours.mean - entry.paper, n, errors, 1.0, entry.ours.std > 0)
            comparisons += within("ours", name, difference, len(entry.seeds), REPRODUCED + ROUNDING)
    backbones = dict.fromkeys(row.backbone for row in table.rows)
    if not comparisons and encoder not in backbones:
        missing = {f"the records are of {encoder}, the paper's backbone is {' or '.join(backbones)}": {}}
    return CheckedClaim(
        claim=f"{table.table.name}-numbers",
        says=f"The numbers printed in {table.table.title}",
        where=PRINTED,
        encoder=encoder,
        comparisons=tuple(comparisons),
        missing={reason: tuple(names) for reason, names in missing.items()},
        headline=f"{REPRODUCED:g} point allowed",
        family="numbers",
    )
