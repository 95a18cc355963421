"""A trial: predictions of samples whose labels are known and that are not learnt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from i2cansay.service.model.share_interval import wilson
from i2cansay.service.model.snapshot import Prediction, Verdict

VERDICTS: tuple[Verdict, ...] = ("sure", "unsure", "new")


@dataclass(frozen=True)
class TriedSample:
    """A sample of a known label and the answer of the model."""

    label: str
    predicted: str
    right: bool
    probability: float
    verdict: Verdict


@dataclass(frozen=True)
class Trial:
    """The answers to samples whose labels are known.

    Attributes
    ----------
    samples : tuple of TriedSample
        In the order in which they came.
    known : collection of str
        The classes of the model. A sample of another class counts as wrong: no answer can be right.
    """

    samples: tuple[TriedSample, ...]
    known: Collection[str]

    @classmethod
    def of(cls, labels: Sequence[str], answers: Sequence[Prediction], known: Collection[str]) -> Trial:
        """Compare answers with labels."""
        pairs = zip(labels, answers, strict=True)
        return cls(
            tuple(
                TriedSample(label, each.label, each.label == label, each.probability, each.verdict)
                for label, each in pairs
            ),
            known,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the counts, the accuracy with its interval, and the answers."""
        n, right = len(self.samples), sum(each.right for each in self.samples)
        tested = Counter(each.label for each in self.samples)
        correct = Counter(each.label for each in self.samples if each.right)
        mistakes = Counter((each.label, each.predicted) for each in self.samples if not each.right)
        verdicts = Counter((each.verdict, each.right) for each in self.samples)
        return {
            "samples": n,
            "right": right,
            "accuracy": right / n,
            **wilson(right / n, n)._asdict(),
            "unknown": sum(count for label, count in tested.items() if label not in self.known),
            "classes": [
                {"label": label, "known": label in self.known, "tested": count, "right": correct[label]}
                for label, count in sorted(tested.items())
            ],
            "confusions": [
                {"taught": label, "predicted": predicted, "n": count}
                for (label, predicted), count in sorted(
                    mistakes.items(), key=lambda item: (-item[1], item[0])
                )
            ],
            "verdicts": [
                {
                    "verdict": verdict,
                    "n": verdicts[verdict, True] + verdicts[verdict, False],
                    "right": verdicts[verdict, True],
                }
                for verdict in VERDICTS
            ],
            "predictions": [asdict(each) for each in self.samples],
        }
