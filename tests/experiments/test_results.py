"""The published results against the published records."""

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

from i2cansay.cli import app

ROOT = Path(__file__).parents[2]
RECORDS, PAGE = ROOT / "results", ROOT / "RESULTS.md"
pytestmark = pytest.mark.skipif(not (RECORDS.is_dir() and PAGE.is_file()), reason="no published results here")


def test_the_page_is_what_the_records_give() -> None:
    import result_pages

    for name, text in result_pages.pages(draw=False).items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: run `make docs`"


def test_the_shell_writes_the_same_page_to_the_byte(tmp_path: Path) -> None:
    for name in ("results", "benchmarks"):
        (tmp_path / name).symlink_to(ROOT / name)
    done = CliRunner().invoke(app, ["report", str(tmp_path / "results"), "--pages"])
    assert done.exit_code == 0, done.output
    for name in ("RESULTS.md", "docs/results/claims.md", "docs/results/orders.md"):
        assert (tmp_path / name).read_bytes() == (ROOT / name).read_bytes(), name


def test_pages_are_written_for_a_folder_that_declares_them_only(tmp_path: Path) -> None:
    def said(*words: str) -> str:
        done = CliRunner().invoke(app, ["report", str(tmp_path), "--pages", *words])
        return str(done.exception)

    assert "there is no pages.toml in" in said()
    assert "no other option" in said("--html", str(tmp_path / "r.html"))
    assert "no other option" in said("--seeds", "1")
    (tmp_path / "pages.toml").write_text("[records]\nmethods = []\n")
    assert "pages.toml cannot be used: KeyError" in said()


def test_how_near_print_is_counted_by_hand() -> None:
    """The first line of that table, from the counts in the file: Table 1, CIFAR-10, six columns of five seeds."""
    in_print = {
        ("step:2", 0.1): 79.7,
        ("step:1", 0.1): 79.9,
        ("gaussian", 0.1): 78.6,
        ("step:2", None): 82.9,
        ("step:1", None): 82.5,
        ("gaussian", None): 82.8,
    }
    values = defaultdict(list)
    for line in (ROOT / "benchmarks/records/resnet50.jsonl").read_text().splitlines():
        record = json.loads(line)
        cell, outcome = record["cell"], record["outcome"]
        if (cell["dataset"], cell["learner"], cell["parameters"]) == ("cifar10", "i2cansay", {}):
            right = sum(outcome["checkpoints"][-1]["correct"])
            values[cell["stream"], cell["fraction"]].append(100 * right / sum(outcome["test_counts"]))
    gaps = [sum(runs) / len(runs) - in_print[key] for key, runs in values.items()]
    assert len(gaps) == 6
    mean, low, high = (f"{each:+.1f}" for each in (sum(gaps) / 6, min(gaps), max(gaps)))
    assert f"| Table 1 | CIFAR-10 | 6 | {mean} | {low} | {high} | 5 |" in PAGE.read_text(encoding="utf-8")


def test_figures_counted_by_hand_stand_in_the_page() -> None:
    """Straight from the counts in the files, without any code of the package."""
    values = defaultdict(list)
    for file in RECORDS.glob("*.jsonl"):
        for line in file.read_text().splitlines():
            record = json.loads(line)
            cell, outcome = record["cell"], record["outcome"]
            setting = (cell["dataset"], cell["stream"], cell["learner"], cell["fraction"], cell["n_classes"])
            right = sum(outcome["checkpoints"][-1]["correct"])
            parameters = json.dumps(cell["parameters"], sort_keys=True)
            values[*setting, parameters, cell["every_session"]].append(
                100 * right / sum(outcome["test_counts"])
            )
    page = PAGE.read_text(encoding="utf-8")
    # The table of streams with many passes shows averages over sessions, not the last accuracy.
    last = {key: runs for key, runs in values.items() if "epochs" not in key[1]}
    plain = {key: runs for key, runs in last.items() if key[2] in ("naive", "i2cansay") and key[5] == "{}"}
    assert plain
    for key, runs in plain.items():
        mean = sum(runs) / len(runs)
        std = (sum((value - mean) ** 2 for value in runs) / (len(runs) - 1)) ** 0.5
        assert f"{mean:.1f} ± {std:.1f}" in page or f"{mean:.2f} ± {std:.2f}" in page, key


def test_every_number_of_ours_is_over_several_seeds() -> None:
    tables = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| I2CANSAY |")
    ]
    assert tables
    for line in tables:
        assert re.search(r"\d+\.\d ± \d+\.\d|\d+\.\d\d ± \d+\.\d\d", line)
