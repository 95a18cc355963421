"""What a TOML file beside a graph or a checkpoint says: how to feed the encoder, and how to read it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from i2cansay.encoders.onnx_session import POOLS
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.stages import OutputStage

LAYOUTS = ("nchw", "nhwc")
LOOKS = tuple(field.name for field in fields(Preprocessing))


@dataclass(frozen=True)
class Description:
    """What the TOML file of an ONNX file says, key by key.

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
    stages : tuple of OutputStage
        Further outputs, which features="stages" puts beside that one: tables `[[stages]]` with output, pool, scale.
    """

    preprocessing: Preprocessing
    layout: str = "nchw"
    output: str | None = None
    pool: str = "none"
    stages: tuple[OutputStage, ...] = ()

    def settings(self) -> dict[str, object]:
        """Return the keys and values that `describe` turns into this description."""
        stages = [{"output": each.output, "pool": each.pool, "scale": each.scale} for each in self.stages]
        ours = {"layout": self.layout, "output": self.output, "pool": self.pool, "stages": stages or None}
        return {**asdict(self.preprocessing), **ours}


def read_description(path: Path) -> Description:
    """Read the TOML file of an ONNX file."""
    try:
        return describe(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"expected {path} beside the ONNX file, with size, resize, interpolation, mean and std"
        ) from error
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        raise ValueError(f"{path.name}: {error}") from error


def describe(settings: Mapping[str, Any]) -> Description:
    """Check the settings of an encoder and give them types.

    Examples
    --------
    >>> describe({"size": 32, "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}).preprocessing.resize
    32
    >>> describe({"sizes": 32})
    Traceback (most recent call last):
    ValueError: unknown key 'sizes'; known are interpolation, layout, mean, output, pool, resize, size, stages,
    std
    """
    looks = _checked(settings, {*LOOKS, "layout", "output", "pool", "stages"})
    looks.setdefault("size", Preprocessing().size)
    looks.setdefault("resize", looks["size"])
    description = Description(
        Preprocessing(**looks),
        settings.get("layout", "nchw"),
        settings.get("output"),
        settings.get("pool", "none"),
        tuple(_stage(table) for table in settings.get("stages") or ()),
    )
    pools = {description.pool, *(stage.pool for stage in description.stages)}
    if description.layout not in LAYOUTS or not pools <= POOLS.keys():
        raise ValueError(f"expected layout in {', '.join(LAYOUTS)} and pool in {', '.join(POOLS)}")
    return description


def _stage(table: object) -> OutputStage:
    if not isinstance(table, dict) or not {"output"} <= table.keys() <= {"output", "pool", "scale"}:
        raise ValueError(f"a table [[stages]] has output and, if need be, pool and scale, got {table!r}")
    output, pool, scale = table["output"], table.get("pool", "none"), table.get("scale", 1.0)
    if not (isinstance(output, str) and isinstance(pool, str)):
        raise ValueError(f"output and pool of [[stages]] must be texts, got {output!r} and {pool!r}")
    if not isinstance(scale, int | float) or isinstance(scale, bool):
        raise ValueError(f"scale of [[stages]] must be a number, got {scale!r}")
    return OutputStage.of(output, pool, scale=float(scale))


def preprocessing_beside(weights: Path, usual: Preprocessing) -> Preprocessing:
    """Return what the TOML file beside a checkpoint says; what it leaves out stays as usual.

    Where it names a size and no resize, the margin around the crop keeps its proportion.
    """
    path = weights.with_suffix(".toml")
    if not path.is_file():
        return usual
    try:
        looks = _checked(tomllib.loads(path.read_text(encoding="utf-8")), set(LOOKS))
        if "size" in looks and "resize" not in looks:
            usual = usual.with_size(looks["size"])
        return replace(usual, **looks)
    except ValueError as error:
        raise ValueError(f"{path}, beside the checkpoint: {error}") from error


def _checked(settings: Mapping[str, Any], known: set[str]) -> dict[str, Any]:
    """The settings that concern the preprocessing, after a look at names and types of all."""
    for key in settings:
        if key not in known:
            raise ValueError(f"unknown key {key!r}; known are {', '.join(sorted(known))}")
    for keys, kind, words in (
        (("size", "resize"), int, "a whole number"),
        (("interpolation", "output", "layout", "pool"), str, "a text"),
        (("mean", "std"), list | tuple, "three numbers"),
        (("stages",), list, "an array of tables [[stages]]"),
    ):
        for key in keys:
            value = settings.get(key)
            # True is an int to Python, and no size.
            if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
                raise ValueError(f"{key} must be {words}, got {value!r}")
    looks = {key: value for key, value in settings.items() if key in LOOKS}
    for key in ("mean", "std"):
        if key in looks:
            if any(not isinstance(each, int | float) or isinstance(each, bool) for each in looks[key]):
                raise ValueError(f"{key} must be three numbers, got {looks[key]!r}")
            looks[key] = tuple(float(each) for each in looks[key])
    return looks
