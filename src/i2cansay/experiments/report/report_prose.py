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
# Records do not tell how long a whole run took; this one was timed by hand.
LOW_DATA_RUN = ("efficientnet-lite0", 120, "2:10 minutes on 2 cores, measured once with other work going on")


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


def low_data_cost(tables: Sequence[Plan]) -> str:
    """Say how long the low-data cells of the paper's method in Table 1 took; "" if they were not played."""
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
            f"The {len(played)} low-data cells of I2CANSAY in Table 1 ({encoders}) took {seconds:.0f} seconds "
            "together, by the records"
        )
        encoder, n, took = LOW_DATA_RUN
        if (encoders, len(played)) == (encoder, n):
            text += f"; a run of all of them took {took}"
        sentences.append(f"{text}.")
    return " ".join(sentences)


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
BEST, SMALL, PAPER, JOINT = "stages_best", "stages_small", "paper", "joint"
RIVALS = {
    "stages_slda_oas": "SLDA",
    "stages_ridge": "ridge",
    "stages_ranpac_5k": "RanPAC 5,000 (GCV)",
    "stages_ranpac_5k_held_out": "RanPAC 5,000 (penalty held out)",
    "stages_ranpac_10k": "RanPAC 10,000",
    "stages_foal": "F-OAL",
    "stages_joint": "`joint`, which has all samples at once,",
}


def which_method(plan: Plan) -> str:
    """Say which method to use, by how much and at what size; "" if the rows for that are not played."""
    rows = {row.declared.name: row for row in plan.rows}
    ours = [rows.get(name) for name in (BEST, SMALL, PAPER, JOINT)]
    if not all(row is not None and row.records for row in ours):
        return ""
    best, small, paper, joint = (row for row in ours if row is not None)
    columns = [place for place, entry in enumerate(best.entries) if entry.records]
    names = ", ".join(plan.columns[place].name for place in columns)

    def figures(row: TableRow) -> str:
        return ", ".join(f"{entry.ours.mean:.1f}" for place in columns if (entry := row.entries[place]).ours)

    def over(row: TableRow, other: TableRow) -> str:
        """Return the least and the largest mean difference, paired by seed; say where a seed is drawn once only."""
        means, drawn_once = [], False
        for place in columns:
            mine, theirs = row.entries[place], other.entries[place]
            if pairs := paired_records(mine, theirs):
                means.append(difference_of(pairs, mine.column.metric).mean)
                drawn_once = drawn_once or (len(pairs) == 1 and not (mine.fixed and theirs.fixed))
        return f"{min(means):.1f} to {max(means):.1f}{' (in part of one seed)' if drawn_once else ''}"

    def megabytes(row: TableRow) -> str:
        return f"{max(row.entries[place].records[0].state_bytes for place in columns) / 1e6:.0f} MB"

    beside = rows.get("stages_analogies")
    analogies = (
        f" With analogies, which make it depend on the order, it has {figures(beside)}."
        if beside is not None and all(beside.entries[place].records for place in columns)
        else ""
    )
    rivals = "; ".join(
        f"{title} {over(best, rows[name])}"
        for name, title in RIVALS.items()
        if name in rows and all(rows[name].entries[place].records for place in columns)
    )
    lines = [
        f"Last accuracy on {names}, in percent. Differences are in points, over these columns.",
        f"- **The most accurate by name: `best`**, {figures(best)}, in {megabytes(best)}. It is above the paper's "
        f"rule on the last layer by {over(best, paper)}, and above logistic regression that has all samples of the "
        f"last layer at once by {over(best, joint)}.{analogies}",
        f"- **Many models, frequent lessons: `small`**, {figures(small)}, in {megabytes(small)}.",
        f"- **The paper's method: `paper`**, {figures(paper)}, in {megabytes(paper)}. It takes the least "
        "memory of the three, and keeps no square matrix from which few samples could be read.",
        *([f"- **Rivals on the same stages**, `best` minus theirs: {rivals}."] if rivals else []),
    ]
    return "\n".join([lines[0], "", *lines[1:]])


def fairness(places: Places, *, prompts: str) -> str:
    """Say what makes the comparison fair, and where it is not."""
    return "\n".join(
        [
            "- All methods of a table see the same features and transforms, the same samples in the same order "
            "for the same seed, and the memory that the paper gives them. Differences are paired by seed.",
            "- What depends on the features (rates, temperatures, penalties) was chosen on held-out training "
            "samples, and every sweep is kept: "
            f"[{places.compared}]({places.compared}#how-their-parameters-were-chosen). Two exceptions, both ours: "
            "the distance of Eq. 7 in I2CANSAY, and constants of the shared mode, were first set with test "
            f"figures in view and checked on held-out samples afterwards ([{places.distance}]({places.distance}), "
            f"[{places.constants}]({places.constants})).",
            "- Seeds are declared beforehand, twenty for I2CANSAY and mostly five for others; slow methods have "
            f"fewer, and fewer than five decide nothing: [{places.statistics}]({places.statistics}).",
            f"- The features are frozen. Methods that train prompts inside the network have [a table of their "
            f"own]({prompts}), on images of 96 px.",
        ]
    )
