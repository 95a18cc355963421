"""Sentences about records: how they were made, and how many claims hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from i2cansay.experiments.claims.finding import PRINTED, Finding, Verdict
from i2cansay.experiments.report.plan_models import paired_records
from i2cansay.experiments.report.publication import Places
from i2cansay.experiments.report.report_findings import by_kind
from i2cansay.experiments.run.paired_difference import difference_of
from i2cansay.experiments.run.plan import Plan, TableRow
from i2cansay.experiments.run.record import Record

# Of one claim, and of several.
COUNTED = {
    Verdict.HOLDS: ("holds", "hold"),
    Verdict.FAILS: ("does not hold", "do not hold"),
    Verdict.UNDECIDED: ("is undecided", "are undecided"),
    Verdict.VACUOUS: ("is vacuous", "are vacuous"),
    Verdict.UNTESTABLE: ("cannot be tested here", "cannot be tested here"),
}


def provenance(records: Sequence[Record]) -> str:
    """Say what the records were made with."""
    encoders = sorted({str(record.cell["encoder"]) for record in records})
    datasets = sorted({str(record.cell["dataset"]) for record in records})
    versions = sorted({f"{name} {number}" for record in records for name, number in record.versions.items()})
    hours = sum(record.seconds for record in records) / 3600
    return (
        f"{len(records):,} records; data: {', '.join(datasets)}; encoder: {', '.join(encoders)}; "
        f"{hours:.1f} hours of wall-clock time over all cells, on a shared machine; {', '.join(versions)}. "
        f"Commits: {_commits(records)}."
    )


def _commits(records: Sequence[Record]) -> str:
    counts = Counter(record.commit or "none" for record in records)
    listed = ", ".join(f"{name} ({n:,})" for name, n in sorted(counts.items(), key=lambda x: (-x[1], x[0])))
    changed = any(name.endswith("-dirty") for name in counts)
    return f"{listed}; -dirty: with uncommitted changes" if changed else listed


def counted(findings: Sequence[Finding]) -> str:
    """Count the verdicts on the paper's claims with the rule as printed."""
    claims, _, _ = by_kind(findings)
    counts = Counter(each.verdict for each in claims if each.where == PRINTED)
    parts = [f"{n} {words[n != 1]}" for verdict, words in COUNTED.items() if (n := counts[verdict])]
    listed = " and ".join(
        [", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts or ["none is checked"]
    )
    return f"Of the paper's claims, checked on our records with the rule as printed, {listed}."


# Rows of the table of methods: ours, the yardsticks beside them, and the rivals that read the same features as ours.
BEST, SMALL, PAPER, JOINT, LAST_BEST = "stages_best", "stages_small", "paper", "stages_joint", "last_best"
RIVALS = (
    *(
        "stages_slda_oas",
        "stages_ridge",
        "stages_ranpac_5k",
        "stages_ranpac_5k_held_out",
        "stages_ranpac_10k",
    ),
    *("stages_foal", "stages_joint"),
)


def which_method(plan: Plan) -> str:
    """Say which method to use, by how much and at what size; "" if the rows for that are not played."""
    rows = {row.declared.name: row for row in plan.rows}
    ours = [rows.get(name) for name in (BEST, SMALL, PAPER, JOINT, LAST_BEST)]
    if not all(row is not None and row.records for row in ours):
        return ""
    best, small, paper, joint, last = (row for row in ours if row is not None)
    columns = [place for place, entry in enumerate(best.entries) if entry.records]

    def over(row: TableRow, other: TableRow) -> str:
        """Return the least and the largest mean difference, paired by seed."""
        means = [
            difference_of(pairs, row.entries[place].column.metric).mean
            for place in columns
            if (pairs := paired_records(row.entries[place], other.entries[place]))
        ]
        return f"{min(means):.1f} to {max(means):.1f}"

    def megabytes(row: TableRow) -> str:
        return f"{max(row.entries[place].records[0].state_bytes for place in columns) / 1e6:.0f} MB"

    lines = [
        f"- **`best`** ({megabytes(best)}) where accuracy counts. It is {over(best, paper)} points above the "
        f"paper's method. Of these, {over(last, paper)} come from the rule, both on the last layer, and "
        f"{over(best, last)} from reading the stages. Minus logistic regression that has all samples of the same "
        f"stages at once it comes to {over(best, joint)}.",
        f"- **`small`** ({megabytes(small)}) for many models or frequent lessons: {over(best, small)} points below.",
        f"- **`paper`** ({megabytes(paper)}) to compare with the paper, or where a few MB are too many.",
    ]
    return "\n".join(lines)


# Points by which pseudo-features would have to move the printed rule for the correction not to decide alone.
MOVED = 1.0


def what_parts_bring(tables: Sequence[Plan]) -> str:
    """Say what pseudo-features change under the rule as printed, and without its correction; "" if not played."""
    plan = next((table for table in tables if table.table.name == "generation"), None)
    if plan is None or plan.choice.dataset:
        return ""
    none, *some = range(len(plan.columns))

    def means(rows: Sequence[TableRow], places: Sequence[int]) -> list[float]:
        entries = (row.entries[place] for row in rows for place in places)
        return [entry.ours.mean for entry in entries if entry.ours is not None]

    printed_rule = [row for row in plan.rows if row.declared.variant is None]
    head = [row for row in plan.rows if row.declared.variant == "significance=False"]
    without, with_some = means(printed_rule, [none]), means(printed_rule, some)
    alone, alone_with = means(head, [none]), means(head, some)
    if not (without and with_some and alone and alone_with):
        return ""
    if max(with_some) - min(without) > MOVED:
        return ""
    return "\n\n".join(
        [
            "## What the parts of the paper's method bring",
            "On these features and with 100 classes the correction of Eq. 8 decides nearly alone. The printed rule "
            f"has {without[0]:.1f}% without any pseudo-features, and {min(with_some):.1f}% to "
            f"{max(with_some):.1f}% with {len(printed_rule)} kinds of them, whatever their number. So under the "
            "printed rule CIFAR-100 says little about pseudo-features. ICAN alone, without the correction, has "
            f"{alone[0]:.1f}% without them and {min(alone_with):.1f}% to {max(alone_with):.1f}% with them: that is "
            "where they are seen at work, and where the kinds can be compared. The figures are of the table on "
            "pseudo-feature generation below.",
        ]
    )


def fairness(places: Places, *, prompts: str) -> str:
    """Say what makes the comparison fair, and where it is not."""
    return "\n".join(
        [
            "- Rows that are compared see the same features (the row or its heading says which), and the same "
            "samples in the same order for the same seed. Differences are paired by seed. Replay methods have the "
            "memory that the paper gives them; models differ in size, and the tables have it.",
            "- Rates, temperatures and penalties were chosen on held-out training samples, and every sweep is kept: "
            f"[{places.compared}]({places.compared}#how-their-parameters-were-chosen). Exceptions: the distance of "
            "Eq. 7 in I2CANSAY and constants of the shared mode were first set with test figures in view, and "
            f"checked on held-out samples afterwards ([{places.distance}]({places.distance}), "
            f"[{places.constants}]({places.constants})); I2CANSAY has the paper's rate, and in Table 3, for which "
            "none is printed, one of ours; FearNet and ILUGAN "
            "keep on ResNet50 the rates that were chosen on EfficientNet-Lite0, and prompt methods on CIFAR-100 "
            "those that were chosen on CIFAR-10.",
            "- Seeds are declared beforehand: twenty for I2CANSAY, mostly five for others, fewer for slow methods. "
            "Fewer than five decide nothing. Some declarations came late; "
            f"[{places.statistics}]({places.statistics}) says which.",
            f"- The features are frozen. Methods that train prompts inside the network have [a table of their "
            f"own]({prompts}), on images of 96 px.",
        ]
    )
