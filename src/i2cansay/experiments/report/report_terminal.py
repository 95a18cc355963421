"""A measured table on the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from i2cansay.experiments.declare.declaration import printed
from i2cansay.experiments.declare.metric import metric_title
from i2cansay.experiments.declare.plan import Entry, Plan


def print_table(measured: Plan, console: Console | None = None) -> None:
    """Print ours, and below it the paper's number and the difference."""
    grid = Grid(
        title=measured.title,
        caption=caption(measured),
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE,
        pad_edge=False,
    )
    grid.add_column("")
    grid.add_column("memory", justify="right")
    for column in measured.columns:
        grid.add_column(column_name(measured, column.name), justify="right")
    grid.add_column("seeds", justify="right")
    grid.add_column("s", justify="right")
    grid.add_column("kB", justify="right")
    backbones = {row.backbone for row in measured.rows}
    before = None
    for row in measured.rows:
        if len(backbones) > 1 and row.backbone != before:
            before = row.backbone
            grid.add_section()
            grid.add_row(Text(f"paper's backbone: {before}", style="bold"))
        state = row.state_bytes
        grid.add_row(
            row.declared.title,
            row.memory,
            *(_text(entry, measured.table.decimals) for entry in row.entries),
            row.seeds,
            "" if row.seconds is None else f"{row.seconds:.1f}",
            "" if state is None else f"{state / 1e3:,.0f}",
        )
    console = console or Console()
    # A pipe has no width of its own; the table's then is the table's.
    wide = Console(width=console.width if console.is_terminal else 200, file=console.file)
    wide.print(grid)


SEEDS_NOTE = (
    "memory are the samples a row may store, seeds the runs it is a mean over: one run has no deviation and decides "
    "nothing"
)
SECONDS_NOTE = "seconds are wall-clock, on a machine with other work: they compare rows only roughly"


def metric_text(measured: Plan) -> str:
    """Say what the numbers of the table are, and of which columns where they differ."""
    named: dict[str, list[str]] = {}
    for column in measured.columns:
        named.setdefault(metric_title(column.metric), []).append(column_name(measured, column.name))
    if len(named) == 1:
        return next(iter(named))
    return "; ".join(f"{title} ({' and '.join(columns)})" for title, columns in named.items())


def caption(measured: Plan) -> str:
    """Return what one must know to read the table."""
    lines = [
        metric_text(measured),
        f"{measured.seeds}; each number: ours, mean ± deviation over seeds; below it: the paper's, difference",
        SEEDS_NOTE,
        SECONDS_NOTE,
    ]
    if measured.table.note:
        lines.append(measured.table.note)
    lines += substitutions(measured)
    lines.append(f"repeat with: {measured.command}")
    return "\n".join(lines)


def substitutions(measured: Plan) -> list[str]:
    """Say in words what is not as in the paper."""
    lines = []
    if any(row.encoder != row.backbone for row in measured.rows):
        lines.append("the encoder is not the paper's: differences from its numbers are no test of them")
    for column in measured.columns:
        if measured.choice.stand_in and column.stand_in is not None:
            stand_in = column.stand_in
            lines.append(
                f"{column.name}: a stand-in, the same stream over {stand_in.n_classes} classes of "
                f"{stand_in.dataset}; the printed numbers are of other images"
            )
    return lines


def column_name(measured: Plan, name: str) -> str:
    """Return the heading of a column, marked where it is a stand-in."""
    column = next(column for column in measured.columns if column.name == name)
    is_stand_in = measured.choice.stand_in and column.stand_in is not None
    return f"{name} (stand-in)" if is_stand_in else name


def paper_text(entry: Entry, decimals: int) -> str:
    """Return the paper's number, or nothing where it prints none."""
    value = entry.paper
    return f"{value:.{decimals}f}" if printed(value) else ""


def ours_text(entry: Entry, decimals: int) -> str:
    """Return our number, or the reason why there is none."""
    if entry.ours is None:
        return entry.why_empty
    std = f" ± {entry.ours.std:.{decimals}f}" if entry.ours.n > 1 else ""
    return f"{entry.ours.mean:.{decimals}f}{std}"


def delta_text(entry: Entry, decimals: int) -> str:
    """Return ours minus the paper's with its sign."""
    return "" if entry.delta is None else f"{entry.delta:+.{decimals}f}"


def _text(entry: Entry, decimals: int) -> Text:
    text = Text(ours_text(entry, decimals), style="" if entry.ours is not None else "dim")
    below = " ".join(part for part in (paper_text(entry, decimals), delta_text(entry, decimals)) if part)
    return text.append(f"\n{below}", style="dim") if below else text
