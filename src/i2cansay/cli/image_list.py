"""A list of images and their labels that a person made: CSV with a header, or JSONL. Paths are relative to it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

PATH_COLUMNS = ("path", "file", "image", "filename")
LINES_OF_JSON = (".jsonl", ".ndjson")


def is_image_list(path: Path) -> bool:
    """Whether a file is a list of images: JSONL, or CSV with a column of paths; any other CSV holds features."""
    if path.suffix.lower() in LINES_OF_JSON:
        return True
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        try:
            header = next(csv.reader(file), [])
        except csv.Error:
            return False
    return _path_column(header) is not None


def read_image_list(path: Path, label_column: str | None) -> list[tuple[Path, str | None]]:
    """Return the images of a list and their labels; where `label_column` is None they need none, and get None.

    Raises
    ------
    ValueError
        Naming the line where a path or a label is missing.
    """
    rows = _json_rows(path) if path.suffix.lower() in LINES_OF_JSON else _csv_rows(path)
    found: list[tuple[Path, str | None]] = []
    for line, row in rows:
        column = _path_column(list(row))
        if column is None or not row[column]:
            raise ValueError(
                f"{path}, line {line}: expected the path of an image under {' or '.join(PATH_COLUMNS)}"
            )
        if label_column is not None and not row.get(label_column):
            raise ValueError(
                f"{path}, line {line}: expected a label under {label_column!r}; --label-column names another column"
            )
        found.append((path.parent / row[column], None if label_column is None else row[label_column]))
    if not found:
        raise ValueError(f"{path} names no images")
    return found


def _path_column(columns: list[str]) -> str | None:
    return next((name for name in PATH_COLUMNS if name in columns), None)


def _csv_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        try:
            for row in reader:
                if None in row or None in row.values():
                    raise ValueError(
                        f"{path}, line {reader.line_num}: expected as many cells as in the header"
                    )
                yield reader.line_num, {name: cell.strip() for name, cell in row.items()}
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{path} is not a CSV file: {error}") from error


def _json_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise ValueError(
                f'{path}, line {number}: expected an object such as {{"path": "a.jpg", "label": "dent"}}'
            )
        # A label may be written as a number; anything that is neither text nor number is none.
        texts = {
            name: value for name, value in row.items() if isinstance(value, str | int) and value is not True
        }
        yield number, {name: str(value).strip() for name, value in texts.items() if value is not False}
