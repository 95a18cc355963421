"""Findings as a terminal table and as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from i2cansay.experiments.claims.finding import Finding, Verdict

STYLES = {
    Verdict.HOLDS: "green",
    Verdict.FAILS: "bold red",
    Verdict.UNDECIDED: "yellow",
    Verdict.VACUOUS: "yellow",
    Verdict.UNTESTABLE: "dim",
}


def print_findings(findings: Sequence[Finding], console: Console | None = None) -> None:
    """Print every claim with all places where it was checked."""
    grid = Grid(box=box.SIMPLE, show_lines=False, pad_edge=False)
    grid.add_column("claim")
    grid.add_column("where")
    grid.add_column("", no_wrap=True)
    grid.add_column("figures")
    for _, group in groupby(findings, key=lambda finding: finding.claim):
        for place, finding in enumerate(group):
            title = Text(f"{finding.claim}\n{finding.says}") if place == 0 else Text("")
            verdict = Text(finding.verdict, style=STYLES[finding.verdict])
            grid.add_row(title, where(finding), verdict, finding.detail)
        grid.add_section()
    console = console or Console()
    Console(width=console.width if console.is_terminal else 160, file=console.file).print(grid)
    console.print(summary(findings))


def where(finding: Finding) -> str:
    """Return where a claim was checked, with the encoder."""
    return f"{finding.where} ({finding.encoder})" if finding.encoder else finding.where


def summary(findings: Sequence[Finding]) -> str:
    """Count the answers our records give.

    >>> summary([Finding("a", "", "ours, as printed", Verdict.HOLDS, ""),
    ...          Finding("b", "", "ours, as printed", Verdict.VACUOUS, "")])
    'ours: 1 holds, 0 does not hold, 0 undecided, 1 vacuous, 0 not testable here'
    """
    counts = Counter(finding.verdict for finding in findings if finding.is_ours)
    return "ours: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict)


def findings_markdown(findings: Sequence[Finding]) -> str:
    """Return the findings as one Markdown table."""
    lines = ["| claim | where | answer | figures |", "|---|---|---|---|"]
    for _, group in groupby(findings, key=lambda finding: finding.claim):
        for place, finding in enumerate(group):
            title = f"**{finding.claim}**: {finding.says}" if place == 0 else ""
            answer = f"**{finding.verdict}**" if finding.verdict == Verdict.FAILS else str(finding.verdict)
            lines.append(f"| {title} | {where(finding)} | {answer} | {finding.detail.replace('|', '/')} |")
    return "\n".join(lines) + "\n"
