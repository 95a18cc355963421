"""Features in a plain NumPy archive, for those who bring their own."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def load_npz(path: str | Path) -> tuple[NDArray[np.floating[Any]], NDArray[Any] | None]:
    """Read features and, where there are any, labels from an `.npz` file with the keys `F`, `y` or `X`, `y`.

    Returns
    -------
    features : float32 (float64 if the file has that), shape (n, d).
    labels : integers or strings, shape (n,), or None where the file has no `y`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "two.npz"
    ...     np.savez(file, X=np.eye(2, dtype=np.float16), y=["cat", "dog"])
    ...     features, labels = load_npz(file)
    >>> features.dtype, labels.tolist()
    (dtype('float32'), ['cat', 'dog'])
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; expected an .npz file with the keys F, y or X, y")
    try:
        with path.open("rb") as file:
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("expected an .npz archive, got a single array")
            names = set(archive.files)
            key = next((name for name in ("F", "X") if name in names), None)
            if key is None:
                raise ValueError(f"expected the keys F, y or X, y; got {', '.join(sorted(names)) or 'none'}")
            features, labels = archive[key], archive["y"] if "y" in names else None
    except (ValueError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise ValueError(f"{path} cannot be used: {error}") from error
    if features.ndim != 2 or features.dtype.kind not in "fiu":
        raise ValueError(
            f"{path}: expected {key} as a table of numbers (n, d), got {features.shape} {features.dtype}"
        )
    if labels is not None and (labels.shape != (len(features),) or labels.dtype.kind not in "iuUSb"):
        raise ValueError(
            f"{path}: expected y as {len(features)} integers or strings, one per row of {key}; "
            f"got {labels.shape} {labels.dtype}"
        )
    # float16 is slow to compute with, and integers are not features; float64 is kept as it came.
    return features.astype(np.float64 if features.dtype == np.float64 else np.float32), labels
