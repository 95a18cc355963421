"""Put the sources of the site together in a folder: pages of the repository, and pages made here."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from docs_site.flowchart import draw_flowcharts
from docs_site.places import place_of, relocate

ROOT = Path(__file__).parents[2]
CONTENTS = Path(__file__).with_name("contents.toml")
# Written by Sphinx and its extensions, which notice by themselves what has changed.
KEPT = ("gallery",)
LANGUAGES = {".py": "python", ".toml": "toml", ".sh": "bash", ".js": "javascript"}


@dataclass(frozen=True)
class Section:
    """A section of the site: its name in the address, its title, what it is about, and its pages."""

    name: str
    title: str
    about: str
    pages: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)

    @property
    def documents(self) -> list[str]:
        """The documents of the section as Sphinx names them."""
        return [*self.more, *(place_of(page).removesuffix(".md") for page in self.pages)]


def sections() -> list[Section]:
    """Return the sections with every page of `docs/`: one that contents.toml does not name is a guide."""
    read = [Section(**each) for each in tomllib.loads(CONTENTS.read_text(encoding="utf-8"))["section"]]
    named = {page for section in read for page in section.pages} | {"docs/index.md"}
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    guides = next(section for section in read if section.name == "guides")
    guides.pages.extend(sorted(there - named))
    return read


def stage(folder: Path, api: Mapping[str, str]) -> None:
    """Write the sources of the site into `folder`, the pages of the reference among them; take out what is stale."""
    written: set[Path] = set()
    linked: dict[str, set[int]] = {}

    def write(name: str, text: str) -> None:
        path = folder / name
        written.add(path)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return  # Sphinx reads again only what is newer
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def note(target: str, fragment: str) -> None:
        lines = linked.setdefault(target, set())
        if found := re.fullmatch(r"#L(\d+)", fragment):
            lines.add(int(found[1]))

    parts = sections()
    for page in [page for section in parts for page in section.pages]:
        text = (ROOT / page).read_text(encoding="utf-8")
        write(place_of(page), draw_flowcharts(relocate(text, page, note)))
    landing = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    write(
        "index.md",
        relocate(landing, "docs/index.md", note)
        + "\n"
        + toctree([*(f"{section.name}/index" for section in parts), "gallery/index"]),
    )
    for section in parts:
        write(f"{section.name}/index.md", section_page(section))
    for name, text in api.items():
        write(f"api/{name}", text)
    for target, lines in linked.items():
        if place_of(target).startswith("source/"):
            write(place_of(target), source_page(target, lines))
            write(f"source/{target}", (ROOT / target).read_text(encoding="utf-8"))
    for image in (ROOT / "docs" / "images").iterdir():
        written.add(folder / "images" / image.name)
        (folder / "images").mkdir(parents=True, exist_ok=True)
        shutil.copy2(image, folder / "images")
    remove_others(folder, written)


def section_page(section: Section) -> str:
    """Return the first page of a section: what it is about and what is in it."""
    return f"# {section.title}\n\n{section.about}\n\n" + toctree(
        [f"/{name}" for name in section.documents], hidden=False
    )


def toctree(documents: list[str], *, hidden: bool = True) -> str:
    """Return a table of contents as MyST writes it."""
    options = [":hidden:"] if hidden else [":maxdepth: 1"]
    return "\n".join(["```{toctree}", *options, "", *documents, "```", ""])


def source_page(path: str, lines: set[int]) -> str:
    """Return a page that shows a file, with the lines marked that other pages link to."""
    marked = [f":emphasize-lines: {','.join(map(str, sorted(lines)))}"] if lines else []
    language = LANGUAGES.get(Path(path).suffix, "text")
    return "\n".join(
        [
            "---",
            "orphan: true",
            "---",
            "",
            f"# {path}",
            "",
            f"```{{literalinclude}} {Path(path).name}",
            f":language: {language}",
            ":linenos:",
            *marked,
            "```",
            "",
        ]
    )


def remove_others(folder: Path, written: set[Path]) -> None:
    """Remove the files of an earlier staging that this one did not write."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        name = path.relative_to(folder).as_posix()
        if path not in written and not name.startswith(KEPT):
            path.unlink()
