"""Weights from a checkpoint file as plain arrays, without torch and without trusting the file.

Four formats are read: torch's `.pth` (today's zip archive and the older stream of pickles, both through a
restricted unpickler), `.safetensors`, `.npz`, and TensorFlow.js models (a folder, or an npm package's `.tgz`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.tfjs_file import MANIFEST, files_of_tfjs, read_tfjs
from i2cansay.encoders.torch_file import CheckpointError, decode, read_torch

__all__ = ["CheckpointError", "Weights", "files_of", "read_checkpoint"]

Weights = dict[str, NDArray[Any]]

SAFETENSORS = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "bfloat16",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U8": "|u1",
    "BOOL": "|b1",
}


def read_checkpoint(path: str | Path) -> Weights:
    """Read every tensor of a checkpoint.

    Parameters
    ----------
    path : str or Path
        A `.pth`, `.pt`, `.bin`, `.safetensors`, `.npz` or `.tgz` file, or the folder of a TensorFlow.js model.

    Returns
    -------
    dict of str to ndarray
        Arrays by their key in the file; bfloat16 becomes float32, other types stay. A dictionary wrapped as
        `{"model": ...}` or `{"state_dict": ...}` is unwrapped, and a prefix `module.` or `backbone.` that
        every key carries is taken off; a `head.` beside `backbone.` is left out.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "two.npz", weight=np.eye(2), bias=np.zeros(2))
    ...     sorted(read_checkpoint(Path(folder) / "two.npz"))
    ['bias', 'weight']
    """
    path = Path(path)
    read = read_tfjs if _is_tfjs(path) else READERS.get(path.suffix.lower())
    if read is None:
        raise ValueError(f"expected a checkpoint ending in {', '.join(READERS)}, got {path.name!r}")
    if not path.is_file() and not path.is_dir():
        raise FileNotFoundError(f"no checkpoint at {path}")
    try:
        weights = read(path)
    except CheckpointError as error:
        raise CheckpointError(f"{path.name}: {error}") from error
    except OSError:
        raise
    except Exception as error:  # a damaged file can fail anywhere in zipfile, pickle or the header's JSON
        raise CheckpointError(f"{path.name} is damaged or not a checkpoint: {error}") from error
    if not weights:
        raise CheckpointError(f"{path.name} holds no tensors")
    return _without_prefix(weights)


def files_of(path: Path) -> list[Path]:
    """Return the files that a checkpoint consists of: itself, or those of a TensorFlow.js model in a folder."""
    return files_of_tfjs(path) if _is_tfjs(path) else [path]


def _is_tfjs(path: Path) -> bool:
    return path.is_dir() or path.name == MANIFEST


def _read_npz(path: Path) -> Weights:
    # Opened here: numpy leaves the file open where it is no archive.
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _read_safetensors(path: Path) -> Weights:
    from safetensors import deserialize

    weights: Weights = {}
    for name, entry in deserialize(path.read_bytes()):  # type: ignore[no-untyped-call]
        if entry["dtype"] not in SAFETENSORS:
            raise CheckpointError(f"tensor {name!r} has the unsupported type {entry['dtype']}")
        weights[name] = decode(entry["data"], SAFETENSORS[entry["dtype"]]).reshape(entry["shape"])
    return weights


READERS: Mapping[str, Callable[[Path], Weights]] = {
    ".pth": read_torch,
    ".pt": read_torch,
    ".bin": read_torch,
    ".safetensors": _read_safetensors,
    ".npz": _read_npz,
    ".tgz": read_tfjs,
}


def _without_prefix(weights: Weights) -> Weights:
    for prefix in ("module.", "backbone."):
        # DINO keeps a projection head beside the backbone, which features do not need.
        inside = {key: array for key, array in weights.items() if key.startswith(prefix)}
        beside = [key for key in weights if key not in inside]
        if inside and all(prefix == "backbone." and key.startswith("head.") for key in beside):
            weights = {key.removeprefix(prefix): array for key, array in inside.items()}
    return weights
