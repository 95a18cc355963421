"""What the records say in words: how they were made, and what holds and what does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from i2cansay.experiments.claims.finding import OURS, PRINTED, Finding, Verdict
from i2cansay.experiments.declare.declaration import DECLARED
from i2cansay.experiments.declare.plan import Plan
from i2cansay.experiments.declare.relation import load_relations
from i2cansay.experiments.run.record import Record

# No record holds how long a whole run took by the clock; this one was looked at.
LOW_DATA_RUN = ("efficientnet-lite0", 120, "2:10 minutes on 2 cores, measured once with other work going on")


def provenance(records: Sequence[Record]) -> str:
    """Say what the records were made with."""
    encoders = sorted({str(record.cell["encoder"]) for record in records})
    datasets = sorted({str(record.cell["dataset"]) for record in records})
    versions = sorted({f"{name} {number}" for record in records for name, number in record.versions.items()})
    hours = sum(record.seconds for record in records) / 3600
    return (
        f"{len(records):,} records; data: {', '.join(datasets)}; encoder: {', '.join(encoders)}; "
        f"{hours:.1f} hours of cell time by the clock, on a shared machine; {', '.join(versions)}. "
        f"Commits: {_commits(records)}."
    )


def _commits(records: Sequence[Record]) -> str:
    counts = Counter(record.commit or "none" for record in records)
    listed = ", ".join(f"{name} ({n:,})" for name, n in sorted(counts.items(), key=lambda x: (-x[1], x[0])))
    changed = any(name.endswith("-dirty") for name in counts)
    return f"{listed}; -dirty: with changes that were not committed" if changed else listed


def low_data_cost(tables: Sequence[Plan]) -> str:
    """Say what Table 1's low-data cells of the paper's method took; nothing where they were not played."""
    sentences = []
    for table in tables:
        if table.table.name != "table1" or table.choice.dataset or table.choice.fraction:
            continue
        rows = [row for row in table.rows if row.declared.name == "i2cansay_low"]
        played = {record.key: record for row in rows for record in row.records}
        if not played:
            continue
        encoders = ", ".join(sorted({str(record.cell["encoder"]) for record in played.values()}))
        seconds = sum(record.seconds for record in played.values())
        text = (
            f"The {len(played)} low-data cells of I2CANSAY in Table 1 ({encoders}): {seconds:.0f} seconds of cell "
            "time in all, from the records"
        )
        encoder, n, took = LOW_DATA_RUN
        if (encoders, len(played)) == (encoder, n):
            text += f"; a run of all of them took {took} (not from the records)"
        sentences.append(f"{text}.")
    return " ".join(sentences)


def honest(findings: Sequence[Finding]) -> list[str]:
    """Return what our records say with the rule as printed, then its variants, then the paper against itself."""
    numbers = {f"{name}-numbers" for name in DECLARED}
    ours = {relation.name for relation in load_relations() if relation.ours}
    claims = [each for each in findings if each.claim not in numbers | ours]
    printed = [each for each in claims if each.where == PRINTED]
    variants = [each for each in claims if each.is_ours and each.where != PRINTED]
    relations = [each for each in findings if each.claim in ours]
    counts = Counter(each.verdict for each in printed)
    opening = (
        f"Of the paper's claims, asked of our records with the rule as printed, {counts[Verdict.HOLDS]} hold, "
        f"{counts[Verdict.FAILS]} do not, {counts[Verdict.UNDECIDED]} are undecided, {counts[Verdict.VACUOUS]} "
        f"are vacuous and {counts[Verdict.UNTESTABLE]} cannot be tested here. What changes few predictions says "
        "so: such a comparison is close to vacuous. The variants without the correction of Eq. 8 "
        '(`significance=False`) and with one that does not grow with the classes (`bias_scale="mean"`) are asked '
        "as well. Relations of our own are listed apart and not counted."
    )
    fails, holds = Verdict.FAILS, Verdict.HOLDS
    return [
        opening,
        *_listed("Holds:", _having(printed, holds)),
        *_listed("Does not hold:", _having(printed, fails)),
        *_listed("Undecided:", _having(printed, Verdict.UNDECIDED)),
        *_listed("Vacuous:", _having(printed, Verdict.VACUOUS)),
        *_listed("Does not hold with a variant of the rule:", _having(variants, fails)),
        *_listed("Undecided with a variant of the rule:", _having(variants, Verdict.UNDECIDED)),
        *_listed("Relations of our own, which the paper does not claim:", relations, with_verdict=True),
        *_listed(
            "The paper's text against its own tables, where they differ:",
            _having([each for each in claims if not each.is_ours], fails),
        ),
        *_listed(
            "The printed numbers against ours:",
            [each for each in findings if each.claim in numbers],
            with_verdict=True,
        ),
        *_listed("Not testable here:", _having(printed, Verdict.UNTESTABLE)),
    ]


def _having(findings: Sequence[Finding], verdict: Verdict) -> list[Finding]:
    return [each for each in findings if each.verdict == verdict]


def _listed(opening: str, findings: Sequence[Finding], *, with_verdict: bool = False) -> list[str]:
    if not findings:
        return []
    lines = []
    for each in findings:
        verdict = f"{each.verdict}: " if with_verdict else ""
        lines.append(f"- **{each.says}**{_where(each)}: {verdict}{each.detail}{_sign_only(each)}")
    return [opening, "\n".join(lines)]


def _where(finding: Finding) -> str:
    if finding.where == PRINTED:
        return ""
    return f" (`{finding.where.removeprefix(OURS)}`)" if finding.is_ours else f" ({finding.where})"


def _sign_only(finding: Finding) -> str:
    """Say that a gain was asked for its sign: how large it is depends on the features, which are not the paper's."""
    gains = {relation.name for relation in load_relations() if relation.kind == "gain"}
    if not finding.is_ours or finding.verdict != Verdict.HOLDS or finding.claim not in gains:
        return ""
    return " (holds in sign; the size is not tested)"
