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

    def sentences(self, *, size: int, source: str = "") -> tuple[str, ...]:
        """Say it in two lines; `size` is the input's in pixels, `source` the address of the official file.

        Examples
        --------
        >>> facts = NetworkFacts(512, 46.8, "BSD-3-Clause", checked_random="features against torch")
        >>> print(*facts.sentences(size=224, source="https://example.org/18.pth"), sep="\\n")
        512 features, 224 px, 46.8 MB, licence BSD-3-Clause, from https://example.org/18.pth
        checked with random weights only: features against torch
        """
        width = f"{self.width} features"
        if self.stages_width is not None:
            width += f" ({self.stages_width} with stages)"
        numbers = f"{width}, {size} px, {self.megabytes:g} MB"
        first = f"{numbers}, licence {self.licence}, from {source or self.source}"
        if not self.checked:
            return first, f"checked with random weights only: {self.checked_random}"
        more = f"; with random ones: {self.checked_random}" if self.checked_random else ""
        return first, f"checked with the real weights: {self.checked}{more}"
