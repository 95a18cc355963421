"""Feature rows from a file a person made: CSV with a header, or NPZ."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.features.npz import load_npz


def load_features(path: str | Path, *, label: str = "label") -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return features, (n, d), and labels, (n,), or None where the file has none.

    Parameters
    ----------
    path : file
        `.npz` with `X` or `F` and perhaps `y`, else CSV: a header, one row per sample, one column per feature.
    label : str
        The column of a CSV that holds the label. Labels that are all whole numbers become numbers.
    """
    path = Path(path)
    if path.suffix == ".npz":
        return load_npz(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; expected CSV with a header, or .npz")
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            header, *rows = list(csv.reader(file))
        except (ValueError, UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{path} is not a CSV file with a header: {error}") from error
    rows = [row for row in rows if row]
    if len(set(header)) != len(header):
        raise ValueError(f"{path}: a column name occurs twice in the header")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(
                f"{path}, line {number}: expected {len(header)} cells as in the header, got {len(row)}"
            )
    if not rows:
        raise ValueError(f"{path} has a header but no rows")
    columns = [index for index, name in enumerate(header) if name != label]
    features = np.array(
        [[_number(path, n, row[i], header[i]) for i in columns] for n, row in enumerate(rows, 2)]
    )
    if label not in header:
        return features, None
    at = header.index(label)
    return features, _labels([row[at].strip() for row in rows])


def load_labelled(path: str | Path, *, label: str = "label") -> tuple[NDArray[Any], NDArray[Any]]:
    """Return features, (n, d), and labels, (n,), which must be there."""
    features, labels = load_features(path, label=label)
    if labels is None:
        raise ValueError(
            f"{path} has no labels; expected a column {label!r} (name it with --label), or y in an .npz"
        )
    return features, labels


def _number(path: Path, line: int, text: str, column: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"{path}, line {line}, column {column!r}: expected a number, got {text!r}; is it the label? use --label"
        ) from None


def _labels(texts: list[str]) -> NDArray[Any]:
    try:
        whole = [int(text) for text in texts]
    except ValueError:
        return np.array(texts, dtype=np.str_)
    # 007 and 7 are different names; only what prints as it was written is a number.
    if [str(number) for number in whole] == texts:
        return np.array(whole, dtype=np.int64)
    return np.array(texts, dtype=np.str_)
