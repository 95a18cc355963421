"""How far the encoding of images is, on a terminal: a bar with images per second. In a pipe there is none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int], object]


@contextmanager
def image_progress(title: str, total: int) -> Iterator[Progress | None]:
    """Yield a function that draws how many of `total` images are done; None where nobody is watching."""
    if not sys.stderr.isatty():
        yield None
        return
    from i2cansay.cli.encode import Meter, show_encoding

    with show_encoding(title, Meter()) as draw:
        draw(0, total)
        yield lambda done: draw(done, total)
