"""The page of performance says what its record says, whatever the figures are."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import performance_page
import pytest
from hypothesis import given
from hypothesis import strategies as st
from performance_classes import arrival_bounds, many_classes
from performance_compiled import above_the_floor, compiled
from performance_growth import growth, steps_leave_out
from performance_learners import predicting
from performance_plot import draw, draw_ratios
from performance_ways import serving
from performance_words import join_words, span

import docs

RECORD: dict[str, Any] = json.loads(performance_page.RECORD.read_text())


def write(folder: Path, record: dict[str, Any]) -> Path:
    path = folder / "record.json"
    path.write_text(json.dumps(record))
    return path


def changed(**parts: Any) -> dict[str, Any]:
    """Return the record with other figures of some parts; None leaves a part out."""
    kept = {name: part for name, part in RECORD["parts"].items() if parts.get(name, part) is not None}
    for name, figures in parts.items():
        if figures is not None:
            kept[name] = {**kept[name], "figures": figures}
    return {**RECORD, "parts": kept}


def test_the_page_is_that_of_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = performance_page.page(write(tmp_path, RECORD))
    assert performance_page.PAGE.read_text() == made
    monkeypatch.setattr(docs, "DOCUMENTS", {"docs/performance.md": lambda: made + "\n"})
    monkeypatch.setattr(sys, "argv", ["docs.py", "--check"])
    assert docs.main() == 1
    assert "docs/performance.md" in capsys.readouterr().err


@pytest.mark.parametrize(("factor", "said"), [(0.01, "which is met"), (100.0, "which is not met")])
def test_an_aim_is_met_where_the_figures_say_so(tmp_path: Path, factor: float, said: str) -> None:
    figures = json.loads(json.dumps(RECORD["parts"]["learner"]["figures"]))
    for row in figures["learning"]:
        row["seconds"]["paper"] = factor * row["seconds"]["paper floor"]
    text = performance_page.page(write(tmp_path, changed(learner=figures)))
    sentence = next(line for line in text.splitlines() if line.startswith("At 100 classes"))
    assert f"the aim is 2, {said}" in sentence


def test_a_part_without_figures_is_named(tmp_path: Path) -> None:
    text = performance_page.page(write(tmp_path, changed(encoder=None)))
    assert "`python benchmarks/encoder.py` gave no figures" in text


def test_an_empty_record_makes_a_page(tmp_path: Path) -> None:
    text = performance_page.page(write(tmp_path, {"parts": {}}))
    assert text.count("gave no figures.") == sum(map(len, performance_page.SECTIONS.values()))


def test_a_failed_part_says_why_and_keeps_its_figures(tmp_path: Path) -> None:
    failed = {**RECORD["parts"]["encoder"], "problem": "it took longer than 60 s"}
    parts = {**RECORD["parts"], "encoder": failed, "service": {"problem": "it ended with exit code 1"}}
    text = performance_page.page(write(tmp_path, {**RECORD, "parts": parts}))
    assert "The last run of `benchmarks/encoder.py` gave none: it took longer than 60 s." in text
    assert "`python benchmarks/service.py` gave no figures: it ended with exit code 1." in text


def test_parts_of_two_machines_are_told_apart(tmp_path: Path) -> None:
    part = RECORD["parts"]["encoder"]
    machine = part.get("machine") or RECORD["machine"]
    other = {**part, "machine": {**machine, "processor": "Another"}}
    text = performance_page.page(write(tmp_path, {**RECORD, "parts": {**RECORD["parts"], "encoder": other}}))
    assert "\nencoder: Another, " in text


def with_classes(name: str, c: int, **other: float) -> dict[str, Any]:
    """Return a row of an estimator whose times grow in line with its classes."""
    row = {"estimator": name, "c": c, "classes arrive": 1e-4 * c, "batch": 0.010 + 1e-6 * c, "first top": 1.0}
    return {**row, "top": 1e-4 * c, "verdicts": 1.0, "state bytes": 1, "peak MB": 100 + 0.1 * c, **other}


def test_what_a_hundred_thousand_classes_take_lies_on_the_line_through_two_measurements() -> None:
    figures = [with_classes("paper", c, **{"classes arrive": 1e-8 * c**1.5}) for c in (1000, 10_000)]
    told = many_classes(figures)[-1]
    assert "Measured" not in told
    assert (
        "Computed for 100,000 classes, not measured: `paper` 0 to 1 s until all classes have arrived" in told
    )
    assert "110 ms for a batch of 50" in told
    assert "1 s for the first 1,000 questions after it, 10 s for the next, and 10.1 GB at the peak" in told
    assert "the line through the rows of 1,000 and 10,000 classes" in told
    assert "nothing is computed" in many_classes(figures[:1])[-1]
    assert "nothing is computed" in many_classes(figures[1:])[-1]


@given(*(st.floats(0, 1) for _ in range(3)))
def test_the_arrival_of_classes_lies_between_its_bounds(
    fixed: float, by_class: float, by_pair: float
) -> None:
    first, last, truth = (
        {"c": c, "classes arrive": 1e-3 + fixed + by_class * c + by_pair * c**2} for c in (1e3, 1e4, 1e5)
    )
    low, high = arrival_bounds(first, last, 100_000)
    assert low <= truth["classes arrive"] * (1 + 1e-9)
    assert high >= truth["classes arrive"] * (1 - 1e-9)


def test_what_is_measured_with_a_hundred_thousand_classes_is_told_apart_from_what_is_computed() -> None:
    figures = [with_classes(name, c) for c in (1000, 10_000) for name in ("paper", "closed form")]
    lean = {"classes arrive": 9.0, "batch": 0.002, "first top": 45.0, "top": 7.0, "peak MB": 2860.0}
    lines = many_classes([*figures, with_classes("closed form", 100_000, **lean)])
    measured, computed = lines[-1].split("Computed for 100,000 classes, not measured: ")
    assert "Measured with 100,000 classes: `closed form` 9 s until all classes have arrived, 2 ms" in measured
    assert "7 s for the next, and 2.9 GB at the peak" in measured
    assert "`paper` 10 to 100 s until all classes have arrived" in computed
    assert "`paper` 0.1 to 1.0 s from 1,000 to 10,000" in computed
    assert (
        "choose `closed form`, which learns them soonest and in the least memory, unless questions follow every "
        "lesson: `paper` answers 1,000 after a batch of 50 in 1 s, `closed form` in 45." in computed
    )
    assert any("38.0 s with 100,000 classes" in line for line in lines)
    lean["first top"] = 0.5
    told = many_classes([*figures, with_classes("closed form", 100_000, **lean)])[-1]
    assert "and in the least memory, and answers soonest after a lesson." in told


def test_what_the_closed_form_puts_off_is_told() -> None:
    row = with_classes("closed form", 10_000, **{"first top": 10.7, "top": 0.5, "lesson and top": 9.8})
    lines = many_classes([row])
    assert "| 9.800 |" in lines[2]
    assert any("which takes 10.2 s with 10,000 classes" in line for line in lines)


def test_what_steps_leave_out_is_told_with_the_ratio_of_a_stream() -> None:
    assert steps_leave_out({}).endswith("which a stream pays for.")
    stream = {"d": 1280, "c": 100, "batch": 50, "updates": 1000}
    figures: dict[str, Any] = {
        "classes": [{"c": 100, "seconds": {"paper": 0.002, "shared": 0.008}}],
        "samples": [
            {**stream, "estimator": "paper", "seconds": 0.003},
            {**stream, "estimator": "shared", "seconds": 0.020, "updates": 100},
            {**stream, "estimator": "shared", "seconds": 0.010},
            {**stream, "estimator": "paper", "d": 32, "seconds": 1.0},
        ],
    }
    told = steps_leave_out(figures)
    assert "With the scoring, in the last tenth of a stream of 1,000 batches" in told
    assert "`paper` takes 1.50 and `shared` 1.25 times" in told
    for row in figures["samples"]:
        row["since"] = row["updates"] // 10
    assert "With both, from batch 101 to 1,000 of a stream" in steps_leave_out(figures)


def test_the_service_is_read_from_what_its_script_writes() -> None:
    case = {"case": "mixed, packed", "body": "packed", "ratio": 0.61, "processor_ratio": 0.7}
    case |= {"requests_per_second": 900.0, "in_process_per_second": 1500.0, "errors": {"503": 2}}
    case |= {"p50_ms": {"learn": 20.0}, "p99_ms": {"learn": 40.0}}
    slow = {**case, "case": "learn, packed", "ratio": 0.3, "errors": {}}
    lines = serving({"clients": 32, "cases": [case, slow]})
    assert "| mixed, packed | 0.61 | 0.70 | 900 | 1,500 | learn 20 / 40 | 2 |" in lines
    assert "which is met in 1 of these 2 cases. " in lines[-1]
    assert "which is not met. " in serving({"clients": 32, "cases": [slow, slow]})[-1]
    assert "which is met. " in serving({"clients": 32, "cases": [case]})[-1]


def test_the_plots_are_the_same_for_the_same_figures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("one", "two"):
        draw(RECORD["parts"]["growth"]["figures"], tmp_path / f"{name}.svg")
        assert draw_ratios(RECORD["parts"], tmp_path / f"{name}-ratios.svg")
    for kind in ("", "-ratios"):
        assert (tmp_path / f"one{kind}.svg").read_text() == (tmp_path / f"two{kind}.svg").read_text()
    assert "the floor: products alone" in (tmp_path / "one.svg").read_text()
    assert "SGDClassifier" in (tmp_path / "one-ratios.svg").read_text()
    assert not draw_ratios({"learner": RECORD["parts"]["learner"]}, tmp_path / "none.svg")
    assert not (tmp_path / "none.svg").exists()


def in_runs(**runs: tuple[str, float, float]) -> dict[str, Any]:
    """Return the record with only these parts: of which run, begun at which load, with how many cores of others."""
    parts = {}
    for name, (run, load, others) in runs.items():
        kept = {
            key: value for key, value in RECORD["parts"][name].items() if key not in ("load before", "commit")
        }
        parts[name] = kept | {"run": run, "load at start": load, "others": others}
    return {"parts": parts}


def test_parts_of_different_runs_are_told_apart(tmp_path: Path) -> None:
    first, second = "2026-11-20T08:00:00+00:00", "2026-11-20T09:00:00+00:00"
    record = in_runs(encoder=(first, 0.05, 0.01), service=(first, 0.05, 0.02))
    text = performance_page.page(write(tmp_path, record))
    assert f"All parts are of one run, which began {first} at a load of 0.05." in text
    assert "while others kept 0.01 to 0.02 cores busy" in text
    assert "The machine had other work" not in text
    record = in_runs(encoder=(first, 0.05, 0.01), service=(second, 1.5, 0.9))
    text = performance_page.page(write(tmp_path, record))
    assert (
        f"**Parts are of different runs:** that of encoder began {first} at a load of 0.05; "
        f"that of service began {second} at a load of 1.50." in text
    )
    assert "**The machine had other work to do**" in text
    record["parts"]["start_up"] = {
        key: value for key, value in record["parts"]["encoder"].items() if key not in ("run", "figures")
    } | {"figures": RECORD["parts"]["start_up"]["figures"]}
    assert "Of start_up the record does not say the run." in performance_page.page(write(tmp_path, record))


def test_a_run_names_its_commit_where_the_record_does(tmp_path: Path) -> None:
    record = in_runs(encoder=("2026-11-20T08:00:00+00:00", 0.05, 0.01))
    encoder = record["parts"]["encoder"]
    for commit, said in (
        ("0123456789ab", "at a load of 0.05 from commit 0123456789ab."),
        ("0123456789ab-dirty", "from commit 0123456789ab with uncommitted changes."),
        (None, "at a load of 0.05."),
    ):
        encoder["commit"] = commit
        assert f"{said}\n" in performance_page.page(write(tmp_path, record))
    del encoder["commit"]
    assert "commit" not in performance_page.page(write(tmp_path, record))


def test_what_is_above_the_floor_and_what_numba_would_bring_follow_from_the_record() -> None:
    parts = {"moments numpy": 2.0, "pseudo numpy": 2.0, "moments numba": 0.5, "pseudo numba": 0.5}
    alone = {"d": 1280, "c": 100, "floor": 2.0, **parts}
    step = {"d": 1280, "c": 100, "batch": 50, "seconds": {"paper": 10.0, "paper floor": 2.0}}
    told = above_the_floor([step], [alone])
    assert "make up 0.50 (timed by themselves" in told
    assert "does not take the rest apart" in told
    lines = compiled([alone], [step])
    assert "| 1280 | 100 | 5.00 | 3.50 | 4.0 | 4.0 |" in lines
    assert "from 5.0 times its floor to 3.5, computed from what the loops save by themselves" in lines[-1]
    assert "the aim of 2 would still not be met" in lines[-1]
    whole = alone | {"step numpy": 6.0, "step numba": 3.0, "moments in a step": 1.5, "pseudo in a step": 1.5}
    whole |= {"seconds to compile": 2.5, "seconds to load": 0.4}
    assert "make up 0.75 (within a step" in above_the_floor([step], [whole])
    lines = compiled([whole], [step])
    assert "from 3.0 times its floor to 1.5; the aim of 2 would then be met" in lines[-1]
    assert "a new process takes 2.5 s, and 0.4 s where numba's cache" in lines[-1]
    assert above_the_floor([], []) == ""


def test_peers_that_predict_are_told_where_they_took_part() -> None:
    rows = json.loads(json.dumps(RECORD["parts"]["learner"]["figures"]["predicting"]))
    ours = ("paper", "shared", "closed form", "SGDClassifier")
    for row in rows:
        row["seconds"] = {name: value for name, value in row["seconds"].items() if name.startswith(ours)}
    lines = predicting({"predicting": rows})
    assert "torch" not in lines[0]
    assert "torch" not in lines[-1]
    assert "river" not in lines[-1]
    for row in rows:
        row["seconds"]["eager torch"] = 2 * row["seconds"]["paper"]
        if row["c"] <= 100:
            row["seconds"]["river GaussianNB"] = 300 * row["seconds"]["paper"]
    lines = predicting({"predicting": rows})
    assert "| eager torch / I2CANSAY | river GaussianNB / I2CANSAY |" in lines[0]
    assert sum("| 2.0 | 300.0 |" in line for line in lines) == sum(row["c"] <= 100 for row in rows)
    assert "Eager torch computes the paper's decision" in lines[-1]
    assert "times 1,000. It is left out above 100 classes." in lines[-1]


def test_growth_is_told_as_ratios() -> None:
    names = ("paper", "shared", "closed form")
    seconds = {name: 1.0 for kind in names for name in (kind, f"{kind} floor")}
    twice = {name: 2 * value for name, value in seconds.items()}
    rows = {
        name: [{key: 10, "seconds": seconds}, {key: 1000, "seconds": twice}]
        for name, key in (("classes", "c"), ("width", "d"), ("batch", "batch"))
    }
    lines = growth(rows)
    assert any(line.startswith("| classes, 10 to 1,000 | 100 | 2.0 | 2.0 | 2.0 |") for line in lines)


def test_words() -> None:
    assert join_words(["a"]) == "a"
    assert join_words(["a", "b", "c"]) == "a, b and c"
    assert span([2.44, 1.9]) == "1.9 to 2.4"
