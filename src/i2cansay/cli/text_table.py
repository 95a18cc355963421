"""Plain tables for the terminal and for pipes."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[object]], right: Sequence[int] = ()) -> str:
    """Return rows of cells as lines, columns aligned; those in `right` to the right.

    Examples
    --------
    >>> print(aligned([("file", "probability"), ("a.png", 0.5)], right=[1]))
    file   probability
    a.png          0.5
    """
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in texts
    )


def several(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> several(1, "image"), several(1200, "image"), several(2, "class", "classes")
    ('1 image', '1,200 images', '2 classes')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
