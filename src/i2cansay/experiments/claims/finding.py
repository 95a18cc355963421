"""The outcome of a check: a verdict on a claim, and the figures behind it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What a check can say of a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided"
    VACUOUS = "vacuous"
    UNTESTABLE = "not testable here"


PAPER = "the paper's tables"
OURS = "ours, "
PRINTED = f"{OURS}as printed"


@dataclass(frozen=True)
class Finding:
    """One claim checked in one place.

    Attributes
    ----------
    claim : str
        Name of the claim.
    says : str
        The claim in words.
    where : str
        The paper's own tables, our records with the printed rule, or our records with a variant of it.
    verdict : Verdict
    detail : str
        The figures, or the reason.
    encoder : str
        What our records were played with; empty for the paper's tables.
    """

    claim: str
    says: str
    where: str
    verdict: Verdict
    detail: str
    encoder: str = ""

    @property
    def label(self) -> str:
        """Name of the claim, with the variant of the rule it was checked for."""
        is_variant = self.where not in (PAPER, PRINTED)
        return f"{self.claim}:{self.where.removeprefix(OURS)}" if is_variant else self.claim

    @property
    def is_ours(self) -> bool:
        """Whether our records were checked, and not the paper's tables."""
        return self.where != PAPER
