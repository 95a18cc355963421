"""A whole store from its finished shards: features are copied, nothing is encoded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from i2cansay.datasets import Dataset
from i2cansay.features.finding import is_finished
from i2cansay.features.header import Header
from i2cansay.features.journal import Journal
from i2cansay.features.store import HEADER, JOURNAL, FeatureStore, read_header


@dataclass(frozen=True)
class FinishedShards:
    """Gives rows of finished shards as `encode_dataset` takes them from `elsewhere`.

    Parameters
    ----------
    paths : of all shards, in order.
    """

    paths: tuple[Path, ...]

    def __call__(
        self, dataset: Dataset, fingerprint: str, split: str, rows: NDArray[np.int64], batch_rows: int | None
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the features of `rows`, the last ones of the whole, in order; shards are compared with checksums."""
        stores = [FeatureStore.open(path) for path in self.paths]
        known = np.concatenate([store.rows for store in stores])
        begin = len(known) - len(rows)
        if not np.array_equal(known[begin:], rows):
            raise ValueError(f"{self.paths[0]} and the other shards have other rows than their headers say")
        size = batch_rows or Journal.read(self.paths[0] / JOURNAL).batch_rows
        for start in range(begin, len(known), size):
            yield _between(stores, start, start + size)


def _between(stores: Sequence[FeatureStore], start: int, stop: int) -> NDArray[np.float32]:
    """Return the features of rows from `start` to before `stop`, numbered through all stores."""
    found, first = [], 0
    for store in stores:
        found.append(store.features[max(0, start - first) : max(0, stop - first)])
        first += len(store)
    return np.concatenate(found).astype(np.float32)


def finished_shards(base: Path, whole: Header) -> FinishedShards | None:
    """Return all shards of a store, where they are finished below folder `base`; else None."""
    found: dict[int, dict[int, Path]] = {}
    for file in sorted(base.glob(f"{whole.name_stem}-*shard*of*/{HEADER}")):
        with suppress(ValueError):  # a damaged store is refused where it is asked for by name
            header = read_header(file.parent)
            if not (header.is_shard_of(whole) and is_finished(file.parent)):
                continue
            assert header.subset is not None
            assert header.subset.shard is not None
            shard = header.subset.shard
            found.setdefault(shard.of, {})[shard.number] = file.parent
    for of, shards in sorted(found.items()):
        if len(shards) == of:
            return FinishedShards(tuple(shards[number] for number in range(1, of + 1)))
    return None
