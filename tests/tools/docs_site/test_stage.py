"""The sources of the site have every page once, and what they link to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs_site.api_pages import MODULES, api_pages
from docs_site.places import place_of
from docs_site.stage import ROOT, sections, stage

API = {"index.rst": "The library\n===========\n"}


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    stage(folder, API)
    return folder


def test_every_page_is_in_the_contents_once(staged: Path) -> None:
    named = [page for section in sections() for page in section.pages]
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")} - {"docs/index.md"}
    assert len(named) == len(set(named))
    assert there <= set(named)
    for page in named:
        assert (staged / place_of(page)).exists()


def test_links_lead_to_staged_pages(staged: Path) -> None:
    for path in staged.rglob("*.md"):
        for target in re.findall(r"\]\((?![a-z]+:|#)([^)#\s]+\.md)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.relative_to(staged)} links to {target}"


def test_lines_of_the_equations_are_marked(staged: Path) -> None:
    page = (staged / "source/src/i2cansay/core/paper/ican.py.md").read_text(encoding="utf-8")
    assert re.search(r"^:emphasize-lines: \d+,\d+$", page, re.MULTILINE)
    assert (staged / "source/src/i2cansay/core/paper/ican.py").exists()


def test_staging_again_changes_nothing_and_takes_out_what_is_stale(staged: Path) -> None:
    (staged / "gone.md").touch()
    (staged / "gallery").mkdir(exist_ok=True)
    (staged / "gallery" / "kept.rst").touch()
    before = {path: path.stat().st_mtime_ns for path in staged.rglob("*.md") if path.name != "gone.md"}
    stage(staged, API)
    assert {path: path.stat().st_mtime_ns for path in staged.rglob("*.md")} == before
    assert not (staged / "gone.md").exists()
    assert (staged / "gallery" / "kept.rst").exists()


def test_the_reference_has_each_class_once() -> None:
    pytest.importorskip("river", reason="the reference has the adapter of river in it")
    pages = api_pages()
    assert set(pages) == {"index.rst", *(f"{name}.rst" for name in MODULES)}
    assert sum("   ImageLearner\n" in text for text in pages.values()) == 1
    assert "   RiverClassifier\n" in pages["i2cansay.adapters.river_classifier.rst"]
