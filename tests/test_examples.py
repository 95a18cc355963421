"""The examples run as they are, and print what they are there to show."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

FOLDER = Path(__file__).parents[1] / "examples"


def run(
    name: str, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    monkeypatch.setattr("sys.argv", [name, *words])
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    return capsys.readouterr().out


def test_teach_features(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("teach_features.py", [], monkeypatch, capsys)
    accuracies = [int(number) for number in re.findall(r"classes: (\d+)%", printed)]
    assert len(accuracies) == 5
    assert min(accuracies) > 85
    assert "it knows [0, 1, 2, 3, 4, 5, 6, 8, 9]" in printed


def test_teach_images(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("teach_images.py", [], monkeypatch, capsys)
    assert re.findall(r"(\d) of 3 new pieces are right", printed) == ["3", "3"]
    assert "nothing was learnt: 1 image cannot be used" in printed
    assert "learnt 1, skipped {1: " in printed


def test_compare_on_your_features(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = load_digits(n_class=4, return_X_y=True)
    np.savez(tmp_path / "train.npz", X=X[:500] / 16, y=y[:500])
    np.savez(tmp_path / "test.npz", X=X[500:] / 16, y=y[500:])
    words = [str(tmp_path / "train.npz"), str(tmp_path / "test.npz")]
    rows = {
        line.split()[0]: line.split()[1:]
        for line in run("compare_on_your_features.py", words, monkeypatch, capsys).splitlines()
    }
    assert float(rows["slda"][0]) > 80
    assert float(rows["naive"][0]) < 60


@pytest.mark.slow
def test_concepts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path))
    printed = {}
    for path in sorted((FOLDER / "concepts").glob("*.py")):
        printed[path.stem] = run(f"concepts/{path.name}", [], monkeypatch, capsys)
    assert set(printed) == {"moments", "pseudo_features", "significance", "shared_covariance"}
    shares = {name: [int(share) for share in re.findall(r"(\d+)%", text)] for name, text in printed.items()}
    assert shares["moments"][0] > shares["moments"][1] > shares["moments"][2], "a mean gets better"
    assert min(shares["pseudo_features"]) > 80, "pseudo-features look like their class"
    ends = {
        line.split()[0]: int(line.split()[-1][:-1]) for line in printed["shared_covariance"].splitlines()[1:]
    }
    assert ends["best"] > ends["ncm"] + 5, "the shared covariance brings much"


def test_every_example_is_tested_and_named_in_the_readme() -> None:
    readme = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    here = Path(__file__).read_text(encoding="utf-8")
    for path in FOLDER.glob("*.py"):
        assert f"examples/{path.name}" in readme
        assert f'"{path.name}"' in here
