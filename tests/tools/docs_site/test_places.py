"""Links of the repository lead to the same thing on the site."""

from __future__ import annotations

import pytest
from docs_site.places import lines_with_fences, place_of, relocate


@pytest.mark.parametrize(
    ("page", "link", "moved"),
    [
        ("docs/tour.md", "[x](shell.md#ask)", "[x](shell.md#ask)"),
        ("docs/results/claims.md", "[x](../../RESULTS.md)", "[x](../RESULTS.md)"),
        ("RESULTS.md", "![x](docs/images/a.svg)", "![x](images/a.svg)"),
        ("CONTRIBUTING.md", "[x](docs/glossary.md)", "[x](glossary.md)"),
        ("benchmarks/README.md", "[x](../docs/service.md)", "[x](service.md)"),
        ("docs/guides/clinics.md", "[x](../../benchmarks/README.md)", "[x](../benchmarks.md)"),
        ("docs/page.md", "[x](../README.md#compare)", "[x](index.md)"),
        ("docs/page.md", "[x](../src/i2cansay/learners)", "[x](api/index.rst)"),
        ("docs/page.md", "[x](../examples/teach_images.py)", "[x](gallery/teach_images.rst)"),
        (
            "docs/page.md",
            "[x](https://example.org/a.md) [y](#here)",
            "[x](https://example.org/a.md) [y](#here)",
        ),
    ],
)
def test_a_link_is_moved(page: str, link: str, moved: str) -> None:
    assert relocate(link, page) == moved


def test_code_and_line_numbers_stay() -> None:
    text = "a\n```python\nd[x](../README.md)\n```\n[b](../README.md)\n"
    moved = relocate(text, "docs/page.md")
    assert moved == "a\n```python\nd[x](../README.md)\n```\n[b](index.md)\n"


def test_lines_that_are_linked_to_are_told() -> None:
    seen: list[tuple[str, str]] = []
    relocate("[a](../src/x.py#L12) [b](tour.md)", "docs/page.md", lambda *told: seen.append(told))
    assert seen == [("src/x.py", "#L12"), ("docs/tour.md", "")]


def test_a_fence_ends_with_its_own_mark() -> None:
    text = "````md\n```\n[a](b)\n```\n````\nout\n"
    assert [inside for _, inside in lines_with_fences(text)] == [True, True, True, True, True, False]


def test_two_files_never_have_one_place() -> None:
    names = [
        "README.md",
        "docs/tour.md",
        "RESULTS.md",
        "benchmarks/README.md",
        "docs/results/claims.md",
        "src/a.py",
    ]
    assert len({place_of(name) for name in names}) == len(names)
