"""Progress of a stream: a bar on a terminal, nothing in a pipe.

`play` calls a function with a `Moment`; only this module knows that it may be a bar.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TextIO


@dataclass(frozen=True)
class Moment:
    """How far a stream has come; `accuracy` is the latest on the classes seen so far, None before the first."""

    batches: int
    n_batches: int
    samples: int
    accuracy: float | None


class Progress(Protocol):
    """Anything that can show how far a stream has come."""

    def __call__(self, moment: Moment, /) -> None: ...


@contextmanager
def show_progress(title: str, *, file: TextIO | None = None) -> Iterator[Progress | None]:
    """Give `play` a bar to draw, or None if `file` (by default stderr) is not a terminal.

    The bar vanishes at the end of the block. Blocks cannot be nested.

    Examples
    --------
    >>> import io
    >>> with show_progress("i2cansay, seed 0", file=io.StringIO()) as progress:
    ...     print(progress)
    None
    """
    target = sys.stderr if file is None else file
    if not target.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(file=target), transient=True) as bar:
        task = bar.add_task(title, total=None, note="")

        def draw(moment: Moment, /) -> None:
            note = f"{moment.samples} samples"
            if moment.accuracy is not None:
                note += f", {moment.accuracy:.1%}"
            bar.update(task, completed=moment.batches, total=moment.n_batches, note=note)

        yield draw
