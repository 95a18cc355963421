"""A map of the classes: their means in two dimensions, and which of them are close."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from i2cansay.core.types import Float64
from i2cansay.learners.base import OnlineClassifier
from i2cansay.service.errors import conflict

MOST_CLASSES = 200
"""On one map; of more classes those with the most samples are shown."""
MOST_PAIRS = 10
"""How many pairs of close classes are named."""


@dataclass(frozen=True)
class MapPoint:
    """A class on the map, with its number of samples."""

    label: str
    x: float
    y: float
    n: int


@dataclass(frozen=True)
class ClosePair:
    """Two classes and their distance, in all dimensions."""

    a: str
    b: str
    distance: float


@dataclass(frozen=True)
class ClassMap:
    """The classes in two dimensions.

    Attributes
    ----------
    classes : tuple of MapPoint
        Sorted by label.
    closest : tuple of ClosePair
        The closest first.
    shown : float
        The share of all squared distances that two dimensions show, 1 where nothing is lost.
    left_out : int
        Classes with fewer samples than all those on the map.
    """

    classes: tuple[MapPoint, ...] = ()
    closest: tuple[ClosePair, ...] = ()
    shown: float = 1.0
    left_out: int = 0

    @classmethod
    def of(cls, learner: OnlineClassifier, counts: Mapping[str, int]) -> ClassMap:
        """Return the map of a taught learner; raise ServiceError where it keeps no class means."""
        labels = [str(label) for label in learner.classes_]
        largest = sorted(range(len(labels)), key=lambda row: (-counts[labels[row]], labels[row]))
        chosen = np.sort(largest[:MOST_CLASSES])
        with np.errstate(all="ignore"):  # what overflows is refused below
            scores = learner._mean_scores(chosen)
        if scores is None:
            raise conflict(
                f"the learner {type(learner).__name__} keeps no class means, so there is no map of its classes"
            )
        with np.errstate(all="ignore"):
            squared = squared_distances(scores.astype(np.float64))
        if not np.isfinite(squared).all():
            raise conflict("the classes are too far apart for a map; forget those that were taught wrong")
        places, shown = scaled_to_plane(squared)
        names = [labels[row] for row in chosen]
        points = [
            MapPoint(name, x, y, counts[name]) for name, (x, y) in zip(names, places.tolist(), strict=True)
        ]
        return cls(tuple(points), _closest(names, squared), shown, len(labels) - len(chosen))


def squared_distances(scores: Float64) -> Float64:
    """Return how far the learner keeps classes apart, (c, c), from the scores of their means, (c, c).

    The mean of each of two classes scores higher in its own class than in the other: the sum of both margins is the
    squared distance. For scores of a shared covariance, ``x A^-1 m_c - m_c A^-1 m_c / 2``, that is the squared
    Mahalanobis distance of the means.

    Examples
    --------
    >>> means = np.array([[0.0], [3.0]])
    >>> squared_distances(means @ means.T - (means * means).sum(axis=1) / 2)
    array([[0., 9.],
           [9., 0.]])
    """
    own = np.diag(scores)
    margins = own[:, None] - scores
    squared: Float64 = np.maximum(margins + margins.T, 0.0)
    return squared


def scaled_to_plane(squared: Float64) -> tuple[Float64, float]:
    """Return places in two dimensions, (c, 2), by classical scaling of squared distances, and what share they show.

    The same distances give the same places: the end of each axis that is further out is positive.

    Examples
    --------
    >>> places, shown = scaled_to_plane(np.array([[0.0, 9.0], [9.0, 0.0]]))
    >>> places.round(6).tolist(), shown
    ([[1.5, 0.0], [-1.5, 0.0]], 1.0)
    """
    n = len(squared)
    centred = squared - squared.mean(axis=0)
    values, vectors = np.linalg.eigh(-0.5 * (centred - centred.mean(axis=1)[:, None]))
    positive = np.where(values > 1e-12 * values[-1], values, 0.0)  # what rounding leaves is nothing
    places = np.zeros((n, 2))
    for axis, column in enumerate(range(n - 1, max(n - 3, -1), -1)):
        along = vectors[:, column] * np.sqrt(positive[column])
        ends = np.flatnonzero(
            np.abs(along) > (1 - 1e-6) * np.abs(along).max()
        )  # on another processor the same
        places[:, axis] = along if len(ends) == 0 or along[ends[0]] > 0 else -along
    total = float(positive.sum())
    return places + 0.0, float(positive[-2:].sum()) / total if total else 1.0


def _closest(names: list[str], squared: Float64) -> tuple[ClosePair, ...]:
    rows, columns = np.triu_indices(len(names), 1)
    distances = np.sqrt(squared[rows, columns])
    order = distances.argsort(kind="stable")[:MOST_PAIRS]
    return tuple(ClosePair(names[rows[each]], names[columns[each]], float(distances[each])) for each in order)
