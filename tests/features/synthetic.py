"""A small data set and an encoder that needs no network; run as a script it encodes one with the other."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.datasets import Dataset
from i2cansay.datasets.arrays import ArraySplit
from i2cansay.features import encode_dataset

DIM = 5


def make_dataset(n: int = 100, seed: int = 0) -> Dataset:
    """Random images of 4x4 in four classes; the test split is smaller."""
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 256, (n + 10, 4, 4, 3), dtype=np.uint8)
    labels = np.arange(n + 10) % 4
    parts = {
        "train": ArraySplit(lambda: (pixels[:n], labels[:n])),
        "test": ArraySplit(lambda: (pixels[n:], labels[n:])),
    }
    return Dataset("synthetic", ("a", "b", "c", "d"), parts, "in memory")


class FakeEncoder:
    """A fixed random projection; a batch takes `seconds`. Counts the images it was given."""

    def __init__(
        self, *, batch_size: int = 4, seconds: float = 0.0, fingerprint: str = "fake", scale: float = 1.0
    ) -> None:
        self.name, self.dim, self.fingerprint = "fake", DIM, fingerprint
        self.n_images = 0
        self._batch_size, self._seconds = batch_size, seconds
        self._weights = np.random.default_rng(1).normal(scale=scale / 48, size=(48, DIM))

    def encode_batches(
        self, images: Iterable[Any], *, batch_size: int | None = None
    ) -> Iterator[NDArray[np.float32]]:
        """Yield features of shape (b, DIM)."""
        iterator = iter(images)
        while batch := list(islice(iterator, batch_size or self._batch_size)):
            time.sleep(self._seconds)
            self.n_images += len(batch)
            yield (np.stack(batch).reshape(len(batch), -1) @ self._weights).astype(np.float32)


if __name__ == "__main__":
    encode_dataset(
        make_dataset(),
        FakeEncoder(seconds=float(sys.argv[2])),
        "train",
        folder=sys.argv[1],
        chunk_rows=8,
        progress=lambda done, total: print(done, flush=True),
        waiting=lambda: print("waiting", flush=True),
    )
