"""Feature rows from a file a person made: CSV with a header, or NPZ."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.features.npz import load_npz


@dataclass(frozen=True)
class FeatureFile:
    """Features (n, d) with, where the file has them, labels (n,) and the names of the columns."""

    path: Path
    X: NDArray[Any]
    y: NDArray[Any] | None
    columns: tuple[str, ...] | None = None

    def labels(self) -> NDArray[Any]:
        """Return the labels, which must be there."""
        if self.y is None:
            raise ValueError(
                f"{self.path} has no labels; expected a column 'label' (or name it with --label-column), or y in an "
                ".npz"
            )
        return self.y

    def ordered_as(self, columns: tuple[str, ...] | None) -> FeatureFile:
        """Return the same with the columns in the order of `columns`; raise where they are others."""
        if columns is None or self.columns is None or columns == self.columns:
            return self
        if set(columns) != set(self.columns):
            missing, surplus = (
                sorted(set(columns) - set(self.columns)),
                sorted(set(self.columns) - set(columns)),
            )
            raise ValueError(
                f"{self.path}: the model was taught other columns; missing {missing[:5]}, not known {surplus[:5]}"
            )
        order = [self.columns.index(name) for name in columns]
        return replace(self, X=self.X[:, order], columns=columns)


def load_features(path: str | Path, *, label: str = "label") -> FeatureFile:
    """Read a file of features.

    Parameters
    ----------
    path : file
        `.npz` with `X` or `F` and perhaps `y`, else CSV: a header, one row per sample, one column per feature.
    label : str
        The column of a CSV that holds the label. Labels that are all whole numbers become numbers.
    """
    path = Path(path)
    if path.suffix == ".npz":
        return FeatureFile(path, *load_npz(path))
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; expected CSV with a header, or .npz")
    header, rows = _read_table(path)
    at = header.index(label) if label in header else None
    columns = [index for index in range(len(header)) if index != at]
    features = np.array([[_number(path, line, row[i], header[i]) for i in columns] for line, row in rows])
    labels = None if at is None else _labels(path, [(line, row[at].strip()) for line, row in rows])
    return FeatureFile(path, features, labels, tuple(header[i] for i in columns))


def _read_table(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header and the rows of a CSV file, each with the number of its line."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        try:
            lines = [(reader.line_num, row) for row in reader if row]
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{path} is not a CSV file: {error}") from error
    if not lines:
        raise ValueError(f"{path} is empty; expected CSV with a header")
    (_, header), *rows = lines
    if len(set(header)) != len(header):
        raise ValueError(f"{path}: a column name occurs twice in the header")
    if not rows:
        raise ValueError(f"{path} has a header but no rows")
    for number, row in rows:
        if len(row) != len(header):
            raise ValueError(
                f"{path}, line {number}: expected {len(header)} cells as in the header, got {len(row)}"
            )
    return header, rows


def _number(path: Path, line: int, text: str, column: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"{path}, line {line}, column {column!r}: expected a number, got {text!r}; is it the label? use "
            "--label-column"
        ) from None


def _labels(path: Path, cells: list[tuple[int, str]]) -> NDArray[Any]:
    if empty := [line for line, text in cells if not text]:
        raise ValueError(f"{path}, line {empty[0]}: the label is empty")
    texts = [text for _, text in cells]
    try:
        whole = [int(text) for text in texts]
    except ValueError:
        return np.array(texts, dtype=np.str_)
    # 007 and 7 are different names; only what prints as it was written is a number.
    if [str(number) for number in whole] == texts:
        return np.array(whole, dtype=np.int64)
    return np.array(texts, dtype=np.str_)
