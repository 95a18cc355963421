"""Images in parquet files as the Hugging Face hub lays them out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from i2cansay.datasets.contents import file_digest
from i2cansay.datasets.dataset import Labels, Rows
from i2cansay.datasets.definition import Definition, Found, Layout

IMAGE_COLUMNS = ("img", "image")
LABEL_COLUMNS = ("label", "fine_label", "labels")
_SPLIT_OF_FILE = re.compile(r"^(train|test|validation|valid|val)(?:[-_.].*)?\.parquet$")
_SPLIT_FOLDERS = ("train", "test", "validation", "valid", "val")
_VALIDATION = ("validation", "valid", "val")


def _pyarrow_parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "reading parquet files needs pyarrow: install it with pip install 'i2cansay[parquet]'"
        ) from error
    return pyarrow.parquet


@dataclass(frozen=True)
class ParquetSplit:
    """The rows of one or several parquet files; images stay encoded and are read one row group at a time."""

    files: tuple[Path, ...]
    image_column: str
    label_column: str
    class_names: tuple[str, ...]

    @cached_property
    def labels(self) -> Labels:
        """Label of every row, shape (n,)."""
        parquet = _pyarrow_parquet()
        columns = [parquet.read_table(file, columns=[self.label_column]).column(0) for file in self.files]
        values = [value for column in columns for value in column.to_pylist()]
        if any(value is None for value in values):
            raise ValueError(f"column {self.label_column!r} of {self.files[0]} has rows without a label")
        if values and isinstance(values[0], str):
            position = {name: index for index, name in enumerate(self.class_names)}
            return np.array([position[value] for value in values], dtype=np.int64)
        return np.array(values, dtype=np.int64)

    @cached_property
    def _groups(self) -> list[tuple[Path, int, int, int]]:
        """File, group in the file, first row and end row of every row group, in order."""
        groups, start = [], 0
        for file in self.files:
            metadata = _pyarrow_parquet().ParquetFile(file).metadata
            for index in range(metadata.num_row_groups):
                end = start + metadata.row_group(index).num_rows
                groups.append((file, index, start, end))
                start = end
        return groups

    def images(self, rows: Rows) -> Iterator[bytes]:
        """Yield encoded images; if the rows are in ascending order, every row group is read once."""
        ends = np.array([end for *_, end in self._groups])
        current, column, start = -1, None, 0
        for row in rows:
            group = int(np.searchsorted(ends, row, side="right"))
            if group != current:
                file, index, start, _ = self._groups[group]
                with _pyarrow_parquet().ParquetFile(file) as reader:
                    column = reader.read_row_group(index, columns=[self.image_column]).column(0)
                current = group
            assert column is not None
            value = column[int(row) - start].as_py()
            encoded = value["bytes"] if isinstance(value, dict) else value
            if not isinstance(encoded, bytes):
                raise ValueError(
                    f"row {row} of {self._groups[group][0]}: expected image bytes in column "
                    f"{self.image_column!r}, got {type(encoded).__name__}"
                )
            yield encoded

    def digest(self) -> str:
        """Hash of the files' contents, in order; of files above a gibibyte, of pieces (`file_digest`)."""
        return hashlib.sha256("".join(file_digest(file) for file in self.files).encode()).hexdigest()


def _files_by_split(folder: Path) -> dict[str, tuple[Path, ...]]:
    """Find files `train-*.parquet` or, as the hub itself converts them, `train/*.parquet`."""
    grouped: dict[str, list[Path]] = {}
    for file in sorted(folder.glob("*.parquet")):
        match = _SPLIT_OF_FILE.match(file.name)
        if match:
            grouped.setdefault(match[1], []).append(file)
    if not grouped:
        below = {split: sorted((folder / split).glob("*.parquet")) for split in _SPLIT_FOLDERS}
        grouped = {split: files for split, files in below.items() if files}
    # A data set without test labels is tested on its validation split, as is the custom on the hub.
    for name in _VALIDATION:
        if name in grouped:
            validation = grouped.pop(name)
            grouped.setdefault("test", validation)
    return {split: tuple(grouped[split]) for split in ("train", "test") if split in grouped}


def _class_names(schema: Any, label_column: str) -> tuple[str, ...] | None:
    """Return the class names that the `datasets` library keeps in the schema, if any."""
    raw = (schema.metadata or {}).get(b"huggingface")
    if raw is None:
        return None
    feature = json.loads(raw).get("info", {}).get("features", {}).get(label_column, {})
    names = feature.get("names")
    return tuple(str(name) for name in names) if names else None


def _names_in_rows(
    files: Sequence[Path], label_column: str, known: tuple[str, ...] | None
) -> tuple[str, ...]:
    """Return class names if the schema has none.

    These are the names of a known data set, unless the labels are other strings; otherwise the strings, sorted, or
    the numbers from 0 to the largest.
    """
    parquet = _pyarrow_parquet()
    values: set[Any] = set()
    for file in files:
        values.update(parquet.read_table(file, columns=[label_column]).column(0).unique().to_pylist())
    values.discard(None)
    if all(isinstance(value, str) for value in values):
        return known if known is not None and values <= set(known) else tuple(sorted(values))
    if all(isinstance(value, int) for value in values):
        return known or tuple(str(label) for label in range(max(values) + 1))
    raise ValueError(f"column {label_column!r} of {files[0]}: expected whole numbers or strings as labels")


def parquet_layout(
    *,
    labels: Sequence[str] = LABEL_COLUMNS,
    folders: Sequence[str] = ("data", "default"),
    class_names: tuple[str, ...] | None = None,
) -> Layout:
    """Return a layout of `train-*.parquet` or `train/*.parquet`, and the same for test, in a folder or below it.

    The layout does not apply to files without any of the columns `labels`: they are another data set. If the files
    do not name their classes, labels that are numbers stand for `class_names`, if given.
    """

    def find(folder: Path) -> Found | None:
        for place in (folder, *(folder / below for below in folders)):
            files = _files_by_split(place)
            if files:
                return _found(files, labels, class_names)
        return None

    return find


def _found(
    files: dict[str, tuple[Path, ...]], label_columns: Sequence[str], known: tuple[str, ...] | None
) -> Found | None:
    everything = [file for split in files.values() for file in split]
    schema = _pyarrow_parquet().read_schema(everything[0])
    label = next((name for name in label_columns if name in schema.names), None)
    image = next((name for name in IMAGE_COLUMNS if name in schema.names), None)
    if label is None or image is None:
        return None
    names = _class_names(schema, label) or _names_in_rows(everything, label, known)
    parts = {split: ParquetSplit(paths, image, label, names) for split, paths in files.items()}
    return Found("Hugging Face parquet", parts, names)


HUGGINGFACE = Definition(
    name="huggingface",
    title="any image data set of the Hugging Face hub, as parquet files",
    layouts=(parquet_layout(),),
    source="https://huggingface.co/datasets",
    files=(
        "Needed: train-*.parquet and test-*.parquet (or validation-*), or train/*.parquet and test/*.parquet, "
        "with a column img or image and a column label, in one folder or in its subfolder data/ or default/."
    ),
    needs_root=True,
)
