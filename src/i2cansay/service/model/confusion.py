"""Test-then-train counts by class: what was predicted for samples of each class just before they were learnt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

MOST_PAIRS = 4000
"""Pairs of a class and another it was taken for. When there are more, the rarest quarter is dropped."""
Pair: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class ClassTests:
    """How many samples of a class were tested, and how many were predicted correctly."""

    tested: int = 0
    right: int = 0


@dataclass(frozen=True)
class Confusion:
    """Counts of predictions, by the numbers of the classes: a number stays when its class is renamed.

    A count says how many samples there were, and nothing of what they showed. There are at most as many counts as
    classes, and `MOST_PAIRS`.

    Attributes
    ----------
    classes : dict
        The tests of each class.
    mistaken : dict
        How often a class, first of the pair, was taken for another. The other mistakes of a class were classes that
        are gone or were not on the disk, or were too rare to be kept.

    Examples
    --------
    >>> confusion = Confusion().add([(1, 1), (1, 1), (1, 2)])
    >>> confusion.classes[1], confusion.mistaken
    (ClassTests(tested=3, right=2), {(1, 2): 1})
    >>> confusion.remove([(1, 2)]) == Confusion().add([(1, 1), (1, 1)])
    True
    """

    classes: Mapping[int, ClassTests] = field(default_factory=dict)
    mistaken: Mapping[Pair, int] = field(default_factory=dict)

    def add(self, pairs: Iterable[Pair]) -> Confusion:
        """Return the counts with more tests: the class taught and the one predicted, 0 where that has no number."""
        classes, mistaken = dict(self.classes), dict(self.mistaken)
        for (taught, predicted), n in Counter(pairs).items():
            old = classes.get(taught, ClassTests())
            classes[taught] = ClassTests(old.tested + n, old.right + n * (taught == predicted))
            if predicted not in (taught, 0):
                mistaken[taught, predicted] = mistaken.get((taught, predicted), 0) + n
        return Confusion(classes, _most_frequent(mistaken))

    def remove(self, pairs: Iterable[Pair]) -> Confusion:
        """Return the counts without tests that turned out to be none, because their label was wrong.

        Of a pair no more is taken than there is, and then of the mistakes of its class that have no pair.
        """
        classes, mistaken, unpaired = dict(self.classes), dict(self.mistaken), self._unpaired()
        for (taught, predicted), n in Counter(pairs).items():
            old, pair = classes.get(taught, ClassTests()), (taught, predicted)
            right = min(n, old.right) if taught == predicted else 0
            wrong = min(n, mistaken.get(pair, 0))
            rest = min(n - wrong, unpaired[taught]) if taught != predicted else 0
            unpaired[taught] -= rest
            classes[taught] = ClassTests(old.tested - right - wrong - rest, old.right - right)
            mistaken[pair] = mistaken.get(pair, 0) - wrong
        return Confusion(
            {number: tests for number, tests in classes.items() if tests.tested},
            {pair: n for pair, n in mistaken.items() if n},
        )

    def _unpaired(self) -> Counter[int]:
        """Return how many mistakes of each class are in no pair."""
        left = Counter({number: tests.tested - tests.right for number, tests in self.classes.items()})
        for (taught, _), n in self.mistaken.items():
            left[taught] -= n
        return left

    def without(self, number: int) -> Confusion:
        """Return the counts without those of a class, and without those of others taken for it."""
        return Confusion(
            {each: tests for each, tests in self.classes.items() if each != number},
            {pair: n for pair, n in self.mistaken.items() if number not in pair},
        )

    def to_json(self) -> dict[str, list[list[int]]]:
        """Return the counts as lists."""
        return {
            "classes": [[number, tests.tested, tests.right] for number, tests in self.classes.items()],
            "mistaken": [[taught, predicted, n] for (taught, predicted), n in self.mistaken.items()],
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, list[list[int]]], numbers: Iterable[int]) -> Confusion:
        """Return the counts as `to_json` gave them; raise ValueError where they are not of these classes."""
        classes = {number: ClassTests(tested, right) for number, tested, right in stored["classes"]}
        mistaken = {(taught, predicted): n for taught, predicted, n in stored["mistaken"]}
        found = cls(classes, mistaken)
        named = {number for pair in mistaken for number in pair} | classes.keys()
        counts = [*found._unpaired().values(), *(tests.right for tests in classes.values())]
        if not named <= set(numbers) or min(counts, default=0) < 0 or min(mistaken.values(), default=1) < 1:
            raise ValueError("the counts of predictions are not those of its classes")
        return found


def _most_frequent(mistaken: dict[Pair, int]) -> dict[Pair, int]:
    """Return the counts, or the most frequent three quarters of those that fit; of equal ones the later stay."""
    if len(mistaken) <= MOST_PAIRS:
        return mistaken
    order = sorted(mistaken, key=lambda pair: mistaken[pair])
    dropped = set(order[: len(order) - 3 * MOST_PAIRS // 4])
    return {pair: n for pair, n in mistaken.items() if pair not in dropped}
