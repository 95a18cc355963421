"""Write the pages that are made from records, or with --check say which of them are out of date.

    python tools/result_pages.py [--check]

RESULTS.md and its appendices in docs/results are made as a whole; in README.md and the pages of docs/ a table stands
between ``<!-- table: NAME -->`` and ``<!-- end -->``, and whatever else is on the page is left alone. A figure in a
sentence is followed by its place, as `page_figures.py` says.
Drawings are written but not compared: another version of matplotlib draws them with other bytes.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from figure_sources import hand_written
from page_figures import Figures

from i2cansay.experiments import load_records
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.report.lesson_chart import draw_lessons
from i2cansay.experiments.report.method_chart import draw_methods
from i2cansay.experiments.report.plan_models import differences_model, plan_model, seeds_model
from i2cansay.experiments.report.publication import (
    BACKBONE_TABLE,
    METHODS_TABLE,
    ON_BACKBONE,
    Publication,
)
from i2cansay.experiments.report.report_markdown import results_pages
from i2cansay.experiments.report.report_tables import measure_all
from i2cansay.experiments.report.study_tables import StudyRuns, StudyTable, load_studies, load_study_runs
from i2cansay.experiments.report.table_model import to_markdown
from i2cansay.experiments.report.width_chart import draw_widths
from i2cansay.experiments.run.filling import RecordIndex, fill_table
from i2cansay.experiments.run.plan import Plan

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "benchmarks" / "records"
PUBLISHED = ROOT / "results"
STUDIES = [
    RECORDS / f"{name}.jsonl"
    for name in (
        *("shared_behaviour", "shared_choices", "shared_constants"),
        *("stage_choice", "widths", "encoders"),
    )
]
WIDTHS_IMAGE = "docs/images/widths.svg"
LESSONS_IMAGE = "docs/images/lesson-cost.svg"
DISTANCE = RECORDS / "distance.jsonl"
PLACE = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
GUIDE_ROWS = (
    *("paper", "shared", "wide", "slda_oas", "ridge", "ranpac_10k", "fecam_once", "joint"),
    *("stages_best", "stages_small", "stages_slda_oas", "stages_ridge"),
)


def tables(plans: dict[str, Plan], runs: StudyRuns) -> dict[str, str]:
    """Return every table by its name on the pages."""
    made = {f"{name}, resnet50": to_markdown(plan_model(plans.pop(name))) for name in ON_BACKBONE}
    for name, plan in plans.items():
        short = name.removeprefix("shared-")
        made[f"accuracy, {short}"] = to_markdown(seeds_model(plan))
        for row in plan.table.minus:
            made[f"{row} minus others, {short}"] = to_markdown(differences_model(plan, row))
    made["resnet50"] = to_markdown(plan_model(plans["resnet50"]))
    made["distance"] = to_markdown(seeds_model(plans["tuning-i2cansay"]))
    made["distance, differences"] = to_markdown(
        differences_model(plans["tuning-i2cansay"], "distance=euclidean")
    )
    made["guide"] = to_markdown(seeds_model(plans[METHODS_TABLE], rows=GUIDE_ROWS))
    made |= {study.name: titled(study, runs) for study in load_studies()}
    return made


def titled(study: StudyTable, runs: StudyRuns) -> str:
    """Return the table of a study with its heading."""
    return f"### {study.title}\n\n{to_markdown(study.model(runs))}"


def figured_plans(published: Publication, plans: Mapping[str, Plan]) -> dict[str, Plan]:
    """Return the tables that sentences take figures from: `table3` and so on, `table3 on resnet50`, `prompts`."""
    on_backbone = {f"{name} on {BACKBONE_TABLE}": plans[name] for name in ON_BACKBONE}
    papers = {plan.table.name: plan for plan in measure_all(published.records)}
    return dict(plans) | on_backbone | papers | {"prompts": published.prompts_plan()}


def pages(*, draw: bool) -> dict[str, str]:
    """Return every page by its name, and write the drawing where asked to."""
    published = Publication.load(PUBLISHED)
    plans = {
        name: published.plan(name) for name in (METHODS_TABLE, "shared-gaussian", "shared-ablation")
    } | dict(published.backbone_plans())
    distances = RecordIndex(load_records(DISTANCE))
    plans["tuning-i2cansay"] = fill_table(load_table("tuning-i2cansay"), distances, Choice())
    runs = load_study_runs(STUDIES)
    figures = Figures(figured_plans(published, plans), runs)
    made = tables(plans, runs)
    texts = dict(results_pages(published))
    for path in hand_written(ROOT):
        before = path.read_text(encoding="utf-8")
        filled = PLACE.sub(lambda place: f"{place[1]}\n{made[place[2]]}\n\n{place[3]}", before)
        texts[path.relative_to(ROOT).as_posix()] = figures.fill(filled)
    if draw:
        draw_methods(plans[METHODS_TABLE], ROOT / published.places.image)
        draw_widths(runs, ROOT / WIDTHS_IMAGE)
        draw_lessons(plans[METHODS_TABLE], runs, ROOT / LESSONS_IMAGE)
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
