"""The command line as a shell runs it, and small folders of images for it."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from pathlib import Path

import pytest

from i2cansay.cli import main
from tests.image_learner.images import file_of, small_images


@dataclass(frozen=True)
class Result:
    """What a shell would see."""

    returncode: int
    stdout: str
    stderr: str


def command(*words: object) -> Result:
    """Run the command line as the installed script does, in this process: a new one takes seconds to import."""
    stdout, stderr, code = io.StringIO(), io.StringIO(), 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        patch.setattr("sys.argv", ["i2cansay", *map(str, words)])
        try:
            main()
        except SystemExit as exit_:
            code = exit_.code if isinstance(exit_.code, int) else 0
    return Result(code, stdout.getvalue(), stderr.getvalue())


def good(*words: object) -> str:
    """Run a command that must succeed; return what it printed."""
    result = command(*words)
    assert result.returncode == 0, result.stderr
    return result.stdout


def refused(*words: object) -> str:
    """Run a command that must be refused with one sentence and exit code 2; return the sentence."""
    result = command(*words)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("i2cansay: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def write_folder(
    folder: Path, n: int, seed: int = 0, *, wrong: tuple[int, ...] = ()
) -> list[tuple[Path, str]]:
    """Write `n` small images into a folder per class, some into a `wrong` one; return paths and right labels."""
    after = {"blue": "green", "green": "red", "red": "blue"}
    written = []
    for index, (image, label) in enumerate(zip(*small_images(n, seed), strict=True)):
        path = folder / (after[label] if index in wrong else label) / f"{index:03}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file_of(image))
        written.append((path, label))
    return written
