"""Which rows are scored at a time, so that scores of many classes take bounded memory."""

from collections.abc import Iterator

# Scores in a block: 32 MB in double precision, and a few temporaries of that size.
SCORES_AT_A_TIME = 1 << 22


def score_blocks(n_rows: int, n_classes: int) -> Iterator[slice]:
    """Yield the rows in slices with at most `SCORES_AT_A_TIME` scores each, but at least one row.

    Up to a hundred classes, tens of thousands of rows are one block.

    Examples
    --------
    >>> [block.stop - block.start for block in score_blocks(100, 100_000)]
    [41, 41, 18]
    >>> list(score_blocks(0, 10))
    []
    """
    rows = max(1, SCORES_AT_A_TIME // max(n_classes, 1))
    for start in range(0, n_rows, rows):
        yield slice(start, min(start + rows, n_rows))
