"""A release is refused for what must not go out: another version, or a file of unknown origin."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import bundled
import pytest
import release_check

import i2cansay


def test_the_version_has_one_place_and_everything_agrees() -> None:
    assert release_check.version() == i2cansay.__version__
    assert release_check.version_problems(release_check.ROOT, i2cansay.__version__) == []


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("CITATION.cff", "version: 0.9\n", "CITATION.cff: expected version 1.0, got 0.9"),
        ("CITATION.cff", "title: x\n", "CITATION.cff: expected version 1.0, got none"),
        ("CHANGELOG.md", "# Changelog\n\n## 0.9 (old)\n", "CHANGELOG.md: expected 1.0 at its top, got 0.9"),
        (
            "pyproject.toml",
            '[project]\nversion = "1.0"\n',
            "pyproject.toml: a second place that sets the version",
        ),
    ],
)
def test_another_version_is_noticed(file: str, text: str, problem: str, tmp_path: Path) -> None:
    right = {
        "CITATION.cff": "version: 1.0\n",
        "CHANGELOG.md": "# Changelog\n\n## 1.0 (unreleased)\n",
        "pyproject.toml": '[project]\ndynamic = ["version"]\n',
    }
    for name, words in {**right, file: text}.items():
        (tmp_path / name).write_text(words, encoding="utf-8")
    assert release_check.version_problems(tmp_path, "1.0") == [problem]


def test_every_file_that_git_knows_is_named() -> None:
    import subprocess

    names = subprocess.run(
        ["git", "ls-files"], cwd=release_check.ROOT, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    if not names:
        pytest.skip("not a checkout")
    # .ci is not part of the packages.
    root = release_check.ROOT
    files = {name: (root / name).read_bytes() for name in names if not name.startswith(".ci/")}
    assert list(bundled.problems(files, bundled.bundles("packages"))) == []


def test_a_file_of_unknown_origin_is_noticed() -> None:
    allowed = bundled.bundles("packages")
    assert list(bundled.problems({"src/i2cansay/service/page/font.woff2": b""}, allowed)) == [
        "src/i2cansay/service/page/font.woff2: bundled, and named nowhere in tools/bundled.toml"
    ]
    assert list(bundled.problems({"src/i2cansay/weights.onnx": b"", "docs/photo.png": b""}, allowed)) != []
    (claimed,) = bundled.problems({"src/x/axe.js": f"/*! axe, Copyright {2020} Someone */".encode()}, allowed)
    assert "whose is it?" in claimed
    assert list(bundled.problems({"src/x/page.js": b"// no copyright of others here"}, allowed)) == []


def test_a_bundle_of_which_nothing_is_left_is_noticed() -> None:
    gone = bundled.Bundle("fonts", ("*.woff2",), "OFL-1.1", "someone")
    assert list(bundled.unused(["a.py"], [gone])) == ["tools/bundled.toml: nothing matches *.woff2 (fonts)"]
    assert list(bundled.unused(["a/b.woff2"], [gone])) == []


def test_archives_are_read_whole(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("x/a.py", "1")
    with tarfile.open(tmp_path / "x-1.0.tar.gz", "w:gz") as sdist:
        member = tarfile.TarInfo("x-1.0/src/a.py")
        member.size = 1
        sdist.addfile(member, io.BytesIO(b"1"))
    assert bundled.contents(tmp_path / "x-1.0-py3-none-any.whl") == {"x/a.py": b"1"}
    assert bundled.contents(tmp_path / "x-1.0.tar.gz") == {"src/a.py": b"1"}


def test_a_site_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    (problem,) = release_check.site_problems(tmp_path)
    assert "run `make docs-site`" in problem
