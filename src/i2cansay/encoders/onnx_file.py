"""A user's own encoder: an ONNX file with a small TOML file beside it that says how to feed it."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from i2cansay.encoders.encoder import Encoder, Features
from i2cansay.encoders.preprocessing import Pixels, Preprocessing
from i2cansay.encoders.recipe import sha256_of
from i2cansay.encoders.session import POOLS, Session

LAYOUTS = ("nchw", "nhwc")
PRECISIONS = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(double)": "float64"}


@dataclass(frozen=True)
class Description:
    """What the TOML file says, key by key.

    Attributes
    ----------
    preprocessing : Preprocessing
        Its fields are keys of the file: size, resize (by default as size), interpolation, mean, std.
    layout : {"nchw", "nhwc"}
        Whether channels come first or last in the graph's input.
    output : str or None
        Name of the output to read; by default the first.
    pool : {"none", "mean", "mean-tokens", "first-token"}
        How that output becomes one vector for an image.
    """

    preprocessing: Preprocessing
    layout: str = "nchw"
    output: str | None = None
    pool: str = "none"

    def settings(self) -> dict[str, object]:
        """Return the keys and values that `describe` turns into this description."""
        return {**asdict(self.preprocessing), "layout": self.layout, "output": self.output, "pool": self.pool}


def read_description(path: Path) -> Description:
    """Read the TOML file of an encoder."""
    try:
        return describe(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"expected {path} beside the ONNX file, with size, resize, interpolation, mean and std"
        ) from error
    except (ValueError, TypeError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        raise ValueError(f"{path.name}: {error}") from error


def describe(settings: Mapping[str, Any]) -> Description:
    """Check the settings of an encoder and give them types.

    Examples
    --------
    >>> describe({"size": 32, "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}).preprocessing.resize
    32
    >>> describe({"sizes": 32})
    Traceback (most recent call last):
    ValueError: unknown key 'sizes'; known are interpolation, layout, mean, output, pool, resize, size, std
    """
    looks = {field.name for field in fields(Preprocessing)}
    known = looks | {"layout", "output", "pool"}
    for key in settings:
        if key not in known:
            raise ValueError(f"unknown key {key!r}; known are {', '.join(sorted(known))}")
    for key, kind in (("size", int), ("resize", int), ("interpolation", str), ("output", str)):
        if not isinstance(settings.get(key, kind()), kind):
            raise ValueError(f"{key} must be of type {kind.__name__}, got {settings[key]!r}")
    chosen = {key: value for key, value in settings.items() if key in looks}
    for key in ("mean", "std"):
        if key in chosen:
            chosen[key] = tuple(float(value) for value in chosen[key])
    chosen.setdefault("size", Preprocessing().size)
    chosen.setdefault("resize", chosen["size"])
    description = Description(
        Preprocessing(**chosen),
        settings.get("layout", "nchw"),
        settings.get("output"),
        settings.get("pool", "none"),
    )
    if description.layout not in LAYOUTS or description.pool not in POOLS:
        raise ValueError(f"expected layout in {', '.join(LAYOUTS)} and pool in {', '.join(POOLS)}")
    return description


def open_onnx(
    path: Path, *, name: str | None = None, size: int | None = None, threads: int | None = None
) -> Encoder:
    """Open an ONNX file described by the TOML file of the same name."""
    file_hash = sha256_of(path)
    description = read_description(path.with_suffix(".toml"))
    looking = description.preprocessing.with_size(size)
    try:
        session = Session(path, output=description.output, pool=description.pool)
        if session.type not in PRECISIONS:
            raise ValueError(f"its input is a {session.type}, expected {', '.join(PRECISIONS)}")
        model = OnnxModel(session, looking, description.layout)
    except ImportError:
        raise
    except Exception as error:  # ONNX Runtime's own errors share no base class
        raise ValueError(f"{path.name} cannot be run at {looking.size} px: {error}") from error
    text = "\n".join(
        [file_hash, looking.fingerprint_text(), description.layout, session.output, description.pool]
    )
    fingerprint = hashlib.sha256(text.encode()).hexdigest()
    return Encoder(
        name or path.stem, model=model, preprocessing=looking, fingerprint=fingerprint, threads=threads
    )


class OnnxModel:
    """A graph that expects normalised numbers."""

    def __init__(self, session: Session, preprocessing: Preprocessing, layout: str) -> None:
        self._session = session
        self._preprocessing = preprocessing
        self._axes = (0, 3, 1, 2) if layout == "nchw" else (0, 1, 2, 3)
        self._precision = PRECISIONS[session.type]
        side = preprocessing.size
        self.dim = self(np.zeros((1, side, side, 3), np.uint8), threads=1).shape[1]

    def __call__(self, squares: Pixels, *, threads: int) -> Features:
        numbers = self._preprocessing.normalise(squares).transpose(self._axes)
        return self._session.run(np.ascontiguousarray(numbers, dtype=self._precision), threads=threads)
