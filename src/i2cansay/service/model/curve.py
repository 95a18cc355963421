"""Test-then-train accuracy over time: how often samples were predicted correctly just before they were learnt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from i2cansay.service.model.share_interval import wilson

MOST = 200
"""Points that are kept. When there are more, neighbours are merged."""
HALF_LIFE = 50
"""After so many more tests a test counts half in the smoothed accuracy."""


@dataclass(frozen=True)
class CurvePoint:
    """Consecutive samples of known classes: how many, how many were correct, and when the last one came."""

    samples: int
    correct: int
    until: float

    @property
    def accuracy(self) -> float:
        """The share of correct predictions."""
        return self.correct / self.samples


class SmoothedShare(NamedTuple):
    """A weighted share, of how many tests it is worth, and its interval."""

    share: float
    n: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """Accuracy over the stream in at most `MOST` points, however long it gets.

    Examples
    --------
    >>> curve = Curve()
    >>> for second in range(300):
    ...     curve = curve.add(samples=1, correct=second % 2, at=float(second))
    >>> len(curve.points), curve.points[0]
    (150, CurvePoint(samples=2, correct=1, until=1.0))
    """

    points: tuple[CurvePoint, ...] = ()
    width: int = 1

    def add(self, samples: int, correct: int, at: float) -> Curve:
        """Return the curve with more samples at its end."""
        if samples == 0:
            return self
        points = list(self.points)
        if points and points[-1].samples + samples <= self.width:
            last = points.pop()
            points.append(CurvePoint(last.samples + samples, last.correct + correct, at))
        else:
            points.append(CurvePoint(samples, correct, at))
        curve = replace(self, points=tuple(points))
        return curve._halved() if len(points) > MOST else curve

    def smoothed(self) -> list[SmoothedShare]:
        """Return the accuracy at each point, where a test counts half after `HALF_LIFE` more.

        With weights w the accuracy is ``sum w correct / sum w samples``, and its interval is that of
        ``(sum w samples)^2 / sum w^2 samples`` independent tests.

        Examples
        --------
        >>> [(round(p.share, 2), round(p.n)) for p in Curve().add(50, 0, 0.0).add(50, 50, 1.0).smoothed()]
        [(0.0, 50), (0.67, 90)]
        """
        found = []
        right = samples = squares = 0.0
        for point in self.points:
            fade = 0.5 ** (point.samples / HALF_LIFE)
            right = fade * right + point.correct
            samples = fade * samples + point.samples
            squares = fade**2 * squares + point.samples
            n = samples**2 / squares
            found.append(SmoothedShare(right / samples, n, *wilson(right / samples, n)))
        return found

    def _halved(self) -> Curve:
        pairs = [self.points[start : start + 2] for start in range(0, len(self.points), 2)]
        merged = tuple(
            CurvePoint(sum(p.samples for p in pair), sum(p.correct for p in pair), pair[-1].until)
            for pair in pairs
        )
        return Curve(merged, 2 * self.width)

    def to_json(self) -> list[list[float]]:
        """Return the points as lists, the width first."""
        return [[self.width], *([point.samples, point.correct, point.until] for point in self.points)]

    @classmethod
    def from_json(cls, stored: list[list[float]]) -> Curve:
        """Return the curve as `to_json` gave it."""
        points = tuple(
            CurvePoint(int(samples), int(correct), until) for samples, correct, until in stored[1:]
        )
        return cls(points, int(stored[0][0]))
