"""Links that lead nowhere are found, in Markdown pages and in a built site."""

from __future__ import annotations

from pathlib import Path

import links
import pytest


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_pages_of_the_repository_lead_somewhere() -> None:
    assert len(links.pages()) > 30
    assert [sentence for page in links.pages() for sentence in links.broken_in_page(page)] == []


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("b.md", None),
        ("b.md#two-words", None),
        ("b.md#two-words-1", None),
        ("b.md#two-words-2", "there is no such heading"),
        ("b.md#a-comment", "there is no such heading"),
        ("#here", None),
        ("#there", "there is no such heading"),
        ("c.md", "there is no such file"),
        ("code.py#L2", None),
        ("code.py#L3", "it is shorter"),
        ("https://nowhere.invalid/x", None),
    ],
)
def test_a_link_of_a_page(target: str, reason: str | None, tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        {
            "a.md": f"# Here\n\nsee [it]({target})\n",
            "b.md": "## Two `words`\n\n## Two words\n\n```sh\n# a comment\n```\n",
            "code.py": "x = 1\ny = 2\n",
        },
    )
    expected = [] if reason is None else [f"a.md:3: {target}: {reason}"]
    assert list(links.broken_in_page(folder / "a.md")) == expected


def test_code_is_no_link(tmp_path: Path) -> None:
    written(tmp_path, {"a.md": "`[x](gone.md)`\n\n```python\nd[x](gone)\n```\n\n![shown](gone.png)\n"})
    assert list(links.broken_in_page(tmp_path / "a.md")) == ["a.md:7: gone.png: there is no such file"]


def test_links_of_a_site(tmp_path: Path) -> None:
    site = written(
        tmp_path,
        {
            "index.html": '<a href="a/">a</a><a href="a/index.html#top"><img src="x.png"><a href="#me" id="me">',
            "a/index.html": '<p id="top"><a href="../index.html#gone">d</a><a href="https://nowhere.invalid/">e</a>',
        },
    )
    assert list(links.broken_in_site(site)) == [
        "a/index.html: ../index.html#gone: there is no such place in it",
        "index.html: x.png: there is no such file",
    ]
