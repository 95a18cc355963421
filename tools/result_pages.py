"""Write the pages that are made from records, or with --check say which of them are out of date.

    python tools/result_pages.py [--check]

RESULTS.md and its appendices in docs/results are made as a whole; in the pages about the shared mode a table stands
between ``<!-- table: NAME -->`` and ``<!-- end -->``, and whatever else is on the page is left alone. Drawings are
written but not compared: another version of matplotlib draws them with other bytes.
"""

import re
import sys
from pathlib import Path

from i2cansay.experiments import load_records
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.report.method_chart import draw_methods
from i2cansay.experiments.report.plan_models import differences_model, plan_model, seeds_model
from i2cansay.experiments.report.report_markdown import METHODS_TABLE, results_pages
from i2cansay.experiments.report.study_tables import StudyRuns, StudyTable, load_studies, load_study_runs
from i2cansay.experiments.report.table_model import to_markdown
from i2cansay.experiments.report.width_chart import draw_widths
from i2cansay.experiments.run.filling import RecordIndex, fill_table
from i2cansay.experiments.run.plan import Plan

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "benchmarks" / "records"
METHODS = [RECORDS / f"{name}.jsonl" for name in ("shared_mode", "stages", "resnet50")]
OFFLINE = RECORDS / "offline_resnet50.jsonl"
STUDIES = [
    RECORDS / f"{name}.jsonl"
    for name in ("shared_behaviour", "shared_choices", "shared_constants", "widths", "encoders")
]
IMAGE = "docs/images/methods.svg"
WIDTHS_IMAGE = "docs/images/widths.svg"
PAGES = ("docs/shared-mode.md", "docs/shared-mode-details.md", "docs/resnet50.md")
PLACE = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
GUIDE_ROWS = (
    *("paper", "shared", "wide", "slda_oas", "ridge", "ranpac_10k", "fecam", "joint"),
    *("stages_best", "stages_small", "stages_slda_oas", "stages_ridge"),
)


def tables(plans: dict[str, Plan], runs: StudyRuns) -> dict[str, str]:
    """Return every table by its name on the pages."""
    made: dict[str, str] = {"offline, resnet50": to_markdown(plan_model(plans.pop("table3")))}
    for name, plan in plans.items():
        short = name.removeprefix("shared-")
        made[f"accuracy, {short}"] = to_markdown(seeds_model(plan))
        for row in plan.table.minus:
            made[f"{row} minus others, {short}"] = to_markdown(differences_model(plan, row))
    made["resnet50"] = to_markdown(plan_model(plans["resnet50"]))
    made["guide"] = to_markdown(seeds_model(plans[METHODS_TABLE], rows=GUIDE_ROWS, seconds=True))
    made |= {study.name: titled(study, runs) for study in load_studies()}
    return made


def titled(study: StudyTable, runs: StudyRuns) -> str:
    """Return the table of a study with its heading."""
    return f"### {study.title}\n\n{to_markdown(study.model(runs))}"


def pages(*, draw: bool) -> dict[str, str]:
    """Return every page by its name, and write the drawing where asked to."""
    methods = load_records(*METHODS)
    index = RecordIndex(methods)
    names = (METHODS_TABLE, "shared-gaussian", "shared-ablation", "resnet50")
    plans = {name: fill_table(load_table(name), index, Choice()) for name in names}
    # Not among the records of the paper's tables: every claim would be listed again as not testable on this encoder.
    chosen = Choice(dataset="cifar100", encoder="resnet50_keras")
    plans["table3"] = fill_table(load_table("table3"), RecordIndex(load_records(OFFLINE)), chosen)
    runs = load_study_runs(STUDIES)
    made = tables(plans, runs)
    texts = dict(
        results_pages(
            load_records(ROOT / "results"), methods, folder="docs/results", image=IMAGE, more=PAGES[0]
        )
    )
    for name in PAGES:
        before = (ROOT / name).read_text(encoding="utf-8")
        texts[name] = PLACE.sub(lambda place: f"{place[1]}\n{made[place[2]]}\n\n{place[3]}", before)
    if draw:
        draw_methods(plans[METHODS_TABLE], ROOT / IMAGE)
        draw_widths(runs, ROOT / WIDTHS_IMAGE)
    return texts


def main() -> int:
    """Write or check every page; return the exit code."""
    stale = []
    check = "--check" in sys.argv
    for name, text in pages(draw=not check).items():
        path = ROOT / name
        if check:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(name)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    if stale:
        print(f"not what the records say: {', '.join(stale)}; run `make docs`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
