"""Features that worker processes share: float32 matrices on disk, mapped into memory, read once by the system."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Features
from i2cansay.datasets import get_dataset
from i2cansay.disk.atomic import write_atomically
from i2cansay.disk.places import cache_folder, data_folders
from i2cansay.features import encode_dataset, load_npz

#: Called with what is encoded, the rows done and the rows in all.
EncodingProgress: TypeAlias = Callable[[str, int, int], None]

# Names under which ready-made features of an encoder are handed round.
SHORT_NAMES = {"efficientnet-lite0": "efflite0"}
SPLITS = ("train", "test")


@dataclass(frozen=True)
class SharedFeatures:
    """Where the features of a data set under an encoder lie, ready to be mapped.

    Attributes
    ----------
    folder : path
        Holds `train.npy`, `test.npy` (float32, (n, d)) and `train-labels.npy`, `test-labels.npy` (int64, (n,)).
    identity : mapping
        What a record says about the features; its `fingerprint` changes when any of them does. For an encoder's
        stages `blocks` has the widths of the blocks.
    """

    folder: Path
    identity: Mapping[str, Any]

    @property
    def fingerprint(self) -> str:
        """Hash of data and encoder."""
        return str(self.identity["fingerprint"])

    @property
    def blocks(self) -> tuple[int, ...]:
        """Widths of the runs of columns that come from one layer of the encoder each; their sum is d."""
        return tuple(self.identity.get("blocks") or self.identity["train"][1:])

    def open(self, split: str) -> tuple[Features, NDArray[np.int64]]:
        """Map features, (n, d) float32 and read-only, and read labels, (n,)."""
        features: Features = np.asarray(np.load(self.folder / f"{split}.npy", mmap_mode="r"))
        return features, np.load(self.folder / f"{split}-labels.npy")


def share_features(
    dataset: str, encoder: str, *, data: Path | None = None, progress: EncodingProgress | None = None
) -> SharedFeatures:
    """Find the features of a data set by name, encoding its images where nobody has, and make them mappable.

    First `<dataset>_<encoder>_train.npz` and `_test.npz` are looked for in the folders of `I2CANSAY_DATA`; else
    the images are encoded into the feature store, which keeps what is finished. Where a folder `data` is given, it
    is searched in place of these.
    """
    files = _npz_files(dataset, encoder, data)
    return _from_npz(dataset, encoder, files) if files else _from_images(dataset, encoder, data, progress)


def has_ready_features(dataset: str, encoder: str) -> bool:
    """Whether features lie ready as NPZ files, so that no image has to be encoded."""
    return bool(_npz_files(dataset, encoder))


def _npz_files(dataset: str, encoder: str, data: Path | None = None) -> list[Path]:
    names = {SHORT_NAMES.get(encoder, encoder): None, encoder: None}
    for folder in data_folders() if data is None else (data,):
        for name in names:
            files = [folder / f"{dataset}_{name}_{split}.npz" for split in SPLITS]
            if all(file.is_file() for file in files):
                return files
    return []


def _from_npz(dataset: str, encoder: str, files: list[Path]) -> SharedFeatures:
    digest = hashlib.sha256(
        b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)
    ).hexdigest()

    def parts() -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
        loaded = {}
        for split, file in zip(SPLITS, files, strict=True):
            X, y = load_npz(file)
            if y is None or y.dtype.kind not in "iu":
                raise ValueError(f"{file}: expected whole-number labels y")
            loaded[split] = X, y.astype(np.int64)
        return loaded

    return _share(parts, {"fingerprint": digest, "dataset": dataset, "encoder": encoder, "from": "npz"})


def _from_images(
    dataset: str, encoder: str, data: Path | None, progress: EncodingProgress | None
) -> SharedFeatures:
    from i2cansay.encoders import get_encoder

    found, model = get_dataset(dataset, root=data), get_encoder(encoder)
    stores = {}
    for split in SPLITS:
        title = f"{dataset} {split}"
        tell = None if progress is None else (lambda done, total, title=title: progress(title, done, total))
        stores[split] = encode_dataset(found, model, split, progress=tell)
    header = stores["train"].header
    prints = (header.dataset_fingerprint, header.encoder_fingerprint)
    identity: dict[str, Any] = {
        "fingerprint": hashlib.sha256("\n".join((*prints, header.dtype)).encode()).hexdigest(),
        "dataset": dataset,
        "encoder": encoder,
        "from": "images",
        "dataset_fingerprint": prints[0],
        "encoder_fingerprint": prints[1],
    }
    if header.features != "last":  # records of the last layer stay as they were
        identity["blocks"] = [block.width for block in header.blocks]
    return _share(lambda: {split: (part.features, part.labels) for split, part in stores.items()}, identity)


def _share(
    parts: Callable[[], Mapping[str, tuple[NDArray[Any], NDArray[Any]]]], identity: Mapping[str, Any]
) -> SharedFeatures:
    """Write float32 copies, once per fingerprint: float16 costs a conversion at every batch of every cell."""
    title = identity["dataset"].replace(":", ".")  # "package.module:NAME" is no name for a folder everywhere
    folder = cache_folder() / "shared" / f"{title}-{identity['fingerprint'][:16]}"
    names = [f"{split}{part}.npy" for split in SPLITS for part in ("", "-labels")]
    if not all((folder / name).is_file() for name in names):
        for split, (X, y) in parts().items():
            _save(folder / f"{split}.npy", np.asarray(X, dtype=np.float32))
            _save(folder / f"{split}-labels.npy", np.asarray(y, dtype=np.int64))
    shapes = {split: list(np.load(folder / f"{split}.npy", mmap_mode="r").shape) for split in SPLITS}
    return SharedFeatures(folder, {**identity, **shapes})


def _save(path: Path, array: NDArray[Any]) -> None:
    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:  # an open file: numpy would add .npy to the temporary name
            np.save(file, array)

    write_atomically(path, write)
