"""What a new model is made of: one of the choices, or a learner by name, and the encoder that goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from i2cansay.learners import blocks_parameter
from i2cansay.learners.choices import CHOICES

USUAL = "small"
"""What a new model is where nobody chooses; docs/service.md has the figures that decided it."""
ENCODERS = {"stages": "efficientnet-lite0+stages", "last": "efficientnet-lite0"}
"""By what a choice reads of an encoder."""


class OfferedChoice(NamedTuple):
    """A choice as the page offers it; `usual` marks what a new model is where nobody chooses."""

    name: str
    words: str
    encoder: str
    usual: bool


def usual_encoder(learner: str) -> str:
    """Return the name of the encoder whose features a choice, or a learner by name, is given.

    Examples
    --------
    >>> usual_encoder("best"), usual_encoder("ncm")
    ('efficientnet-lite0+stages', 'efficientnet-lite0')
    """
    return ENCODERS[CHOICES[learner].features if learner in CHOICES else "last"]


def offered(usual: str, encoder: str | None) -> list[OfferedChoice]:
    """Return the choices for a new model; `encoder` is the one for all of them, None for each its own.

    Examples
    --------
    >>> [choice.name for choice in offered("small", None) if choice.usual]
    ['small']
    >>> offered("ncm", None)[0].words
    'ncm, with which this service was started'
    """
    names = list(CHOICES) if usual in CHOICES else [usual, *CHOICES]
    return [
        OfferedChoice(
            name,
            CHOICES[name].words if name in CHOICES else f"{name}, with which this service was started",
            encoder or usual_encoder(name),
            usual=name == usual,
        )
        for name in names
    ]


def spelled_out(
    learner: str, parameters: dict[str, Any], blocks: Sequence[int]
) -> tuple[str, dict[str, Any]]:
    """Return the learner of `LEARNERS` that a choice stands for, with all its parameters.

    A model's file has these, not the name of the choice, whose meaning may change with a later version. `blocks` are
    the widths of the blocks of the features; a learner without such a parameter is not told of them.

    Examples
    --------
    >>> spelled_out("small", {}, (1280, 1152))
    ('i2cansay_shared', {'analogies': False, 'lift': 0, 'width': 1536, 'blocks': [1280, 1152]})
    >>> spelled_out("ncm", {"metric": "cosine"}, (1280, 1152))
    ('ncm', {'metric': 'cosine'})
    """
    told = {name: list(widths) for name, widths in blocks_parameter(learner, blocks).items()}
    if learner not in CHOICES:
        return learner, {**told, **parameters}
    choice = CHOICES[learner]
    return choice.learner, {**choice.parameters, **told, **parameters}
