"""Measured tables and findings as Markdown, from records only."""

from __future__ import annotations

from collections.abc import Sequence

from i2cansay.experiments.claims.orderings import orderings_markdown
from i2cansay.experiments.claims.verification import verify
from i2cansay.experiments.declare.plan import Entry, Plan
from i2cansay.experiments.report.report_findings import findings_markdown
from i2cansay.experiments.report.report_prose import honest, low_data_cost, provenance
from i2cansay.experiments.report.report_tables import measure_all
from i2cansay.experiments.report.report_terminal import (
    SECONDS_NOTE,
    SEEDS_NOTE,
    column_name,
    delta_text,
    metric_text,
    ours_text,
    paper_text,
    substitutions,
)
from i2cansay.experiments.run.record import Record


def results_markdown(
    records: Sequence[Record], *, fraction: float | None = None, seeds: int | None = None
) -> str:
    """Return the whole page of results: what was measured, what holds, every table, every claim.

    `fraction` and `seeds` choose among the tables as `measure_all` does; the claims are about all records.
    """
    findings = verify(records)
    tables = measure_all(records, fraction=fraction, seeds=seeds)
    parts = [
        "# Results",
        "Made from the records by `i2cansay report results --markdown RESULTS.md`; do not edit. "
        "Each number is ours, mean ± standard deviation over the seeds, in percent; below it stand the paper's "
        f"number and the difference. {_sentence(SEEDS_NOTE)} {_sentence(SECONDS_NOTE)}",
        provenance(records),
        low_data_cost(tables),
        "## What holds and what does not",
        *honest(findings),
        *orderings_markdown(tables),
        *(table_markdown(table) for table in tables),
        "## Every claim of the paper",
        "Undecided: the seeds are too few to tell, the interval spans zero. "
        "Vacuous: what the claim varies changes under 0.1% of the predictions, so that the comparison says nothing "
        "about it. Intervals are 95%, differences are paired by seed.",
        findings_markdown(findings),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def table_markdown(measured: Plan) -> str:
    """Return one table with its heading, its substitutions and the command to repeat it."""
    columns = [column_name(measured, column.name) for column in measured.columns]
    header = ["", "memory", *columns, "seeds", "seconds, wall-clock", "state, kB"]
    lines = [f"| {' | '.join(header)} |", "|" + "---|" + "---:|" * (len(header) - 1)]
    backbones = {row.backbone for row in measured.rows}
    before = None
    for row in measured.rows:
        if len(backbones) > 1 and row.backbone != before:
            before = row.backbone
            lines.append(f"| *paper's backbone: {before}* |" + " |" * (len(header) - 1))
        cells = [_cell(entry, measured.table.decimals) for entry in row.entries]
        seconds = "" if row.seconds is None else f"{row.seconds:.1f}"
        state = "" if row.state_bytes is None else f"{row.state_bytes / 1e3:,.0f}"
        words = [row.declared.title, row.memory, *cells, row.seeds, seconds, state]
        lines.append(f"| {' | '.join(words)} |")
    notes = [
        f"{_sentence(metric_text(measured))} Means over {measured.seeds}.",
        *(f"{_sentence(text)}" for text in substitutions(measured)),
    ]
    if measured.table.note:
        notes.insert(1, _sentence(measured.table.note))
    return "\n\n".join(
        [f"## {measured.title}", " ".join(notes), "\n".join(lines), f"Repeat: `{measured.command}`"]
    )


def _cell(entry: Entry, decimals: int) -> str:
    below = ", ".join(part for part in (paper_text(entry, decimals), delta_text(entry, decimals)) if part)
    ours = ours_text(entry, decimals)
    return f"{ours}<br><sub>{below}</sub>" if below else ours


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."
