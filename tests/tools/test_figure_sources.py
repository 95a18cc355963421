"""Every decimal figure of a hand-written page says where it comes from."""

from pathlib import Path

import figure_sources
import pytest
from figure_sources import ROOT, complaints, hand_written

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="no pages here")
SOURCE = "<!-- figures: python benchmarks/learner.py -->"


@pytest.mark.parametrize("page", hand_written(ROOT), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_figure_of_a_page_has_a_source(page: Path) -> None:
    assert list(complaints(page.read_text(encoding="utf-8"))) == []


def test_pages_that_are_written_whole_are_left_out() -> None:
    names = {page.relative_to(ROOT).as_posix() for page in hand_written(ROOT)}
    assert {"README.md", "docs/faq.md", "docs/guides/clinics.md"} <= names
    assert not names & {"docs/performance.md", "docs/results/claims.md", "RESULTS.md", "CHANGELOG.md"}


@pytest.mark.parametrize(
    "text",
    [
        "Some 73.7%<!-- figure: best / CIFAR-100 --> in 76 MB<!-- figure: best / CIFAR-100 MB -->.",
        f"# Speed\n\n{SOURCE}\n\nIt takes 2.5 ms.",
        f"{SOURCE}\n| a | 0.5 |\n\n# Next\n\nNothing measured.",
        "```python\nx = 0.5\n```\n\n- indented\n\n  ```sh\n  sleep 0.5\n  ```\n",
        "`lr=0.5`, `a long\ncall(0.5)`, [see](page-0.5.md), https://example.org/0.5",
        "<!-- table: guide -->\n| 1.5 |\n<!-- end -->",
        "<!-- rates: written by a script -->\n### 1.5\n2.5\n<!-- end of rates -->",
        "Python 3.11, Label Studio 1.23, Apache-2.0, HTTP/1.1, 127.0.0.1 and 1.0.4",
        "# 0.1.0 (unreleased)\n\n## Above 0.5",
        "Some 12 of 1,000 and 2e-9.",
    ],
)
def test_what_is_fine(text: str) -> None:
    assert list(complaints(text)) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nIt takes 2.5 ms.", "2: 2.5 has no source"),
        ("in 1,024.5 MB", "1: 1,024.5 has no source"),
        ("fell by -0.3.", "1: 0.3 has no source"),
        ("1/1.4 of it", "1: 1.4 has no source"),
        (f"{SOURCE}\n0.5\n# Next\n\n0.6", "5: 0.6 has no source"),
        ("# Speed\n```sh\nls\n```\n0.5", "5: 0.5 has no source"),
        (f"# Speed\n\n{SOURCE}\n\nIt takes `0.5`.", "3: no figure of this section needs a source"),
        (f"# Speed\n0.5\n{SOURCE}", "3: the source stands below 0.5"),
        (f"{SOURCE}\n{SOURCE}\n0.5", "2: the section names a source in line 1 already"),
        ("<!-- figures: -->\n0.5", "1: the source is empty"),
        ("<!-- figures: python benchmarks/no_such.py -->\n0.5", "1: there is no benchmarks/no_such.py"),
        ("<!-- figures: python learner.py --quick -->\n0.5", "1: there is no learner.py"),
        (
            "<!-- figures: benchmarks/records. -->\n0.5 0.6\n<!-- figure: x / y -->",
            "3: a place follows no figure",
        ),
        ("<!-- figures: i2cansay reproduce table99 -->\n0.5", "1: there is no table 'table99'"),
        ("<!-- figures: i2cansay reproduce tuning-nobody -->\n0.5", "1: there are no sweeps of 'nobody'"),
    ],
)
def test_what_is_not(text: str, message: str) -> None:
    (found,) = complaints(text)
    assert found.startswith(message)


def test_sources_that_are_words_and_tables_that_are_declared() -> None:
    words = "print and/or i2cansay reproduce tuning-er, i2cansay reproduce table4; measured once by hand, not kept"
    assert list(complaints(f"<!-- figures: {words} -->\n0.5")) == []


def test_the_shell_names_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(figure_sources, "ROOT", tmp_path)
    (tmp_path / "README.md").write_text("It takes 2 ms.")
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "page.md"
    page.write_text("It takes 2.5 ms.")
    assert figure_sources.main() == 1
    assert capsys.readouterr().err.startswith("docs/page.md:1: 2.5 has no source")
    page.write_text("It takes 2 ms.")
    assert figure_sources.main() == 0
    assert capsys.readouterr().err == ""
