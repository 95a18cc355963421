"""Measured tables and findings as Markdown, from records only."""

from __future__ import annotations

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
    """Return one paragraph per answer, from the findings on our records with the printed rule."""
    texts = []
    for verdict, opening in (
        (Verdict.HOLDS, "**Holds** on our features, with the rule as printed"),
        (Verdict.FAILS, "**Does not hold** there"),
        (
            Verdict.VACUOUS,
            "**Vacuous** there, because with so many classes the correction of Eq. 8 decides alone and nothing "
            "else moves the predictions",
        ),
        (Verdict.UNTESTABLE, "**Not testable here**"),
    ):
        chosen = [each for each in findings if each.where == PRINTED and each.verdict == verdict]
        if chosen:
            listed = "; ".join(f"{each.says.rstrip('.')} ({each.detail})" for each in chosen)
            texts.append(f"{opening}: {listed}.")
    variants = [
        each for each in findings if each.is_ours and each.where != PRINTED and each.verdict == Verdict.FAILS
    ]
    if variants:
        listed = "; ".join(
            f"{each.says} [{each.where.removeprefix('ours, ')}: {each.detail}]" for each in variants
        )
        texts.append(f"**Does not hold with a variant** of the rule: {listed}.")
    own = [each for each in findings if not each.is_ours and each.verdict == Verdict.FAILS]
    if own:
        listed = "; ".join(f"{each.says} ({each.detail})" for each in own)
        texts.append(f"**The paper against its own tables** does not agree on: {listed}.")
    return texts
