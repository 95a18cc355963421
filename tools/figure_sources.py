"""Say which figures of the hand-written pages do not tell where they come from.

    python tools/figure_sources.py

A decimal number in README.md or a page of docs/ is followed by its place in the records, as `page_figures.py`
says. Or its section, from a heading to the next, names where those without a place come from, before the
first of them: a command, a file of records, print, parameters, "measured once by hand, not kept":

    <!-- figures: python benchmarks/verdicts.py; benchmarks/records/verdicts.jsonl -->

Paths of the repository and tables of `i2cansay reproduce` that are named there have to exist. A source
without a figure is an error too. Left out is what tools write or tests run: generated pages, tables between
comments that name their maker, code. So are versions and headings, and CHANGELOG.md: it tells what was true
when it was written, while records go on. Whole numbers are not looked at, as most of them count or name
something.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from page_figures import FIGURE

from i2cansay.experiments.declare.declaration import load_table

ROOT = Path(__file__).parent.parent
# Written whole by tools/docs.py and tools/result_pages.py.
GENERATED = ("docs/command-line.md", "docs/paper-to-code.md", "docs/performance.md", "docs/results/")
FENCED = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
MADE = re.compile(
    r"<!-- table: [^\n]+? -->.*?<!-- end -->|<!-- (?P<name>[a-z ]+): [^\n]+? -->.*?<!-- end of (?P=name) -->",
    re.DOTALL,
)
HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
SOURCE = re.compile(r"<!-- figures:(.*?)-->", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
CODE = re.compile(r"`(?:[^`\n]|\n(?!\n))+`")
LINK = re.compile(r"\]\([^)\n]*\)|https?://[^\s)]+")
VERSION = re.compile(r"\b(?:Python|Label Studio|Dask|numpy|river|version) \d+(?:\.\d+)+")
# Neither a part of a version or an address, nor what follows letters as in Apache-2.0 and HTTP/1.1.
NUMBER = re.compile(r"(?<![\w.])(?<![A-Za-z][-/])\d[\d,]*\.\d+(?!\.?\d)")
WORD = re.compile(r"[\w./-]+")
SUFFIXES = (".py", ".toml", ".json", ".jsonl", ".md")
REPRODUCE = re.compile(r"i2cansay reproduce ([\w-]+)")


@dataclass(frozen=True)
class Section:
    """A page from one heading to the next: its text without code and tables, and the line it begins on."""

    text: str
    line: int

    def line_of(self, position: int) -> int:
        """Return the line of the page that a position of the text lies on."""
        return self.line + self.text.count("\n", 0, position)


def hand_written(root: Path) -> list[Path]:
    """Return README.md and the pages of docs/ that no tool writes."""
    pages = [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]
    return [page for page in pages if not page.relative_to(root).as_posix().startswith(GENERATED)]


def complaints(text: str, root: Path = ROOT) -> Iterator[str]:
    """Yield what is wrong with the figures of a page, each with its line.

    Examples
    --------
    >>> list(complaints("# Speed\\n\\nIt takes 2.5 ms."))[0]
    '3: 2.5 has no source: put <!-- figure: PLACE --> behind it, or <!-- figures: SOURCE --> below the heading'
    >>> list(complaints("# Speed\\n\\n<!-- figures: python benchmarks/learner.py -->\\n\\nIt takes 2.5 ms."))
    []
    """
    for section in sections(text):
        yield from _of_section(section, root)


def sections(text: str) -> Iterator[Section]:
    """Yield the sections of a page, without headings, fenced code and tables that are made."""
    text = _without(MADE, _without(FENCED, text))
    begins = [0, *(found.start() for found in HEADING.finditer(text)), len(text)]
    plain = _without(HEADING, text)
    for start, stop in pairwise(begins):
        yield Section(plain[start:stop], 1 + text.count("\n", 0, start))


def _of_section(section: Section, root: Path) -> Iterator[str]:
    sources = list(SOURCE.finditer(section.text))
    unmarked = _without(FIGURE, section.text)
    for found in re.finditer(r"<!-- figure:", unmarked):
        yield f"{section.line_of(found.start())}: a place follows no figure"
    for pattern in (COMMENT, CODE, LINK, VERSION):
        unmarked = _without(pattern, unmarked)
    numbers = list(NUMBER.finditer(unmarked))
    for source in sources:
        yield from (f"{section.line_of(source.start())}: {wrong}" for wrong in _wrong_in(source[1], root))
    if not sources:
        yield from (_no_source(section, number) for number in numbers)
        return
    line = section.line_of(sources[0].start())
    if len(sources) > 1:
        second = section.line_of(sources[1].start())
        yield f"{second}: the section names a source in line {line} already; name both there"
    if not numbers:
        yield f"{line}: no figure of this section needs a source; take the comment out"
    elif numbers[0].start() < sources[0].start():
        yield f"{line}: the source stands below {numbers[0][0]}; move it up to the heading of its section"


def _no_source(section: Section, number: re.Match[str]) -> str:
    return (
        f"{section.line_of(number.start())}: {number[0]} has no source: put <!-- figure: PLACE --> behind it, "
        "or <!-- figures: SOURCE --> below the heading"
    )


def _wrong_in(source: str, root: Path) -> Iterator[str]:
    """Yield what a source names that is not there."""
    if not source.strip():
        yield "the source is empty: say in a few words where the figures come from"
    for word in (found.rstrip("./-") for found in WORD.findall(source)):
        first, slash, _ = word.partition("/")
        of_here = word.endswith(SUFFIXES) or (slash and first and (root / first).is_dir())
        if of_here and not (root / word).exists():
            yield f"there is no {word}; name it by its path from the root of the repository"
    for name in REPRODUCE.findall(source):
        try:
            load_table(name)
        except ValueError as error:
            yield str(error)


def _without(pattern: re.Pattern[str], text: str) -> str:
    """Return a text with blanks for what a pattern finds; every other character stays where it is."""
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def main() -> int:
    """Print every complaint; return the exit code."""
    found = [
        f"{page.relative_to(ROOT).as_posix()}:{wrong}"
        for page in hand_written(ROOT)
        for wrong in complaints(page.read_text(encoding="utf-8"))
    ]
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
