"""How far a row lies from the nearest class mean, relative to how far it lies from the middle of them all.

The ratio of the two squared distances has no unit that would change while more is learnt, and on birds never taught
its area under the curve is larger than that of the distance alone: docs/verdicts.md. Of a row far from everything
it is near 1, which is not strange where classes overlap; so a small share of the distance itself is added, in units
of the classes' spread.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.score_blocks import score_blocks
from i2cansay.core.types import Features, Float64

# A row in the very middle is this far from it, as a share of the usual distance of class means.
NEAREST = 1e-6
# Of the distance itself, chosen on held-out training samples.
DISTANCE_SHARE = 0.05
CLASSES_AT_A_TIME = 1024


@dataclass(frozen=True)
class MiddleOfMeans:
    """The centre of the class means, and the units of distances: the same for every row until more is learnt.

    Attributes
    ----------
    centre : (d,) array
    lengths : (c,) array
        Squared distances of the means from the centre.
    spread : float
        The unit of squared distances to classes.
    least : float
        The least squared distance to the centre that is divided by.
    """

    centre: Float64
    lengths: Float64
    spread: float
    least: float

    @classmethod
    def of(cls, moments: ClassMoments) -> Self:
        """Take it from the classes."""
        centre = moments.mean.mean(axis=0)
        lengths = np.concatenate([np.einsum("cd,cd->c", some, some) for some in _from(centre, moments)])
        usual = max(float(lengths.sum()) / len(moments), float(np.finfo(np.float64).tiny))
        spread = float(moments.m2.sum()) / max(float(moments.count.sum()) - len(moments), 1.0)
        unit = spread if spread > 0 else usual if len(moments) > 1 else 1.0
        return cls(centre, lengths, unit, NEAREST**2 * usual)


def relative_distance(X: Features, moments: ClassMoments, middle: MiddleOfMeans | None = None) -> Float64:
    """Return how far each row of `X`, (n, d), is from the nearest class, relative to the centre of the means, (n,).

    Of one class, the squared distance to its mean in units of its spread.

    Parameters
    ----------
    middle : MiddleOfMeans, optional
        That of `moments`, where it is there already; it takes longer than the distances of a few rows.

    Examples
    --------
    >>> moments = ClassMoments(n_features=1)
    >>> moments.resize(2)
    >>> changed = moments.add(np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1]))
    >>> relative_distance(np.array([[2.0], [0.5], [9.0]]), moments).round(1)
    array([0.1, 4.1, 6.3])
    """
    middle = MiddleOfMeans.of(moments) if middle is None else middle
    # From the centre: squares of offsets that are large beside their differences would cancel.
    away = X.astype(np.float64) - middle.centre
    to_centre = np.einsum("nd,nd->n", away, away)
    nearest = np.empty(len(X))
    for rows in score_blocks(len(X), len(moments)):
        # Products with the means as they are lose no more digits than means less the centre, which would be a copy.
        nearest[rows] = (middle.lengths - 2 * inner(away[rows], moments.mean)).min(axis=1)
    nearest = np.maximum(to_centre + (nearest + 2 * (away @ middle.centre)), 0.0)
    distance: Float64 = nearest / middle.spread
    if len(moments) == 1:
        return distance
    ratio: Float64 = nearest / np.maximum(to_centre, middle.least)
    return ratio + DISTANCE_SHARE * distance


def _from(centre: Float64, moments: ClassMoments) -> Iterator[Float64]:
    """Yield the means of the classes as seen from `centre`, a few at a time: of very many no copy is made."""
    for start in range(0, len(moments), CLASSES_AT_A_TIME):
        yield moments.mean[start : start + CLASSES_AT_A_TIME] - centre
