"""Reads the python batches of CIFAR, which are pickles, without running anything that they name.

Only dicts, lists, strings, numbers and arrays of bytes are allowed, and the arrays are built here from their bytes;
any other global that a pickle names is refused.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np

from i2cansay.datasets.dataset import Labels, Pixels


class _PickledArray:
    """Stands in for numpy's array while the pickle is read; keeps only shape and bytes."""

    pixels: Pixels

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _version, shape, dtype, fortran_order, content = state
        if not isinstance(dtype, _PickledType) or dtype.name not in ("u1", "|u1"):
            raise pickle.UnpicklingError("an array in it does not hold bytes")
        if isinstance(content, str):
            content = content.encode("latin-1")
        # A pickled array says in which order it keeps its bytes.
        self.pixels = np.frombuffer(content, dtype=np.uint8).reshape(
            shape, order="F" if fortran_order else "C"
        )


class _PickledType:
    """Stands in for numpy's dtype; keeps only its name."""

    def __init__(self, name: str | bytes, *_: object) -> None:
        self.name = name.decode() if isinstance(name, bytes) else name

    def __setstate__(self, state: object) -> None:
        """Byte order and alignment do not matter for single bytes."""


class _NoArray:
    """Stands in for the array type, which pickles name but never call."""


def _new_array(*_: object) -> _PickledArray:
    return _PickledArray()


def _encode(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"a string in it is encoded as {encoding}")
    return text.encode("latin-1")


_ADMITTED: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy.core.multiarray", "_reconstruct"): _new_array,
    ("numpy._core.multiarray", "_reconstruct"): _new_array,
    ("numpy", "ndarray"): _NoArray,
    ("numpy", "dtype"): _PickledType,
    ("_codecs", "encode"): _encode,
}


class _BatchUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str, /) -> Any:
        try:
            return _ADMITTED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no CIFAR batch needs") from None


def load_batch(content: bytes, label_key: bytes, origin: str) -> tuple[Pixels, Labels]:
    """Read one batch.

    Returns
    -------
    planes : uint8 of shape (n, 3072), as stored.
    labels : int64 of shape (n,).
    """
    try:
        batch = _BatchUnpickler(BytesIO(content), encoding="bytes").load()
        keyed = {key.encode() if isinstance(key, str) else key: value for key, value in batch.items()}
        planes, labels = keyed[b"data"].pixels, np.array(keyed[label_key], dtype=np.int64)
    except Exception as error:  # a damaged pickle can raise anything
        raise ValueError(f"{origin} is not an official CIFAR batch: {error}") from error
    if planes.ndim != 2 or planes.shape != (len(labels), 3072):
        raise ValueError(
            f"{origin}: expected ({len(labels)}, 3072) pixels for its labels, got {planes.shape}"
        )
    return planes, labels
