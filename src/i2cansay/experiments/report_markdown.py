"""Measured tables and findings as Markdown, from records only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from i2cansay.experiments.finding import PRINTED, Finding, Verdict
from i2cansay.experiments.measured import MeasuredEntry, MeasuredTable, measure_all
from i2cansay.experiments.record import Record
from i2cansay.experiments.report_findings import findings_markdown
from i2cansay.experiments.report_terminal import (
    column_name,
    delta_text,
    ours_text,
    paper_text,
    substitutions,
)
from i2cansay.experiments.verification import verify


def results_markdown(records: Sequence[Record]) -> str:
    """Return the whole page of results: what was measured, what holds, every table, every claim."""
    findings = verify(records)
    tables = measure_all(records)
    parts = [
        "# Results",
        "Made from the records by `i2cansay report results --markdown RESULTS.md`; do not edit. "
        "Each number is ours, mean ± standard deviation over the seeds, in percent; below it stand the paper's "
        "number and the difference.",
        _provenance(records),
        "## What holds and what does not",
        *_honest(findings),
        *(table_markdown(table) for table in tables),
        "## Every claim of the paper",
        "Vacuous: what the claim varies changes under 0.1% of the predictions, so that the comparison says nothing "
        "about it. Intervals are 95%, differences are paired by seed.",
        findings_markdown(findings),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def table_markdown(measured: MeasuredTable) -> str:
    """Return one table with its heading, its substitutions and the command to repeat it."""
    columns = [column_name(measured, column.name) for column in measured.plan.columns]
    header = ["", "memory", *columns, "seconds", "state, kB"]
    lines = [f"| {' | '.join(header)} |", "|" + "---|" + "---:|" * (len(header) - 1)]
    backbones = {row.planned.backbone for row in measured.rows}
    before = None
    for row in measured.rows:
        if len(backbones) > 1 and row.planned.backbone != before:
            before = row.planned.backbone
            lines.append(f"| *paper's backbone: {before}* |" + " |" * (len(header) - 1))
        cells = [_cell(entry, measured.table.decimals) for entry in row.entries]
        seconds = "" if row.seconds is None else f"{row.seconds:.1f}"
        state = "" if row.state_bytes is None else f"{row.state_bytes / 1e3:,.0f}"
        lines.append(f"| {' | '.join([row.planned.row.title, row.planned.memory, *cells, seconds, state])} |")
    notes = [f"Means over {measured.seeds}.", *(f"{_sentence(text)}" for text in substitutions(measured))]
    if measured.table.note:
        notes.insert(1, _sentence(measured.table.note))
    return "\n\n".join(
        [f"## {measured.plan.title}", " ".join(notes), "\n".join(lines), f"Repeat: `{measured.command}`"]
    )


def _cell(entry: MeasuredEntry, decimals: int) -> str:
    below = ", ".join(part for part in (paper_text(entry, decimals), delta_text(entry, decimals)) if part)
    ours = ours_text(entry, decimals)
    return f"{ours}<br><sub>{below}</sub>" if below else ours


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _provenance(records: Sequence[Record]) -> str:
    """Say what the records were made with."""
    encoders = sorted({str(record.cell["encoder"]) for record in records})
    datasets = sorted({str(record.cell["dataset"]) for record in records})
    versions = sorted({f"{name} {number}" for record in records for name, number in record.versions.items()})
    hours = sum(record.seconds for record in records) / 3600
    return (
        f"{len(records):,} records; data: {', '.join(datasets)}; encoder: {', '.join(encoders)}; "
        f"{hours:.1f} processor hours; {', '.join(versions)}."
    )


def _honest(findings: Sequence[Finding]) -> list[str]:
    """Return what our records say with the rule as printed, then its variants, then the paper against itself."""
    printed = [each for each in findings if each.where == PRINTED]
    variants = [each for each in findings if each.is_ours and each.where != PRINTED]
    own = [each for each in findings if not each.is_ours]
    counts = Counter(each.verdict for each in printed)
    opening = (
        "With the rule as printed, on features that are not the paper's, "
        f"{counts[Verdict.HOLDS]} claims hold, {counts[Verdict.FAILS]} fail, {counts[Verdict.VACUOUS]} are "
        f"vacuous and {counts[Verdict.UNTESTABLE]} cannot be tested here. What is near to vacuous says so: with a "
        "hundred classes the correction of Eq. 8 outweighs the trained head, so that whatever changes the head "
        "alone (memory, beta, the pseudo-features) hardly shows. The variants without the correction "
        '(`significance=False`) and with one that does not grow with the classes (`bias_scale="mean"`) show '
        "what it hides."
    )
    return [
        opening,
        *_listed("Holds:", [each for each in printed if each.verdict == Verdict.HOLDS]),
        *_listed("Does not hold:", [each for each in printed if each.verdict == Verdict.FAILS]),
        *_listed("Vacuous:", [each for each in printed if each.verdict == Verdict.VACUOUS]),
        *_listed(
            "Does not hold with a variant of the rule:", [e for e in variants if e.verdict == Verdict.FAILS]
        ),
        *_listed("The paper's text against its own tables:", [e for e in own if e.verdict == Verdict.FAILS]),
        *_listed("Not testable here:", [each for each in printed if each.verdict == Verdict.UNTESTABLE]),
    ]


def _listed(opening: str, findings: Sequence[Finding]) -> list[str]:
    if not findings:
        return []
    lines = [f"- **{each.says}**{_variant(each)}: {each.detail}" for each in findings]
    return [opening, "\n".join(lines)]


def _variant(finding: Finding) -> str:
    is_variant = finding.is_ours and finding.where != PRINTED
    return f" (`{finding.where.removeprefix('ours, ')}`)" if is_variant else ""
