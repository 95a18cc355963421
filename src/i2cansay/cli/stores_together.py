"""Several feature stores that a command learns at once: no row twice, and no shard forgotten without a word."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from i2cansay.features.header import Header
from i2cansay.features.store import ROWS, map_array, read_header


def check_together(paths: Sequence[Path]) -> list[str]:
    """Return a note for each data set of which shards are missing; raise ValueError where two stores share rows."""
    stores = [(path, read_header(path)) for path in paths]
    for (path, one), (other_path, other) in combinations(stores, 2):
        if _may_share(one, other):
            shared = np.intersect1d(_rows(path, one), _rows(other_path, other))
            if len(shared):
                raise ValueError(
                    f"{path} and {other_path} both hold row {shared[0]} of {one.dataset} {one.split}, which would "
                    "be learnt twice; leave one of them out"
                )
    return _missing([header for _, header in stores])


def _may_share(one: Header, other: Header) -> bool:
    """Whether two stores may have rows in common; different shards of one division have none."""
    if (one.dataset_fingerprint, one.split) != (other.dataset_fingerprint, other.split):
        return False
    if one.subset is None or other.subset is None or one.subset.together != other.subset.together:
        return True
    mine, theirs = one.subset.shard, other.subset.shard
    return mine is None or theirs is None or mine == theirs or mine.of != theirs.of


def _rows(path: Path, header: Header) -> NDArray[np.int64]:
    return map_array(path, ROWS, (header.rows,), "int64")


def _missing(headers: Sequence[Header]) -> list[str]:
    given: dict[tuple[str, str, int], set[int]] = {}
    for header in headers:
        if header.subset is not None and (shard := header.subset.shard) is not None:
            given.setdefault((header.dataset, header.split, shard.of), set()).add(shard.number)
    notes = []
    for (dataset, split, of), numbers in given.items():
        if missing := [f"{number}/{of}" for number in range(1, of + 1) if number not in numbers]:
            named = ", ".join(missing[:5]) + (" ..." if len(missing) > 5 else "")
            notes.append(f"{dataset} {split} comes in {of} shards, of which these are not given: {named}")
    return notes
