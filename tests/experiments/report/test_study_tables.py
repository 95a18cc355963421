"""Declared tables of studies, and what stands in them."""

import json
from pathlib import Path

from i2cansay.experiments.report.study_tables import StudyColumn, StudyTable, load_studies, load_study_runs
from i2cansay.experiments.report.table_model import to_markdown

BY_ROW = StudyTable(
    "a",
    "t",
    "T",
    seeds=2,
    digits=1,
    rows=("x", "y"),
    columns=(StudyColumn("one", "1", "v"), StudyColumn("two", "2", "v")),
)


def test_a_place_is_the_mean_over_its_seeds_and_says_what_is_missing() -> None:
    runs = {("t", "x, 1", 0): {"v": 1.0}, ("t", "x, 1", 1): {"v": 3.0}, ("t", "y, 2", 0): {"v": 5.0}}
    lines = to_markdown(BY_ROW.model(runs)).splitlines()
    assert lines[2:] == ["| x | 2.0 ± 1.4 | - |", "| y | - | 5.0 (1 of 2) |"]


def test_without_rows_the_values_are_the_rows() -> None:
    study = StudyTable(
        "a", "t", "T", seeds=1, digits=2, columns=(StudyColumn("one", "1"), StudyColumn("two", "2"))
    )
    runs = {("t", "1", 0): {"p": 1.0, "q": 2.0}, ("t", "2", 0): {"p": 3.0, "q": 4.0}}
    assert to_markdown(study.model(runs)).splitlines()[2:] == ["| p | 1.00 | 3.00 |", "| q | 2.00 | 4.00 |"]


def test_values_are_compared_seed_by_seed_with_the_one_that_is_named() -> None:
    study = StudyTable("a", "t", "T", seeds=2, digits=1, columns=(StudyColumn("one", "1"),), minus="q")
    runs = {("t", "1", 0): {"p": 11.0, "q": 10.0}, ("t", "1", 1): {"p": 23.0, "q": 20.0}}
    assert to_markdown(study.model(runs)).splitlines()[2:] == ["| p | +2.0 ± 1.4 |", "| q | 15.0 ± 7.1 |"]


def test_a_column_may_have_seeds_of_its_own() -> None:
    study = StudyTable(
        "a", "t", "T", seeds=2, digits=1, columns=(StudyColumn("one", "1"), StudyColumn("two", "2", seeds=1))
    )
    runs = {("t", "1", 0): {"p": 1.0}, ("t", "2", 0): {"p": 3.0}}
    assert to_markdown(study.model(runs)).splitlines()[2:] == ["| p | 1.0 (1 of 2) | 3.0 |"]


def test_runs_are_read_by_table_name_and_seed(tmp_path: Path) -> None:
    line = {"table": "t", "run": "1", "seed": 3, "values": {"p": 1.5}, "commit": None}
    (tmp_path / "runs.jsonl").write_text(json.dumps(line) + "\n")
    assert load_study_runs([tmp_path / "runs.jsonl"]) == {("t", "1", 3): {"p": 1.5}}


def test_names_are_unique() -> None:
    names = [study.name for study in load_studies()]
    assert len(set(names)) == len(names)
