"""Write the pages that are made from records, or with --check say which of them are out of date.

    python tools/result_pages.py [--check]

RESULTS.md and its appendices in docs/results are made as a whole; in the pages about the shared mode a table stands
between ``<!-- table: NAME -->`` and ``<!-- end -->``, and whatever else is on the page is left alone. A figure in a
sentence is followed by its source: ``73.7%<!-- figure: stages_best / CIFAR-100 30% -->`` is the mean of that row and
column of `shared-step`, ``91.4<!-- figure: encoders / NAME, cifar10 / best -->`` that of a value of a study's run.
Drawings are written but not compared: another version of matplotlib draws them with other bytes.
"""

import re
import sys
from pathlib import Path

from i2cansay.experiments import load_records
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.report.lesson_chart import draw_lessons
from i2cansay.experiments.report.method_chart import draw_methods
from i2cansay.experiments.report.plan_models import differences_model, plan_model, seeds_model
from i2cansay.experiments.report.publication import METHODS_TABLE, ON_BACKBONE, Publication
from i2cansay.experiments.report.report_markdown import results_pages
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
PAGES = (
    *("docs/shared-mode.md", "docs/shared-mode-details.md", "docs/resnet50.md", "docs/distance.md"),
    *("README.md", "docs/choosing.md"),
)
DISTANCE = RECORDS / "distance.jsonl"
PLACE = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
FIGURE = re.compile(r"\d+\.\d+(%?<!-- figure: (.+?) -->)")
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


def figure(place: str, plan: Plan, runs: StudyRuns) -> str:
    """Return the figure of a place: row and column of the table of methods, or table, run and value of a study."""
    match place.split(" / "):
        case [row, column]:
            (entry,) = (
                entry
                for each in plan.rows
                if each.declared.name == row
                for entry in each.entries
                if entry.column.name == column
            )
            if entry.ours is None:
                raise ValueError(f"{place}: not played")
            return f"{entry.ours.mean:.1f}"
        case [table, run, value]:
            found = [each[value] for (*key, _), each in runs.items() if key == [table, run] and value in each]
            return f"{sum(found) / len(found):.1f}"
        case _:
            raise ValueError(f"expected ROW / COLUMN or TABLE / RUN / VALUE, got {place!r}")


def with_figures(text: str, plan: Plan, runs: StudyRuns) -> str:
    """Return a text with the figures of its sentences as the records have them."""
    return FIGURE.sub(lambda found: figure(found[2], plan, runs) + found[1], text)


def pages(*, draw: bool) -> dict[str, str]:
    """Return every page by its name, and write the drawing where asked to."""
    published = Publication.load(PUBLISHED)
    plans = {
        name: published.plan(name) for name in (METHODS_TABLE, "shared-gaussian", "shared-ablation")
    } | dict(published.backbone_plans())
    distances = RecordIndex(load_records(DISTANCE))
    plans["tuning-i2cansay"] = fill_table(load_table("tuning-i2cansay"), distances, Choice())
    runs = load_study_runs(STUDIES)
    made = tables(plans, runs)
    texts = dict(results_pages(published))
    for name in PAGES:
        before = (ROOT / name).read_text(encoding="utf-8")
        filled = PLACE.sub(lambda place: f"{place[1]}\n{made[place[2]]}\n\n{place[3]}", before)
        texts[name] = with_figures(filled, plans[METHODS_TABLE], runs)
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
