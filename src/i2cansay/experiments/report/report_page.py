"""The report as one self-contained HTML page: tables, charts and claims, from records only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from i2cansay.experiments.claims.finding import Finding, Verdict
from i2cansay.experiments.claims.verification import verify
from i2cansay.experiments.report.charts import can_draw
from i2cansay.experiments.report.illustration import Illustration
from i2cansay.experiments.report.page_charts import charts_of, panel_figure
from i2cansay.experiments.report.plan_models import (
    SECONDS_NOTE,
    SEEDS_NOTE,
    metric_text,
    plan_model,
    substitutions,
)
from i2cansay.experiments.report.report_findings import MOODS, findings_model
from i2cansay.experiments.report.report_tables import measure_all
from i2cansay.experiments.report.table_model import as_sentence, to_html
from i2cansay.experiments.run.plan import Plan
from i2cansay.experiments.run.record import Record

NO_CHARTS = '<p class="soft">Charts need matplotlib: pip install "i2cansay[plot]".</p>'


def report_page(
    records: Sequence[Record],
    *,
    illustrations: Sequence[Illustration] = (),
    fraction: float | None = None,
    seeds: int | None = None,
) -> str:
    """Return the page as text; it loads nothing."""
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
<h1>I2CANSAY: our numbers and the paper's</h1>
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
    notes = [f"Means over {measured.seeds}; below each number are the paper's number and the difference."]
    texts = (metric_text(measured), measured.table.note, *substitutions(measured), SEEDS_NOTE, SECONDS_NOTE)
    notes += [as_sentence(text) for text in texts if text]
    charts = "".join(charts_of(measured)) if can_draw() else NO_CHARTS
    return f"""<section id="{anchor}"><h2>{escape(measured.title)}</h2>
<p class="soft">{escape(" ".join(notes))}</p>
<div class="scroll">{to_html(plan_model(measured))}</div>
<div class="charts">{charts}</div>
<p class="soft">Repeat: <code>{escape(measured.command)}</code></p></section>
"""


def _illustration(illustration: Illustration) -> str:
    drawn = "".join(map(panel_figure, illustration.panels)) if can_draw() else NO_CHARTS
    return f"""<section id="{illustration.name}"><h2>{escape(illustration.title)}</h2>
<p class="soft">{escape(illustration.note)}</p>
<div class="charts">{drawn}</div></section>
"""


def _claims(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.verdict for finding in findings if finding.is_ours)
    boxes = "".join(
        f'<div><b class="{MOODS[verdict]}">{counts[verdict]}</b><span>{verdict}</span></div>'
        for verdict in Verdict
    )
    return f"""<section id="claims"><h2>The paper's claims</h2>
<p class="soft">Checked on the paper's own tables and on our records. Undecided: there are too few seeds, and the
interval spans zero. Vacuous: what the claim varies changes under 0.1% of the predictions. Differences are paired
by seed, intervals are 95%. The verdicts on our records:</p>
<div class="counts">{boxes}</div>
<div class="scroll">{to_html(findings_model(findings))}</div></section>
"""
