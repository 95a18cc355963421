"""Stages of a network: maps that a forward pass computes on the way, and the blocks of features they become."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TypeVar

#: What is read of a network: its last layer; the stages that its recipe names as well; or the pixels that it saw.
FEATURES = ("last", "stages", "pixels")
LAST, PIXELS = "last", "pixels"
AnyStage = TypeVar("AnyStage", bound="Stage")


class StageError(ValueError):
    """A stage that a network does not have."""


@dataclass(frozen=True)
class Stage:
    """A map to read besides the last layer, by the name that the builder of the network gives it.

    Attributes
    ----------
    name : str
    scale : float
        What its pooled values are multiplied by, so that blocks have about the same spread (`tools/stage_scales.py`
        measures it). The last layer is never scaled.
    """

    name: str
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.scale < float("inf"):
            raise ValueError(f"expected a scale above 0 for the stage {self.name!r}, got {self.scale}")


@dataclass(frozen=True)
class OutputStage(Stage):
    """A further output of a user's ONNX file to read, and how it becomes one vector for an image.

    Attributes
    ----------
    output : str
    pool : {"none", "mean", "mean-tokens", "first-token"}

    Examples
    --------
    >>> OutputStage.of("tokens", "mean-tokens", scale=0.5).name
    'tokens.mean-tokens'
    """

    output: str = ""
    pool: str = "none"

    @classmethod
    def of(cls, output: str, pool: str = "none", *, scale: float = 1.0) -> OutputStage:
        """Read an output; one that is pooled in two ways makes two stages."""
        return cls(output if pool == "none" else f"{output}.{pool}", scale, output, pool)


@dataclass(frozen=True)
class Block:
    """A run of neighbouring columns of the features that come from one map."""

    name: str
    width: int


def as_stages(stages: Sequence[Stage | str]) -> tuple[Stage, ...]:
    """Give a name alone the scale 1, and check that no stage is named twice.

    Examples
    --------
    >>> as_stages(["block3", Stage("block7", 0.5)])
    (Stage(name='block3', scale=1.0), Stage(name='block7', scale=0.5))
    """
    known = tuple(Stage(stage) if isinstance(stage, str) else stage for stage in stages)
    names = [stage.name for stage in known]
    if len({LAST, *names}) <= len(names):
        raise StageError(f"expected every stage once, and {LAST!r} not among them, got {', '.join(names)}")
    return known


def blocks_to_text(blocks: Sequence[Block]) -> str:
    """Write blocks as JSON, for the metadata of a graph.

    Examples
    --------
    >>> blocks_to_text([Block("last", 1280), Block("block7", 64)])
    '[["last", 1280], ["block7", 64]]'
    """
    return json.dumps([[block.name, block.width] for block in blocks])


def blocks_from_text(text: str) -> tuple[Block, ...]:
    """Read what `blocks_to_text` wrote."""
    return tuple(Block(str(name), int(width)) for name, width in json.loads(text))


def wanted_stages(features: str, stages: Sequence[AnyStage], *, of: str) -> tuple[AnyStage, ...]:
    """Return the stages to read: none for "last", all that there are for "stages".

    Examples
    --------
    >>> wanted_stages("stages", [], of="resnet18")
    Traceback (most recent call last):
    ValueError: resnet18 names no stages, so that only its last layer can be read; leave out "stages"
    """
    if features not in FEATURES:
        raise ValueError(f"features is one of {', '.join(FEATURES)}, got {features!r}")
    if features == LAST:
        return ()
    if not stages:
        raise ValueError(f'{of} names no stages, so that only its last layer can be read; leave out "stages"')
    as_stages(stages)
    return tuple(stages)


def stages_fingerprint(last: str, stages: Sequence[Stage]) -> str:
    """Return the fingerprint of an encoder that reads these stages besides the last layer; `last` without any."""
    if not stages:
        return last
    read = json.dumps([astuple(stage) for stage in stages])
    return hashlib.sha256(f"{last}\nstages {read}".encode()).hexdigest()
