"""One table, three faces: the same texts in each of them."""

import io

from rich.console import Console

from i2cansay.experiments.report.table_model import (
    TableCell,
    TableLine,
    TableModel,
    print_model,
    to_html,
    to_markdown,
)

MODEL = TableModel(
    "a title",
    ("", "CUB-200"),
    (
        TableLine((TableCell("over all <columns>"),), "block"),
        TableLine((TableCell("ours"), TableCell("61.2 ± 0.1", "57.5, +3.7")), "ours"),
        TableLine((TableCell("a | b"), TableCell("does not hold", mood="fails"))),
    ),
    ("a note",),
)


def test_markdown_has_a_line_per_row_and_no_stray_bars() -> None:
    lines = to_markdown(MODEL).splitlines()
    assert lines[2:] == [
        "| *over all <columns>* | |",
        "| ours | 61.2 ± 0.1<br><sub>57.5, +3.7</sub> |",
        "| a / b | **does not hold** |",
    ]


def test_html_escapes_and_says_what_a_cell_is() -> None:
    text = to_html(MODEL)
    assert '<td colspan="2">over all &lt;columns&gt;</td>' in text
    assert "<td>61.2 ± 0.1<small>57.5, +3.7</small></td>" in text
    assert '<td class="fails">does not hold</td>' in text


def test_the_terminal_shows_every_text() -> None:
    stream = io.StringIO()
    print_model(MODEL, Console(file=stream, width=80))
    for text in (
        "a title",
        "CUB-200",
        "over all <columns>",
        "61.2 ± 0.1",
        "57.5, +3.7",
        "does not hold",
        "a note",
    ):
        assert text in stream.getvalue()
