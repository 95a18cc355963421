"""What a list can say of a network without opening its weights."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NetworkFacts:
    """A published network in numbers and sentences, for `i2cansay encoder list`.

    Attributes
    ----------
    width : int
        Features of the last layer.
    stages_width : int or None
        Features with the recipe's stages; None where it names none.
    megabytes : float
        Size of the official file of weights.
    licence : str
        Of the weights, as their publisher states it.
    source : str
        Where the official file is, where no `OfficialFile` of the recipe says so.
    checked : str
        What was compared with the real weights; empty where none were at hand.
    checked_random : str
        What was compared with random weights only.
    """

    width: int
    megabytes: float
    licence: str
    stages_width: int | None = None
    source: str = ""
    checked: str = ""
    checked_random: str = ""
