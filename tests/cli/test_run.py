"""`i2cansay run` and `i2cansay demo`: tables of real runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from typer.testing import CliRunner

import i2cansay
from i2cansay.cli import app
from i2cansay.evaluate import Outcome, last_accuracy


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("features")
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float16)
    np.savez(folder / "train.npz", F=X[:1000], y=y[:1000])
    np.savez(folder / "test.npz", F=X[1000:1300], y=y[1000:1300])
    return str(folder / "train.npz"), str(folder / "test.npz")


def test_run_prints_a_row_per_learner_and_writes_the_outcomes(files: tuple[str, str], tmp_path: Path) -> None:
    train, test = files
    out = tmp_path / "outcomes.json"
    words = ["run", train, "--test", test, "--learner", "i2cansay", "--learner", "ncm", "--stream", "step:2"]
    result = CliRunner().invoke(app, [*words, "--seeds", "2", "--json", str(out)])
    assert result.exit_code == 0, result.output
    assert "i2cansay" in result.output
    assert "ncm" in result.output
    records = json.loads(out.read_text())
    accuracies = [last_accuracy(Outcome.from_dict(record)) for record in records["i2cansay"]]
    assert len(accuracies) == 2
    assert min(accuracies) > 0.8
    assert f"{100 * np.mean(accuracies):.1f}" in result.output


def test_run_takes_settings_and_fractions(files: tuple[str, str]) -> None:
    train, test = files
    words = [
        "run",
        train,
        "--test",
        test,
        "--fraction",
        "0.3",
        "--set",
        "significance=false",
        "--set",
        "pseudo=none",
    ]
    forgetful = CliRunner().invoke(app, words)
    assert forgetful.exit_code == 0, forgetful.output
    row = next(line for line in forgetful.output.splitlines() if line.strip().startswith("i2cansay"))
    assert float(row.split()[1]) < 50
    assert "30%" in forgetful.output


def test_run_refuses_what_it_does_not_know(files: tuple[str, str]) -> None:
    train, test = files
    for words in (
        ["--learner", "oracle"],
        ["--stream", "spiral"],
        ["--set", "speed=1"],
        ["--stream", "step:x"],
    ):
        result = CliRunner().invoke(app, ["run", train, "--test", test, *words])
        assert isinstance(result.exception, ValueError)


def test_the_demo_ends_with_a_table_a_plot_and_what_to_try_next(tmp_path: Path) -> None:
    plot = tmp_path / "demo.png"
    words = ["demo", "--encoder", "pixels", "--seeds", "1", "--plot", str(plot)]
    result = CliRunner(env={"I2CANSAY_CACHE": str(tmp_path / "cache")}).invoke(app, words)
    assert result.exit_code == 0, result.output
    for word in ("best", "i2cansay", "naive", "ncm", "slda", "joint (offline)", "Next:"):
        assert word in result.output
    assert "Every row reads the same 192 features, their square roots." in result.output
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert plot.stat().st_size > 20_000


@pytest.mark.parametrize(
    ("missing", "extras"), [(["PIL", "matplotlib"], "images,plot"), (["matplotlib"], "plot")]
)
def test_the_demo_names_all_it_lacks_at_once(
    missing: list[str], extras: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in missing:
        monkeypatch.setitem(sys.modules, module, None)
    result = CliRunner().invoke(app, ["demo"])
    assert isinstance(result.exception, ImportError)
    assert f'pip install "i2cansay[{extras}]"' in str(result.exception)


def test_it_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "i2cansay", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, f"i2cansay {i2cansay.__version__}\n"), result.stderr


def test_version_and_help() -> None:
    assert CliRunner().invoke(app, ["--version"]).output.startswith("i2cansay 0.")
    assert "keeps learning" in CliRunner().invoke(app, ["--help"]).output


def test_a_buffer_is_told(files: tuple[str, str]) -> None:
    train, test = files
    result = CliRunner().invoke(app, ["run", train, "--test", test, "--set", "memory_size=20"])
    row = next(line for line in result.output.splitlines() if line.strip().startswith("i2cansay"))
    assert row.split()[-1] == "yes"
