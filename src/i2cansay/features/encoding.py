"""From images to a feature store: encode what is missing, once."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from i2cansay.datasets import Dataset
from i2cansay.disk.file_lock import exclusive
from i2cansay.disk.places import cache_folder
from i2cansay.encoders.image_error import ImageError
from i2cansay.encoders.stages import LAST
from i2cansay.features.finding import finished_store, is_finished, open_store
from i2cansay.features.header import Header, Subset
from i2cansay.features.shard import Shard
from i2cansay.features.shard_joining import finished_shards
from i2cansay.features.store import LOCK, FeatureStore
from i2cansay.features.writer import CHUNK_ROWS, StoreWriter
from i2cansay.streams import low_data

#: Called with the rows done and the rows in all, first with those that were there already.
Progress: TypeAlias = Callable[[int, int], None]
DTYPES = ("float16", "float32")


class BatchEncoder(Protocol):
    """What encoding needs of an encoder."""

    @property
    def name(self) -> str: ...
    @property
    def dim(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    def encode_batches(
        self, images: Iterable[Any], *, batch_size: int | None = None
    ) -> Iterator[NDArray[np.float32]]:
        """Yield features of shape (b, dim) in the order of the images."""
        ...


class RowEncoder(Protocol):
    """What has features from elsewhere: `ray_encoding.RayEncoding`, or `shard_joining.FinishedShards`."""

    def __call__(
        self, dataset: Dataset, fingerprint: str, split: str, rows: NDArray[np.int64], batch_rows: int | None
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the features of `rows` of a split in order, (b, dim), by the encoder with this fingerprint."""
        ...


def store_folder() -> Path:
    """Folder in which stores are kept unless another is named."""
    return cache_folder() / "features"


def encode_dataset(
    dataset: Dataset,
    encoder: BatchEncoder,
    split: str,
    *,
    folder: str | Path | None = None,
    dtype: str = "float16",
    limit: int | None = None,
    fraction: float | None = None,
    seed: int = 0,
    shard: Shard | None = None,
    chunk_rows: int = CHUNK_ROWS,
    progress: Progress | None = None,
    waiting: Callable[[], None] | None = None,
    elsewhere: RowEncoder | None = None,
) -> FeatureStore:
    """Return the features of a split, encoding only what no store holds yet.

    A run that was killed continues after its last committed chunk, and the result equals that of an uninterrupted
    run byte for byte. A second process that wants the same store waits and then reads it.

    Parameters
    ----------
    dataset, encoder, split : what to encode, and with what; their fingerprints name the store.
    folder : where stores are kept; `I2CANSAY_CACHE/features` or the user's cache folder by default.
    dtype : "float16" halves the store and is enough: on efficientnet-lite0 features of CIFAR-100 (5,000
        training and 2,000 test rows) rounding to it moved 1 of 2,000 nearest-mean predictions and none of
        LDA's, and neither accuracy. "float32" keeps every bit.
    limit : only the first rows.
    fraction, seed : only this share of every class, drawn as the low-data streams draw it.
    shard : only this one of several runs of the rows that are left, so that machines can encode them apart.
    chunk_rows : rows per commit; a kill costs at most so many.
    progress : called with rows done and rows in all, after every batch.
    waiting : called once when another process is at work on the same store.
    elsewhere : encodes the rows in place of `encoder`, which names the store, on other machines.

    Notes
    -----
    A part of a split (`limit`, `fraction`, `shard`) is a store of its own that cannot be taken for the whole one;
    when the whole store is finished, parts are served from it and nothing is encoded. When all shards of a store are
    finished in the same folder, the store is copied from them. Features of the last layer are served from a finished
    store of the same encoder's stages, whose first block they are.

    Examples
    --------
    >>> import tempfile
    >>> from i2cansay.datasets import get_dataset
    >>> class Brightness:
    ...     name, dim, fingerprint = "brightness", 1, "mean of all pixels"
    ...     def encode_batches(self, images, *, batch_size=None):
    ...         for image in images:
    ...             yield np.array([[image.mean()]], dtype=np.float32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = encode_dataset(get_dataset("digits"), Brightness(), "test", folder=folder, limit=3)
    ...     print(store.features.shape, store.features.dtype, store.labels)
    (3, 1) float16 [0 9 5]
    """
    if dtype not in DTYPES:
        raise ValueError(f"expected dtype {' or '.join(DTYPES)}, got {dtype!r}")
    base = store_folder() if folder is None else Path(folder).expanduser()
    every_label = dataset.labels(split)
    rows, subset = _chosen_rows(every_label, limit=limit, fraction=fraction, seed=seed)
    if not len(rows):
        raise ValueError(f"{dataset.name} has no images in {split!r}")
    if shard is not None and shard.of > 1:
        rows, subset = rows[shard.span(len(rows))], replace(subset or Subset(), shard=shard)
    header = _header(dataset, encoder, split, rows, dtype=dtype, subset=subset)
    if subset is not None:
        every_row = np.arange(len(every_label), dtype=np.int64)
        whole = _header(dataset, encoder, split, every_row, dtype=dtype, subset=None)
        if (complete := finished_store(base, whole)) is not None:
            return complete.take(rows, header)
    if (store := finished_store(base, header)) is not None:
        return store
    path = base / header.store_name
    with exclusive(path / LOCK, waiting=waiting):
        # Another process may have finished it while this one waited for the lock.
        if not is_finished(path):
            shards = finished_shards(base, header)
            if shards is not None and progress is not None:
                progress(len(rows), len(rows))
            _fill(
                path,
                header,
                dataset,
                encoder,
                rows,
                chunk_rows=chunk_rows,
                progress=progress if shards is None else None,
                elsewhere=elsewhere if shards is None else shards,
            )
    return open_store(path, header)


