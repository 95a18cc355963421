"""Figures that show data instead of accuracy: the Gaussian stream, and two classes along two dimensions.

Like tables, they are declared and stored as data; the page draws them from the stored data.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.experiments.declare.cell import hash_of
from i2cansay.experiments.run.record_folder import Report, write_text
from i2cansay.experiments.run.shared_features import EncodingProgress, share_features
from i2cansay.streams import make_stream

ILLUSTRATIONS: dict[str, str] = {
    "gaussian-stream": "gaussian-stream.toml",
    "dimensions": "dimensions.toml",
}
SUFFIX = ".figure"


@dataclass(frozen=True)
class Panel:
    """One drawing: lines by name over common positions."""

    title: str
    x_label: str
    y_label: str
    x: Sequence[float]
    lines: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Illustration:
    """The data of a figure, and the note below it."""

    name: str
    title: str
    note: str
    panels: Sequence[Panel]


@cache
def _declared(name: str) -> dict[str, Any]:
    text = files("i2cansay.experiments").joinpath("declared", ILLUSTRATIONS[name]).read_text(encoding="utf-8")
    return tomllib.loads(text)


def illustrate(
    name: str,
    *,
    encoder: str | None = None,
    data: Path | None = None,
    progress: EncodingProgress | None = None,
) -> Illustration:
    """Make a declared illustration; `data` is the folder of its data set where it is not on the search path.

    Examples
    --------
    >>> stream = illustrate("gaussian-stream")
    >>> shares = np.array(list(stream.panels[0].lines.values()))
    >>> shares.shape, bool(np.allclose(shares.sum(axis=0), 100, atol=0.5))
    ((10, 60), True)
    """
    declared = _declared(name)
    if declared["kind"] == "stream":
        return _stream(name, declared)
    encoder = encoder or declared["backbone"]
    X, y = share_features(declared["dataset"], encoder, data=data, progress=progress).open("train")
    return _dimensions(name, declared, encoder, X, y)


def _stream(name: str, declared: Mapping[str, Any]) -> Illustration:
    y = np.repeat(np.arange(declared["n_classes"]), declared["rows_per_class"])
    order = np.concatenate([y[batch.rows] for batch in make_stream(declared["stream"], y, seed=0)])
    parts = np.array_split(order, declared["points"])
    shares = 100 * np.array(
        [np.bincount(part, minlength=declared["n_classes"]) / part.size for part in parts]
    )
    first_seen = np.argsort(shares.argmax(axis=0), kind="stable")
    x = [100 * (place + 0.5) / len(parts) for place in range(len(parts))]
    lines = {f"class {rank + 1}": _rounded(shares[:, label]) for rank, label in enumerate(first_seen)}
    panel = Panel("class by class", "share of the stream, %", "share of the samples, %", x, lines)
    note = "Every sample comes once; a class swells and fades around its own time."
    return Illustration(name, declared["title"], note, [panel])


def _dimensions(
    name: str, declared: Mapping[str, Any], encoder: str, X: NDArray[Any], y: NDArray[Any]
) -> Illustration:
    parts = {each["name"]: X[np.flatnonzero(y == each["label"])] for each in declared["classes"]}
    stds = {label: part.std(axis=0) for label, part in parts.items()}
    panels = []
    for label, std in stds.items():
        others = [other for other_label, other in stds.items() if other_label != label]
        # The dimension in which this class varies least compared with the other: significant for it alone.
        dimension = int(np.argmax(np.min(others, axis=0) - std))
        panels.append(_histogram(parts, dimension, label, declared["bins"]))
    replaced = "" if encoder == declared["backbone"] else f", {encoder} in place of {declared['backbone']}"
    note = (
        "A dimension in which a class varies little tells much about that class and little about the other."
    )
    return Illustration(name, declared["title"] + replaced, note, panels)


def _histogram(parts: Mapping[str, NDArray[Any]], dimension: int, steady: str, bins: int) -> Panel:
    columns = {label: part[:, dimension] for label, part in parts.items()}
    every = np.concatenate(list(columns.values()))
    edges = np.linspace(every.min(), every.max(), bins + 1)
    lines = {
        label: _rounded(100 * np.histogram(column, edges)[0] / column.size)
        for label, column in columns.items()
    }
    title = f"dimension {dimension}: steady for {steady}"
    return Panel(
        title,
        "value of the feature",
        "share of the samples, %",
        _rounded((edges[1:] + edges[:-1]) / 2),
        lines,
    )


def _rounded(values: NDArray[Any]) -> list[float]:
    return [round(float(value), 4) for value in values]


def save_illustration(illustration: Illustration, folder: str | Path) -> Path:
    """Write an illustration's data, with a checksum."""
    values = asdict(illustration)
    path = Path(folder) / f"{illustration.name}{SUFFIX}"
    write_text(path, json.dumps({**values, "checksum": hash_of(values)}, separators=(",", ":")) + "\n")
    return path


def load_illustrations(places: Iterable[str | Path], report: Report) -> list[Illustration]:
    """Read the illustrations in folders of records; a damaged one is reported and left out."""
    found = {}
    for file in (file for place in places for file in sorted(Path(place).rglob(f"*{SUFFIX}"))):
        try:
            values = json.loads(file.read_text(encoding="utf-8"))
            if values.pop("checksum") != hash_of(values):
                raise ValueError("its checksum does not fit its content")
            panels = [Panel(**panel) for panel in values.pop("panels")]
            found[values["name"]] = Illustration(panels=panels, **values)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            report(f"{file} is damaged and left out: {error}")
    return [found[name] for name in ILLUSTRATIONS if name in found]
