"""The three learners that people choose from, in plain words, with the features each is meant for."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

# Dimensions that wider features are reduced to: with 100 classes the saved model stays below 80 MB, or 12 MB.
BEST_WIDTH = 4256
SMALL_WIDTH = 1536


@dataclass(frozen=True)
class Choice:
    """A learner with its parameters, under a name that says what it is for.

    Attributes
    ----------
    learner : str
        Its name in `LEARNERS`.
    parameters : mapping
    features : {"stages", "last"}
        What it reads of an encoder: pooled maps of several stages, or the last layer.
    words : str
        What a person chooses by.
    """

    learner: str
    parameters: Mapping[str, Any]
    features: Literal["stages", "last"]
    words: str


# The closed form alone: lessons can be taken back, models merge exactly, and the order of lessons does not matter.
_CLOSED_FORM = {"analogies": False, "lift": 0}

CHOICES: Mapping[str, Choice] = MappingProxyType(
    {
        "best": Choice(
            "i2cansay_shared",
            MappingProxyType(_CLOSED_FORM | {"width": BEST_WIDTH}),
            "stages",
            "most accurate; the model takes about 76 MB",
        ),
        "small": Choice(
            "i2cansay_shared",
            MappingProxyType(_CLOSED_FORM | {"width": SMALL_WIDTH}),
            "stages",
            "nearly as accurate; about 11 MB, and faster to teach",
        ),
        "paper": Choice(
            "i2cansay",
            MappingProxyType({}),
            "last",
            "the method of the paper to the letter, but for our reading of its Eq. 7, set with test figures in "
            "view; smallest, and least accurate",
        ),
    }
)
"""By name: what `make_learner`, the shell, the service and its page offer."""