def _fill(
    path: Path,
    header: Header,
    dataset: Dataset,
    encoder: BatchEncoder,
    rows: NDArray[np.int64],
    *,
    chunk_rows: int,
    progress: Progress | None,
    elsewhere: RowEncoder | None,
) -> None:
    labels = dataset.labels(header.split)[rows]
    with StoreWriter(path, header, labels, rows, chunk_rows=chunk_rows) as writer:
        done = writer.committed
        if progress is not None:
            progress(done, len(rows))
        todo = rows[done:]
        try:
            if not len(todo):
                batches: Iterator[NDArray[np.float32]] = iter(())
            elif elsewhere is not None:
                batches = elsewhere(
                    dataset, header.encoder_fingerprint, header.split, todo, writer.batch_rows
                )
            else:
                images = dataset.images(header.split, todo)
                batches = encoder.encode_batches(images, batch_size=writer.batch_rows)
            for batch in batches:
                writer.append(batch)
                done += len(batch)
                if progress is not None:
                    progress(done, len(rows))
            writer.finish()
        except ImageError as error:
            reason = _named(str(error), dataset, header.split, rows[writer.started :])
            raise ValueError(f"{dataset.name} {header.split}: {reason}") from error
        except ValueError as error:
            raise ValueError(
                f"{dataset.name} {header.split}, encoding from row {rows[writer.started]} on: {error}"
            ) from error


def _named(reasons: str, dataset: Dataset, split: str, rows: NDArray[np.int64]) -> str:
    """Name row and file in the reasons of an encoder, which counts images from where this run began."""

    def name(match: re.Match[str]) -> str:
        row = int(rows[int(match[1])])
        image = next(dataset.images(split, [row]))
        return f"row {row} ({image}): " if isinstance(image, Path) else f"row {row}: "

    # One error may tell of several images, and only in words.
    return re.sub(r"\bimage (\d+): ", name, reasons)


def _header(
    dataset: Dataset,
    encoder: BatchEncoder,
    split: str,
    rows: NDArray[np.int64],
    *,
    dtype: str,
    subset: Subset | None,
) -> Header:
    labels = dataset.labels(split)[rows]
    # An encoder of a user's own need not have stages and views.
    reads_stages = getattr(encoder, "features", LAST) != LAST
    return Header(
        dataset=dataset.name,
        split=split,
        dataset_fingerprint=dataset.fingerprint,
        encoder=encoder.name,
        encoder_fingerprint=encoder.fingerprint,
        rows=len(rows),
        dim=encoder.dim,
        dtype=dtype,
        class_names=dataset.class_names,
        labels_checksum=zlib.crc32(labels.tobytes() + rows.tobytes()),
        subset=subset,
        views=getattr(encoder, "views", "single"),
        features=getattr(encoder, "features", LAST),
        stage_blocks=getattr(encoder, "blocks", ()) if reads_stages else (),
        last_fingerprint=getattr(encoder, "last_fingerprint", "") if reads_stages else "",
    )


def _chosen_rows(
    labels: NDArray[np.int64], *, limit: int | None, fraction: float | None, seed: int
) -> tuple[NDArray[np.int64], Subset | None]:
    """Rows to encode in ascending order, and the subset they make; None when they are all rows."""
    if limit is not None and limit < 1:
        raise ValueError(f"expected a limit of at least 1 image, got {limit}")
    if fraction is not None and not (0 < fraction <= 1 and math.isfinite(fraction)):
        raise ValueError(f"expected a fraction above 0 and up to 1, got {fraction}")
    rows = np.arange(len(labels), dtype=np.int64)
    if fraction is not None and fraction < 1:
        rows = low_data(labels, fraction, seed)
    else:
        fraction, seed = None, 0
    if limit is not None and limit < len(rows):
        rows = rows[:limit]
    else:
        limit = None
    subset = None if fraction is None and limit is None else Subset(fraction, seed, limit)
    return rows, subset
