"""Where a file of the repository is found on the site, and links rewritten to lead there.

The pages of the repository link to each other by path, so that they read well where they are. The site has other
paths: `docs/` is its root, the README is its landing page, and a file of code has a page that shows it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import PurePosixPath

LINK = re.compile(r"(?P<before>\]\()(?P<target>(?![a-z]+:|#)[^)#\s]+)(?P<fragment>#[^)\s]*)?(?P<after>\))")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
MOVED = {"README.md": "index.md", "benchmarks/README.md": "benchmarks.md"}
ON_THE_SITE = {"RESULTS.md", "CONTRIBUTING.md", "CHANGELOG.md"}


def place_of(path: str) -> str:
    """Return where a file or folder of the repository is on the site.

    Examples
    --------
    >>> place_of("docs/tour.md"), place_of("README.md"), place_of("src/i2cansay/core/paper/ican.py")
    ('tour.md', 'index.md', 'source/src/i2cansay/core/paper/ican.py.md')
    """
    if path in MOVED:
        return MOVED[path]
    if path in ON_THE_SITE:
        return path
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("src/") and not PurePosixPath(path).suffix:
        return "api/index.rst"  # a folder of code: the reference of the library
    if path.startswith("examples/") and path.endswith(".py"):
        return f"gallery/{path.removeprefix('examples/').removesuffix('.py')}.rst"
    return f"source/{path}.md"


def relocate(text: str, path: str, seen: Callable[[str, str], None] = lambda path, fragment: None) -> str:
    """Return the Markdown `text` of the file `path` with its relative links as the site needs them.

    Code blocks stay as they are, and so does the number of lines. `seen` is told each file that is linked to, with
    the fragment of the link ("#L12").

    Examples
    --------
    >>> relocate("[how](../CONTRIBUTING.md#an-adapter), [Eq. 3](../src/a.py#L49)", "docs/x.md")
    '[how](CONTRIBUTING.md#an-adapter), [Eq. 3](source/src/a.py.md)'
    """
    home = posixpath.dirname(path)
    here = posixpath.dirname(place_of(path))

    def moved(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(home, match["target"]))
        fragment = match["fragment"] or ""
        seen(target, fragment)
        place = place_of(target)
        if place.startswith("source/") or target in MOVED:
            fragment = ""
        return f"{match['before']}{posixpath.relpath(place, here or '.')}{fragment}{match['after']}"

    return "\n".join(
        line if fenced else LINK.sub(moved, line) for line, fenced in lines_with_fences(text)
    ) + ("\n" if text.endswith("\n") else "")


def lines_with_fences(text: str) -> list[tuple[str, bool]]:
    """Return the lines of a Markdown text, each with whether it belongs to a code block."""
    lines, fence = [], ""
    for line in text.splitlines():
        mark = FENCE.match(line)
        inside = bool(fence)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence = ""
        lines.append((line, inside or mark is not None))
    return lines
