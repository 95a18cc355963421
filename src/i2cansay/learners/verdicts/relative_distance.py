"""How far a row lies from the nearest class mean, relative to how far it lies from the middle of them all.

The ratio of the two squared distances has no unit that would change while more is learnt, and on birds never taught
its area under the curve is larger than that of the distance alone: docs/verdicts.md. Of a row far from everything
it is near 1, which is not strange where classes overlap; so a small share of the distance itself is added, in units
of the classes' spread.
"""

from collections.abc import Iterator

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


def relative_distance(X: Features, moments: ClassMoments) -> Float64:
    """Return how far each row of `X`, (n, d), is from the nearest class, relative to the centre of the means, (n,).

    Of one class, the squared distance to its mean in units of its spread.

    Examples
    --------
    >>> moments = ClassMoments(n_features=1)
    >>> moments.resize(2)
    >>> changed = moments.add(np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1]))
    >>> relative_distance(np.array([[2.0], [0.5], [9.0]]), moments).round(1)
    array([0.1, 4.1, 6.3])
    """
    centre = moments.mean.mean(axis=0)
    # From the centre: squares of offsets that are large beside their differences would cancel.
    away = X.astype(np.float64) - centre
    to_centre = np.einsum("nd,nd->n", away, away)
    nearest = np.full(len(X), np.inf)
    sum_of_lengths = 0.0
    for means in _from(centre, moments):
        lengths = np.einsum("cd,cd->c", means, means)
        sum_of_lengths += float(lengths.sum())
        for rows in score_blocks(len(X), len(means)):
            closest = (lengths - 2 * inner(away[rows], means)).min(axis=1)
            np.minimum(nearest[rows], closest, out=nearest[rows])
    nearest = np.maximum(to_centre + nearest, 0.0)
    spread, least = _units(moments, sum_of_lengths / len(moments))
    distance: Float64 = nearest / spread
    if len(moments) == 1:
        return distance
    ratio: Float64 = nearest / np.maximum(to_centre, least)
    return ratio + DISTANCE_SHARE * distance


def distance_units(moments: ClassMoments) -> tuple[float, float]:
    """Return the unit of squared distances to classes, and the least one to the centre that is divided by."""
    centre = moments.mean.mean(axis=0)
    lengths = sum(float(np.einsum("cd,cd->", means, means)) for means in _from(centre, moments))
    return _units(moments, lengths / len(moments))


def _units(moments: ClassMoments, mean_length: float) -> tuple[float, float]:
    usual = max(mean_length, float(np.finfo(np.float64).tiny))
    spread = float(moments.m2.sum()) / max(float(moments.count.sum()) - len(moments), 1.0)
    return spread if spread > 0 else usual if len(moments) > 1 else 1.0, NEAREST**2 * usual


def _from(centre: Float64, moments: ClassMoments) -> Iterator[Float64]:
    """Yield the means of the classes as seen from `centre`, a few at a time: of very many no copy is made."""
    for start in range(0, len(moments), CLASSES_AT_A_TIME):
        yield moments.mean[start : start + CLASSES_AT_A_TIME] - centre
