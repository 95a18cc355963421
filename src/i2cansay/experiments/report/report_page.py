"""The report as one self-contained HTML page: tables, charts and claims, from records only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from itertools import groupby

from i2cansay.experiments.claims.finding import Finding, Verdict
from i2cansay.experiments.claims.verification import verify
from i2cansay.experiments.declare.plan import Entry, Plan
from i2cansay.experiments.report.illustration import Illustration
from i2cansay.experiments.report.page_charts import charts_of, panel_figure
from i2cansay.experiments.report.report_findings import where
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

CLASSES = {
    Verdict.HOLDS: "holds",
    Verdict.FAILS: "fails",
    Verdict.UNDECIDED: "vacuous",
    Verdict.VACUOUS: "vacuous",
    Verdict.UNTESTABLE: "untestable",
}


def report_page(
    records: Sequence[Record],
    *,
    illustrations: Sequence[Illustration] = (),
    fraction: float | None = None,
    seeds: int | None = None,
) -> str:
    """Return the page as text; it needs nothing from outside."""
    tables = measure_all(records, fraction=fraction, seeds=seeds)
    if not tables:
        raise ValueError("the records fill none of the declared tables; play one with `i2cansay reproduce`")
    findings = verify(records)
    links = "".join(f'<a href="#t{i}">{escape(_short(table))}</a>' for i, table in enumerate(tables))
    links += "".join(f'<a href="#{each.name}">{escape(each.title)}</a>' for each in illustrations)
    style = files("i2cansay.experiments").joinpath("page.css").read_text(encoding="utf-8")
    drawn = "".join(_illustration(illustration) for illustration in illustrations)
    sections = "".join(_section(table, f"t{i}") for i, table in enumerate(tables))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>I2CANSAY reproduced</title><style>{style}</style></head>
<body><main>
<h1>I2CANSAY, beside the paper</h1>
<p class="soft">{escape(_provenance(records))}</p>
<nav>{links}<a href="#claims">claims</a></nav>
{sections}{drawn}
{_claims(findings)}
</main></body></html>
"""


def _short(table: Plan) -> str:
    name = table.table.title.split(":")[0]
    label = table.table.title if name == "Figure" else name
    dataset = table.choice.dataset
    return f"{label} on {dataset}" if dataset else label


def _provenance(records: Sequence[Record]) -> str:
    encoders = ", ".join(sorted({str(record.cell["encoder"]) for record in records}))
    datasets = ", ".join(sorted({str(record.cell["dataset"]) for record in records}))
    commits = ", ".join(sorted({record.commit for record in records if record.commit}))
    made = f", commit {commits}" if commits else ""
    return f"Made from {len(records):,} records. Data: {datasets}. Encoder: {encoders}{made}. Accuracies in percent."


def _section(measured: Plan, anchor: str) -> str:
    notes = [f"Means over {measured.seeds}; ours, and below it the paper's number and the difference."]
    texts = (metric_text(measured), measured.table.note, *substitutions(measured), SEEDS_NOTE, SECONDS_NOTE)
    notes += [text[0].upper() + text[1:] + "." for text in texts if text]
    charts = "".join(charts_of(measured))
    return f"""<section id="{anchor}"><h2>{escape(measured.title)}</h2>
<p class="soft">{escape(" ".join(notes))}</p>
<div class="scroll">{_table(measured)}</div>
<div class="charts">{charts}</div>
<p class="soft">Repeat: <code>{escape(measured.command)}</code></p></section>
"""


def _illustration(illustration: Illustration) -> str:
    return f"""<section id="{illustration.name}"><h2>{escape(illustration.title)}</h2>
<p class="soft">{escape(illustration.note)}</p>
<div class="charts">{"".join(panel_figure(panel) for panel in illustration.panels)}</div></section>
"""


def _table(measured: Plan) -> str:
    names = [column_name(measured, column.name) for column in measured.columns]
    head = "".join(
        f"<th>{escape(name)}</th>"
        for name in ("", "memory", *names, "seeds", "seconds, wall-clock", "state, kB")
    )
    body = []
    blocks = len({row.backbone for row in measured.rows}) > 1
    for backbone, rows in groupby(measured.rows, key=lambda row: row.backbone):
        if blocks:
            body.append(
                f'<tr class="block"><td colspan="{len(names) + 5}">paper\'s backbone: {escape(backbone)}</td></tr>'
            )
        for row in rows:
            declared = row.declared
            kind = "variant" if declared.variant else "ours" if declared.learner == "i2cansay" else ""
            title = f"{declared.variant}" if declared.variant else declared.title
            cells = "".join(_cell(entry, measured.table.decimals) for entry in row.entries)
            seconds = "" if row.seconds is None else f"{row.seconds:.1f}"
            state = "" if row.state_bytes is None else f"{row.state_bytes / 1e3:,.0f}"
            body.append(
                f'<tr class="{kind}"><td>{escape(title)}</td><td>{row.memory}</td>{cells}'
                f"<td>{row.seeds}</td><td>{seconds}</td><td>{state}</td></tr>"
            )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _cell(entry: Entry, decimals: int) -> str:
    below = " ".join(part for part in (paper_text(entry, decimals), delta_text(entry, decimals)) if part)
    small = f"<small>{below}</small>" if below else ""
    kind = "" if entry.ours is not None else ' class="none"'
    return f"<td{kind}>{escape(ours_text(entry, decimals))}{small}</td>"


def _claims(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.verdict for finding in findings if finding.is_ours)
    boxes = "".join(
        f'<div><b class="{CLASSES[verdict]}">{counts[verdict]}</b><span>{verdict}</span></div>'
        for verdict in Verdict
    )
    body = []
    for _, group in groupby(findings, key=lambda finding: finding.claim):
        for place, finding in enumerate(group):
            title = escape(finding.says) if place == 0 else ""
            body.append(
                f"<tr><td>{title}</td><td>{escape(where(finding))}</td>"
                f'<td class="{CLASSES[finding.verdict]}">{finding.verdict}</td>'
                f"<td>{escape(finding.detail)}</td></tr>"
            )
    head = "<tr><th>claim</th><th>where</th><th>answer</th><th>figures</th></tr>"
    return f"""<section id="claims"><h2>The paper's claims</h2>
<p class="soft">Checked against its own tables and against our records. Undecided: the seeds are too few, the
interval spans zero. Vacuous: what the claim varies changes under 0.1% of the predictions. Differences are paired
by seed, intervals are 95%. Counted are our records' answers:</p>
<div class="counts">{boxes}</div>
<div class="scroll"><table class="claims"><thead>{head}</thead><tbody>{"".join(body)}</tbody></table></div></section>
"""
