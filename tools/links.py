"""Links inside the repository and inside the built site: every target is there, with the heading or line it names.

python tools/links.py [HTML]        the Markdown pages, and the site in the folder HTML if one is given

Addresses elsewhere (https://...) are not followed: that would need the network, and they break without us.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from docs_site.places import lines_with_fences

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\((?P<target>[^)\s]+)\)")
CODE = re.compile(r"`[^`]*`")
HEADING = re.compile(r"^#{1,6} +(?P<words>.+?) *#*$")


def pages(root: Path = ROOT) -> list[Path]:
    """Return the Markdown pages of the repository that git knows, or all where there is no git."""
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    names = done.stdout.splitlines() or [
        path.relative_to(root).as_posix()
        for path in root.rglob("*.md")
        if not any(part.startswith(".") or part == "build" for part in path.relative_to(root).parts)
    ]
    return sorted(root / name for name in names if (root / name).exists())


def broken_in_page(page: Path) -> Iterator[str]:
    """Yield a sentence for each link of a Markdown page that leads nowhere."""
    for number, (line, fenced) in enumerate(lines_with_fences(page.read_text(encoding="utf-8")), start=1):
        for match in () if fenced else LINK.finditer(CODE.sub("`", line)):
            if reason := _why_broken(page, match["target"]):
                yield f"{page.name}:{number}: {match['target']}: {reason}"


def _why_broken(page: Path, target: str) -> str | None:
    parts = urlsplit(target)
    if parts.scheme:
        return None
    path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not path.exists():
        return "there is no such file"
    if not parts.fragment or path.is_dir():
        return None
    if path.suffix == ".md":
        return None if parts.fragment in anchors(path) else "there is no such heading"
    if line := re.fullmatch(r"L(\d+)", parts.fragment):
        return None if int(line[1]) <= len(path.read_text(encoding="utf-8").splitlines()) else "it is shorter"
    return None


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    seen: Counter[str] = Counter()
    found = set()
    for line, fenced in lines_with_fences(page.read_text(encoding="utf-8")):
        if not fenced and (match := HEADING.match(line)):
            slug = anchor(match["words"])
            found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return frozenset(found)


def anchor(words: str) -> str:
    """Return the anchor of a heading.

    Examples
    --------
    >>> anchor("Few samples, long tails: `best` & co."), anchor("[How](x.md) it works")
    ('few-samples-long-tails-best--co', 'how-it-works')
    """
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words).lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


class _Page(HTMLParser):
    """The links and the anchors of a page of the site."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and name in ("id", "name"):
                self.anchors.add(value)


def broken_in_site(folder: Path) -> Iterator[str]:
    """Yield a sentence for each link inside a built site that leads nowhere."""
    read: dict[Path, _Page] = {}
    for path in sorted(folder.rglob("*.html")):
        if "_static" not in path.parts:
            read[path.resolve()] = page = _Page()
            page.feed(path.read_text(encoding="utf-8"))
    for path, page in read.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            where = f"{path.relative_to(folder.resolve())}: {link}"
            if not target.exists():
                yield f"{where}: there is no such file"
            elif parts.fragment and target in read and unquote(parts.fragment) not in read[target].anchors:
                yield f"{where}: there is no such place in it"


def main() -> int:
    """Check pages, and the site if its folder is given; return the exit code."""
    broken = [sentence for page in pages() for sentence in broken_in_page(page)]
    if len(sys.argv) > 1:
        broken += list(dict.fromkeys(broken_in_site(Path(sys.argv[1]))))
    for sentence in broken:
        print(sentence, file=sys.stderr)
    if not broken:
        print(
            f"links of {len(pages())} pages{' and of the site' if len(sys.argv) > 1 else ''} lead somewhere"
        )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
