"""One model of a table, and its three renderings: Markdown, HTML and the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

# A pipe has no width of its own.
PIPE_WIDTH = 200


@dataclass(frozen=True)
class TableCell:
    """A cell: a text, a second line below it, and its `mood`, which decides its colour.

    A mood is "none" for a reason in place of a number, or "holds", "fails", "vacuous" or "untestable" for a verdict.
    """

    text: str
    below: str = ""
    mood: str = ""


@dataclass(frozen=True)
class TableLine:
    """A row: its cells, and its kind: "ours", "variant", "block" for a heading over all columns, or "" if plain."""

    cells: tuple[TableCell, ...]
    kind: str = ""


@dataclass(frozen=True)
class TableModel:
    """A table, independent of how it is rendered.

    Attributes
    ----------
    title : str
        Empty if the heading is elsewhere.
    heads : tuple of str
        Headings of the columns.
    lines : tuple of TableLine
    notes : tuple of str
        How to read the table.
    is_prose : bool
        Whether columns hold words and are aligned to the left.

    Examples
    --------
    >>> model = table_of(["", "CUB-200"], [["naive", "3.1 ± 0.2"]])
    >>> print(to_markdown(model))
    |  | CUB-200 |
    |---|---:|
    | naive | 3.1 ± 0.2 |
    """

    title: str
    heads: tuple[str, ...]
    lines: tuple[TableLine, ...]
    notes: tuple[str, ...] = ()
    is_prose: bool = False


def table_of(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "", is_prose: bool = False
) -> TableModel:
    """Return a table of plain texts."""
    lines = tuple(TableLine(tuple(map(TableCell, row))) for row in rows)
    return TableModel(title, tuple(heads), lines, is_prose=is_prose)


def as_sentence(text: str) -> str:
    """Return a note with a capital and a full stop."""
    return text[0].upper() + text[1:] + "."


def to_markdown(model: TableModel) -> str:
    """Return the table alone, without title and notes."""
    align = "---|" if model.is_prose else "---:|"
    lines = [f"| {' | '.join(model.heads)} |", "|---|" + align * (len(model.heads) - 1)]
    for line in model.lines:
        if line.kind == "block":
            lines.append(f"| *{line.cells[0].text}* |" + " |" * (len(model.heads) - 1))
        else:
            lines.append(f"| {' | '.join(map(_markdown_cell, line.cells))} |")
    return "\n".join(lines)


def _markdown_cell(cell: TableCell) -> str:
    text = cell.text.replace("|", "/")
    if cell.mood == "fails":
        text = f"**{text}**"
    return f"{text}<br><sub>{cell.below}</sub>" if cell.below else text


def to_html(model: TableModel) -> str:
    """Return the table alone, without title and notes."""
    head = "".join(f"<th>{escape(name)}</th>" for name in model.heads)
    body = []
    for line in model.lines:
        if line.kind == "block":
            text = escape(line.cells[0].text)
            body.append(f'<tr class="block"><td colspan="{len(model.heads)}">{text}</td></tr>')
        else:
            body.append(f'<tr class="{line.kind}">{"".join(map(_html_cell, line.cells))}</tr>')
    kind = ' class="claims"' if model.is_prose else ""
    return f"<table{kind}><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _html_cell(cell: TableCell) -> str:
    small = f"<small>{escape(cell.below)}</small>" if cell.below else ""
    mood = f' class="{cell.mood}"' if cell.mood else ""
    return f"<td{mood}>{escape(cell.text)}{small}</td>"


STYLES = {"none": "dim", "holds": "green", "fails": "bold red", "vacuous": "yellow", "untestable": "dim"}


def print_model(model: TableModel, console: Console | None = None) -> None:
    """Print the table with its title and its notes."""
    grid = Grid(
        title=model.title or None,
        caption="\n".join(model.notes) or None,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE,
        pad_edge=False,
    )
    for place, name in enumerate(model.heads):
        grid.add_column(name, justify="left" if place == 0 or model.is_prose else "right")
    for line in model.lines:
        if line.kind == "block":
            grid.add_section()
            grid.add_row(Text(line.cells[0].text, style="bold"))
        else:
            grid.add_row(*map(_terminal_cell, line.cells))
    console = console or Console()
    Console(width=console.width if console.is_terminal else PIPE_WIDTH, file=console.file).print(grid)


def _terminal_cell(cell: TableCell) -> Text:
    text = Text(cell.text, style=STYLES.get(cell.mood, ""))
    return text.append(f"\n{cell.below}", style="dim") if cell.below else text
