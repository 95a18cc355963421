"""The guides are true: their shell and their Python run in the order of the page, in one folder.

What counts as Python, and what is left out, is as in `test_docs.py`. Of the shell, `i2cansay` runs in this process,
and `mv` moves a file; nothing else is allowed in a guide.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import good
from tests.test_docs import GUIDES, ROOT, Block, blocks_of, run

pytest.importorskip("PIL")
pytest.importorskip("onnxruntime")

SHELL = re.compile(
    r"(?P<left_out><!-- not run: .+? -->\n+)?^```bash\n(?P<lines>.*?)^```$", re.MULTILINE | re.DOTALL
)


def pieces_of(text: str) -> list[Block | list[str]]:
    """Return the blocks of Python and the commands of a page, in their order."""
    found: list[tuple[int, Block | list[str]]] = [(block.line, block) for block in blocks_of(text)]
    for match in SHELL.finditer(text):
        if not match["left_out"]:
            found.append((text.count("\n", 0, match.start("lines")), match["lines"].splitlines()))
    return [piece for _, piece in sorted(found, key=lambda each: each[0])]


def shell(line: str) -> None:
    """Run a command of a guide."""
    program, *words = shlex.split(line, comments=True)
    if program == "mv":
        source, target = words
        shutil.move(source, target)
    else:
        assert program == "i2cansay", f"a guide cannot run {program}"
        good(*words)


def follow(text: str, name: str) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for piece in pieces_of(text):
        if isinstance(piece, Block):
            if piece.reason is None:
                run(piece, name, namespace)
        else:
            for line in piece:
                shell(line)


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_guide_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / ".cache"))
    monkeypatch.delenv("I2CANSAY_DATA", raising=False)
    follow(page.read_text(encoding="utf-8"), page.name)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*Any type hint is inferred as AnyType:UserWarning")
def test_the_exports_of_its_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exports = 0
    for piece in pieces_of((ROOT / "docs" / "export.md").read_text(encoding="utf-8")):
        if isinstance(piece, Block):
            if piece.reason is None:
                run(piece, "export.md", namespace)
            continue
        for line in piece:
            if line.startswith("i2cansay "):
                shell(re.sub(r" --runtime \S+", "", line))  # npm fetches it, which a test does not
                exports += 1
    assert exports == 2
    assert list((tmp_path / "page").glob("*.onnx"))


def test_shell_and_python_run_in_the_order_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").touch()
    page = "```bash\nmv a b\n```\n\n```python\nimport os\n\nprint(os.listdir())  # ['b']\n```\n"
    follow(page, "page")
    with pytest.raises(FileNotFoundError):
        follow(page, "page")


def test_a_guide_that_is_wrong_is_noticed() -> None:
    for wrong in (
        "```bash\nrm -r x\n```\n",
        "```bash\ni2cansay info nowhere.i2cs\n```\n",
        "```python\n1 / 0\n```\n",
    ):
        with pytest.raises((AssertionError, ZeroDivisionError)):
            follow(wrong, "page")
    follow("<!-- not run: installs packages -->\n```bash\npip install x\n```\n", "page")
