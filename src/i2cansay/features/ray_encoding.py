"""Encoding on a Ray cluster: Ray Data hands out rows of a data set to a pool of encoders and brings features back.

Every actor opens data set and encoder itself, by name, so images do not travel; the files must be found under the
same paths on every machine. The machine that asks writes the store, in the order of the rows.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.datasets import Dataset, get_dataset
from i2cansay.encoders import get_encoder
from i2cansay.encoders.encoder import BATCH_SIZE, Encoder
from i2cansay.encoders.image_error import ImageError, summary_of
from i2cansay.engines.ray_cluster import connected, import_ray

# Batches of the encoder that an actor takes at a time: about a second of work, of which a dying machine costs a few.
BATCHES_AT_A_TIME = 8
# What an actor is counted for. It works on one core; if it were counted for a whole one, a pool of as many actors as
# there are cores would leave none to the tasks that feed it, and wait forever.
CPUS_PER_ACTOR = 0.5


@dataclass(frozen=True)
class EncodingRecipe:
    """What an actor opens: a data set and an encoder, by what `get_dataset` and `get_encoder` take."""

    dataset: str
    encoder: str
    root: Path | None = None
    size: int | None = None
    weights: Path | None = None
    device: str = "cpu"

    def open(self) -> tuple[Dataset, Encoder]:
        """Open both, the encoder for one core."""
        encoder = get_encoder(
            self.encoder, size=self.size, weights=self.weights, device=self.device, threads=1
        )
        return get_dataset(self.dataset, root=self.root), encoder


@dataclass(frozen=True)
class EncodingWork:
    """What an actor encodes, and by what it knows that it has opened the same data set and encoder."""

    recipe: EncodingRecipe
    split: str
    batch_rows: int
    labels_checksum: int
    encoder_fingerprint: str


class EncodingActor:
    """Encodes the rows it is given; lives in a process of its own on some machine."""

    def __init__(self, work: EncodingWork) -> None:
        self._work = work
        self._dataset, self._encoder = work.recipe.open()
        same = labels_checksum(self._dataset, work.split) == work.labels_checksum
        if not (same and self._encoder.fingerprint == work.encoder_fingerprint):
            what = f"the encoder {work.recipe.encoder}" if same else f"the data set {work.recipe.dataset}"
            raise ValueError(f"{what} of this machine differs from that of the machine that asked")

    def __call__(self, given: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return features, (n, dim), and the place of each among all rows; where there are none, what is wrong."""
        work, start = self._work, int(given["start"][0])
        rows = np.frombuffer(given["rows"][0], dtype=np.int64)
        encoded = self._encoder.encode_each(
            self._dataset.images(work.split, rows), batch_size=work.batch_rows
        )
        if encoded.errors:
            problem = str(summary_of([error.at((error.index or 0) + start) for error in encoded.errors]))
            features = np.zeros((1, self._encoder.dim), dtype=np.float32)
            return {"features": features, "place": np.array([start]), "problem": np.array([problem])}
        return {
            "features": encoded.features,
            "place": np.arange(start, start + len(rows)),
            "problem": np.array([""] * len(rows)),
        }


@dataclass(frozen=True)
class RayEncoding:
    """Encodes rows of a split on a Ray cluster; what `encode_dataset` takes as `elsewhere`.

    Parameters
    ----------
    recipe : EncodingRecipe
        Of the data set and the encoder that `encode_dataset` is given.
    address : str, optional
        Of the cluster; without it Ray starts on this machine, and ends when all rows are encoded.
    """

    recipe: EncodingRecipe
    address: str | None = None

    def __call__(
        self, dataset: Dataset, fingerprint: str, split: str, rows: NDArray[np.int64], batch_rows: int | None
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the features of `rows` in order, (b, dim), b being `batch_rows`, smaller at the end."""
        checksum = labels_checksum(dataset, split)
        work = EncodingWork(self.recipe, split, batch_rows or BATCH_SIZE, checksum, fingerprint)
        with connected(self.address) as ray, _quiet_in_order():
            done = 0
            cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
            for block in _blocks(work, rows, actors=cores):
                if problem := str(block["problem"][0]):
                    raise ImageError(problem)
                expected = np.arange(done, done + len(block["place"]))
                if not np.array_equal(block["place"], expected):
                    raise RuntimeError(f"rows from {done} on came in another order than they were asked for")
                done += len(expected)
                for start in range(0, len(expected), work.batch_rows):
                    yield block["features"][start : start + work.batch_rows]


def labels_checksum(dataset: Dataset, split: str) -> int:
    """Return a number that two data sets have in common if their labels in a split are the same."""
    return zlib.crc32(dataset.labels(split).tobytes())


def _blocks(work: EncodingWork, rows: NDArray[np.int64], actors: int) -> Iterator[Mapping[str, NDArray[Any]]]:
    data, size = import_ray("ray.data"), work.batch_rows * BATCHES_AT_A_TIME
    items = [
        {"start": start, "rows": rows[start : start + size].tobytes()} for start in range(0, len(rows), size)
    ]
    encoded = data.from_items(items, override_num_blocks=len(items)).map_batches(
        EncodingActor,
        fn_constructor_args=(work,),
        batch_size=1,
        compute=data.ActorPoolStrategy(size=min(actors, len(items))),
        num_cpus=CPUS_PER_ACTOR,
    )
    yield from encoded.iter_batches(batch_size=None, batch_format="numpy")


@contextmanager
def _quiet_in_order() -> Iterator[None]:
    """Let Ray Data keep the order of rows, draw no bars and tell of errors alone."""
    context = import_ray("ray.data").DataContext.get_current()
    before = context.execution_options.preserve_order, context.enable_progress_bars
    logger = logging.getLogger("ray.data")
    level = logger.level
    context.execution_options.preserve_order, context.enable_progress_bars = True, False
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        context.execution_options.preserve_order, context.enable_progress_bars = before
        logger.setLevel(level)
