"""Findings as table models: a line for every check of a claim, or one line per claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from i2cansay.experiments.claims.finding import OURS, PAPER, PRINTED, Finding, Verdict
from i2cansay.experiments.declare.declaration import DECLARED, VARIANTS
from i2cansay.experiments.declare.relation import load_relations
from i2cansay.experiments.report.table_model import TableCell, TableLine, TableModel

MOODS = {
    Verdict.HOLDS: "holds",
    Verdict.FAILS: "fails",
    Verdict.UNDECIDED: "vacuous",
    Verdict.VACUOUS: "vacuous",
    Verdict.UNTESTABLE: "untestable",
}
OWN = " (our relation, not the paper's)"
SIGN_ONLY = " (holds in sign; the size is not tested)"


def findings_model(findings: Sequence[Finding]) -> TableModel:
    """Return every claim with all its checks, and their figures."""
    lines = []
    for _, group in groupby(findings, key=lambda finding: finding.claim):
        for place, finding in enumerate(group):
            cells = (
                TableCell(finding.claim, finding.says) if place == 0 else TableCell(""),
                TableCell(where(finding)),
                TableCell(finding.verdict, mood=MOODS[finding.verdict]),
                TableCell(finding.detail + (SIGN_ONLY if _is_sign_only(finding) else "")),
            )
            lines.append(TableLine(cells))
    return TableModel("", ("claim", "where", "answer", "figures"), tuple(lines), is_prose=True)


def verdicts_model(findings: Sequence[Finding]) -> TableModel:
    """Return one line per claim and encoder: what the claim says, and the verdict of each check.

    Relations of our own stand under a heading that says so.
    """
    places = {PAPER: "in print", PRINTED: "on our records"} | {
        f"{OURS}{name}": f"with `{name}`" for name in VARIANTS
    }
    lines = []
    in_print = {finding.claim: finding for finding in findings if finding.where == PAPER}
    groups: dict[tuple[str, str], dict[str, Finding]] = {}
    for finding in findings:
        if finding.where != PAPER or not any(
            each.is_ours for each in findings if each.claim == finding.claim
        ):
            groups.setdefault((finding.claim, finding.encoder), {})[finding.where] = finding
    for (claim, encoder), found in groups.items():
        if claim in in_print:
            found.setdefault(PAPER, in_print[claim])
        says = next(iter(found.values())).says.removesuffix(OWN)
        cells = [TableCell(f"{says} ({encoder})" if _many_encoders(findings) and encoder else says)]
        for place in places:
            finding_here = found.get(place)
            if finding_here is None:
                cells.append(TableCell(""))
            else:
                mark = "*" if _is_sign_only(finding_here) else ""
                cells.append(TableCell(f"{finding_here.verdict}{mark}", mood=MOODS[finding_here.verdict]))
        lines.append(TableLine(tuple(cells)))
    return TableModel("", ("claim", *places.values()), tuple(lines), is_prose=True)


def _many_encoders(findings: Sequence[Finding]) -> bool:
    return len({finding.encoder for finding in findings if finding.encoder}) > 1


def by_kind(findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding], list[Finding]]:
    """Return the paper's claims, relations of our own, and the comparisons with printed numbers."""
    numbers = {f"{name}-numbers" for name in DECLARED}
    ours = {relation.name for relation in load_relations() if relation.ours}
    claims = [each for each in findings if each.claim not in numbers | ours]
    own = [each for each in findings if each.claim in ours]
    return claims, own, [each for each in findings if each.claim in numbers]


def where(finding: Finding) -> str:
    """Say on what a claim was checked, with the encoder."""
    return f"{finding.where} ({finding.encoder})" if finding.encoder else finding.where


def _is_sign_only(finding: Finding) -> bool:
    """Whether only the sign of a gain was checked: its size depends on the features, which are not the paper's."""
    gains = {relation.name for relation in load_relations() if relation.kind == "gain"}
    return finding.is_ours and finding.verdict == Verdict.HOLDS and finding.claim in gains


def summary(findings: Sequence[Finding]) -> str:
    """Count the verdicts on our records.

    >>> summary([Finding("a", "", "ours, as printed", Verdict.HOLDS, ""),
    ...          Finding("b", "", "ours, as printed", Verdict.VACUOUS, "")])
    'ours: 1 holds, 0 does not hold, 0 undecided, 1 vacuous, 0 not testable here'
    """
    counts = Counter(finding.verdict for finding in findings if finding.is_ours)
    return "ours: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict)
