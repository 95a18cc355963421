"""The guides are true: their Python runs, and what a session shows is what it prints.

The blocks of one page run one after the other, as a reader would type them, in an empty folder. A block with
`>>>` is a session whose output is compared; any other has to run, and to print what the comment beside `print` says:
`# about 0.86` for a figure that differs a little between processors. An HTML comment `<!-- not run: why -->` right
before a block leaves it out; `<!-- needs: river, pandas -->` does so where one of these packages is not installed.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("**/*.md")])
# Pages whose shell runs as well, in one folder with their Python: tests/test_guides.py.
GUIDES = [ROOT / "docs" / "ten-minutes.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
BLOCK = re.compile(
    r"^(?:<!-- (?:not run: (?P<reason>.+?)|needs: (?P<needs>.+?)) -->\n+)?^```python\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)

PRINTED = re.compile(r"^print\(.*\)\s+# (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")
SCRIPT = re.compile(r"(?<![\w./])(?:benchmarks|tests|tools)/[\w/]+\.py")


@dataclass(frozen=True)
class Block:
    """A piece of Python in a page: its code, the line of its fence, and why it is not run, if it is not."""

    code: str
    line: int
    reason: str | None


def blocks_of(text: str) -> list[Block]:
    return [
        Block(
            match["code"],
            text.count("\n", 0, match.start("code")),
            match["reason"] or absent(match["needs"] or ""),
        )
        for match in BLOCK.finditer(text)
    ]


def absent(packages: str) -> str | None:
    """Return which of some packages are not installed as a reason, None if all are."""
    missing = [package for package in re.findall(r"\w+", packages) if find_spec(package) is None]
    return f"{', '.join(missing)} not installed" if missing else None


def keeps(promise: str, line: str) -> bool:
    """Tell whether a printed line is what was promised: to the letter, or within 0.05 of `about 0.86`."""
    if not promise.startswith("about "):
        return line == promise
    return float(line) == pytest.approx(float(promise.removeprefix("about ")), abs=0.05)


def run(block: Block, page: str, namespace: dict[str, Any]) -> None:
    if ">>>" not in block.code:
        # The lines before it are left empty, so that a traceback names the line of the page.
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * block.line + block.code, page, "exec"), namespace)
        if promised := PRINTED.findall(block.code):
            lines = printed.getvalue().splitlines()
            assert len(lines) == len(promised)
            assert all(map(keeps, promised, lines)), f"promised {promised}, printed {lines}"
        return
    session = doctest.DocTestParser().get_doctest(block.code, namespace, page, page, block.line)
    report: list[str] = []
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    runner.run(session, out=report.append, clear_globs=False)
    namespace.update(session.globs)
    assert not report, "".join(report)


# MLflow warns of its own code when it is imported.
@pytest.mark.filterwarnings("ignore:.*Any type hint is inferred as AnyType:UserWarning")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page not in GUIDES], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_the_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [block for block in blocks_of(page.read_text(encoding="utf-8")) if block.reason is None]
    if not blocks:
        pytest.skip("no Python to run in this page")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / ".cache"))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks:
        run(block, page.name, namespace)


def test_blocks_are_found_and_left_out_as_they_say() -> None:
    text = "a\n```python\nx = 1\n```\n<!-- not run: needs a camera -->\n\n```python\ny = 2\n```\n```sh\nls\n```\n"
    assert blocks_of(text) == [Block("x = 1\n", 2, None), Block("y = 2\n", 7, "needs a camera")]
    text = "<!-- needs: numpy -->\n```python\nx = 1\n```\n<!-- needs: numpy, no_such -->\n```python\ny = 2\n```\n"
    assert [block.reason for block in blocks_of(text)] == [None, "no_such not installed"]


def test_a_page_that_is_wrong_is_noticed() -> None:
    namespace: dict[str, Any] = {}
    run(Block("x = 3\n", 1, None), "page", namespace)
    run(Block(">>> y = x + 1\n>>> y\n4\n", 3, None), "page", namespace)
    assert namespace["y"] == 4
    with pytest.raises(AssertionError, match="Expected"):
        run(Block(">>> y\n5\n", 9, None), "page", namespace)
    with pytest.raises(ZeroDivisionError):
        run(Block("1 / 0\n", 12, None), "page", namespace)
    for right in ("print(0.5)  # 0.5\n", "print(0.52)  # about 0.5\n"):
        run(Block(right, 14, None), "page", namespace)
    for wrong in ("print(0.52)  # 0.5\n", "print(0.6)  # about 0.5\n", "print()\nprint(0.5)  # about 0.5\n"):
        with pytest.raises(AssertionError):
            run(Block(wrong, 16, None), "page", namespace)


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md"], ids=lambda page: page.name
)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "benchmarks" / "README.md"], ids=lambda page: page.name)
def test_the_scripts_and_tests_that_a_page_names_are_there(page: Path) -> None:
    named = SCRIPT.findall(page.read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_scripts_are_found() -> None:
    text = "`python benchmarks/attacks/tokens.py`, `pytest tests/a/test_b.py -k c` and ../src/x/tests/y.py"
    assert SCRIPT.findall(text) == ["benchmarks/attacks/tokens.py", "tests/a/test_b.py"]
