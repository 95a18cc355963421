"""Schemas of answers that tell how good a model is."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field


class CurvePointAnswer(BaseModel):
    """Some consecutive samples of known classes."""

    samples: int
    correct: int
    until: float
    smoothed: Annotated[
        float, Field(description="The accuracy up to here; a test counts half after `half_life` more.")
    ]
    low: Annotated[float, Field(description="The smoothed accuracy lies between low and high, at 95%.")]
    high: float


class AccuracyAnswer(BaseModel):
    """How often the model predicted samples correctly just before it learnt them."""

    points: list[CurvePointAnswer]
    samples: int
    correct: int
    half_life: Annotated[int, Field(description="In tests, for the smoothed accuracy.")]


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


class TriedClass(BaseModel):
    """How many samples of a class were predicted, and how many correctly."""

    label: str
    known: Annotated[bool, Field(description="Whether the model has this class.")]
    tested: int
    right: int


class VerdictCount(BaseModel):
    """How many answers had a verdict, and how many of them were right."""

    verdict: Literal["sure", "unsure", "new"]
    n: int
    right: int


class TriedSampleAnswer(BaseModel):
    """The answer for one sample."""

    label: Annotated[str, Field(description="As it was sent.")]
    predicted: str
    right: bool
    probability: float
    verdict: Literal["sure", "unsure", "new"]


class TrialAnswer(BaseModel):
    """Predictions of samples whose labels are known; nothing was learnt."""

    samples: int
    right: int
    accuracy: float
    low: Annotated[float, Field(description="Wilson's interval of the accuracy at 95%, from low to high.")]
    high: float
    unknown: Annotated[int, Field(description="Samples of classes that the model does not have: all wrong.")]
    classes: Annotated[list[TriedClass], Field(description="Sorted by label.")]
    confusions: Annotated[list[ConfusionCount], Field(description="The mistakes, the most frequent first.")]
    verdicts: list[VerdictCount]
    predictions: Annotated[list[TriedSampleAnswer], Field(description="In the order of the samples.")]
    version: int


class MapPointAnswer(BaseModel):
    """The mean of a class in two dimensions, and its number of samples."""

    label: str
    x: float
    y: float
    n: int


class ClosePairAnswer(BaseModel):
    """Two classes and the distance of their means in all dimensions."""

    a: str
    b: str
    distance: Annotated[
        float,
        Field(description="In the metric in which the learner decides; of one model they can be compared."),
    ]


class MapAnswer(BaseModel):
    """The class means in two dimensions."""

    classes: Annotated[list[MapPointAnswer], Field(description="At most 200, those with the most samples.")]
    closest: Annotated[list[ClosePairAnswer], Field(description="At most 10 pairs, the closest first.")]
    shown: Annotated[float, Field(description="The share of all squared distances that two dimensions show.")]
    left_out: Annotated[int, Field(description="Classes that are not on the map.")]
