"""A wrong path is told at once: before anything heavy is imported, with what may have been meant."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from i2cansay.cli.folders import check_folder, check_folder_of, check_there

HEAVY = ("sklearn", "scipy", "PIL", "onnxruntime", "matplotlib", "fastapi", "i2cansay.experiments.report")
# Runs a command line and prints its exit code and which heavy modules it has imported.
PROBE = f"""
import json, sys
from i2cansay.cli import main
sys.argv = ["i2cansay", *json.loads(sys.argv[1])]
try:
    main()
except SystemExit as end:
    print(json.dumps([end.code, [name for name in {HEAVY} if name in sys.modules]]))
"""


def run(folder: Path, *words: str) -> tuple[int, list[str], str]:
    """Return the exit code, the heavy modules that were imported, and what was printed to stderr."""
    command = [sys.executable, "-c", PROBE, json.dumps(words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    code, heavy = json.loads(done.stdout.splitlines()[-1])
    return code, heavy, done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["demo", "--data", "nowhere"], "there is no folder nowhere"),
        (["demo", "--plot", "nowhere/x.png"], "there is no folder nowhere to write x.png to"),
        (["run", "rows.csv", "--test", "nowhere.csv"], "there is no file nowhere.csv; expected CSV"),
        (["reproduce", "table1", "--data", "nowhere"], "there is no folder nowhere"),
        (["report", "nowhere"], "there are no records at nowhere; make some"),
        (["report", ".", "--html", "nowhere/x.html"], "there is no folder nowhere to write x.html to"),
        (["verify", "nowhere"], "there are no records at nowhere; make some"),
        (["encode", "digits", "--data", "nowhere"], "there is no folder nowhere"),
        (["encode", "digits", "--weights", "nowhere.pth"], "there is no file nowhere.pth"),
        (["data", "info", "image_folder", "--data", "nowhere"], "there is no folder nowhere"),
        (["data", "sample", "new", "--data", "nowhere"], "there is no folder nowhere"),
        (["doctor", "nowhere"], "there is no folder nowhere"),
    ],
    ids=" ".join,
)
def test_a_wrong_path_is_told_before_anything_heavy_is_imported(
    words: list[str], sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("label,x\na,1\n")
    code, heavy, said = run(tmp_path, *words)
    assert (code, heavy) == (2, []), said
    assert said.startswith(f"i2cansay: {sentence}")
    assert said.count("\n") == 1


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["demo", "-h"], ["data", "get", "-h"], ["--version"]])
def test_help_imports_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    code, heavy, said = run(tmp_path, *words)
    assert (code, heavy, said) == (0, [], "")


def test_what_may_have_been_meant_is_named(tmp_path: Path) -> None:
    (tmp_path / "monday.csv").touch()
    with pytest.raises(
        FileNotFoundError, match=r"there is no file .*munday.csv; did you mean .*monday.csv\?"
    ):
        check_there(tmp_path / "munday.csv")


def test_files_and_folders_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    check_there(tmp_path, tmp_path / "file")
    check_folder(tmp_path)
    check_folder_of(tmp_path / "new.png", None)
    with pytest.raises(NotADirectoryError, match=r"expected a folder, but .*file is a file"):
        check_folder(tmp_path / "file")
    with pytest.raises(IsADirectoryError, match="expected a file to write to"):
        check_folder_of(tmp_path)
