"""Schemas of answers that tell how good a model is."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field


class CurvePointAnswer(BaseModel):
    """Some consecutive samples of known classes."""

    samples: int
    correct: int
    until: float


class AccuracyAnswer(BaseModel):
    """How often the model predicted samples correctly just before it learnt them."""

    points: list[CurvePointAnswer]
    samples: int
    correct: int


class ConfusionCount(BaseModel):
    """How often samples of a class were predicted as this class or another."""

    taught: str
    predicted: str
    n: int


class ClassTestsAnswer(BaseModel):
    """How many samples of a class were predicted before they were learnt, and how many of them correctly."""

    label: str
    tested: int
    right: int


class ConfusionAnswer(BaseModel):
    """What was predicted for samples of known classes just before the model learnt them."""

    labels: Annotated[list[str], Field(description="The classes on the disk, sorted.")]
    counts: Annotated[
        list[ConfusionCount],
        Field(
            description="The most frequent first; pairs that are not there have 0. Predictions of classes that have "
            "been forgotten, or were not on the disk, and the rarest pairs of a very large model are left out."
        ),
    ]
    classes: Annotated[list[ClassTestsAnswer], Field(description="Of the classes that were tested.")]
