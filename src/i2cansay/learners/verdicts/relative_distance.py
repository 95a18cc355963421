"""How far a row lies from the nearest class mean, relative to how far it lies from the middle of them all.

The ratio of the two squared distances has no unit that would change while more is learnt, and on birds never taught
its area under the curve is larger than that of the distance alone: docs/verdicts.md. Of a row far from everything
it is near 1, which is not strange where classes overlap; so a small share of the distance itself is added, in units
of the classes' spread.
"""

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.types import Features, Float64

# A row in the very middle is this far from it, as a share of the usual distance of class means.
NEAREST = 1e-6
# Of the distance itself, chosen on held-out training samples.
DISTANCE_SHARE = 0.05


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
    means = moments.mean - centre
    lengths = np.einsum("cd,cd->c", means, means)
    to_centre = np.einsum("nd,nd->n", away, away)
    nearest = np.maximum(to_centre + (lengths - 2 * inner(away, means)).min(axis=1), 0.0)
    spread, least = distance_units(moments)
    distance: Float64 = nearest / spread
    if len(means) == 1:
        return distance
    ratio: Float64 = nearest / np.maximum(to_centre, least)
    return ratio + DISTANCE_SHARE * distance


def distance_units(moments: ClassMoments) -> tuple[float, float]:
    """Return the unit of squared distances to classes, and the least one to the centre that is divided by."""
    means = moments.mean - moments.mean.mean(axis=0)
    usual = max(float(np.einsum("cd,cd->c", means, means).mean()), np.finfo(np.float64).tiny)
    spread = float(moments.m2.sum()) / max(float(moments.count.sum()) - len(means), 1.0)
    return spread if spread > 0 else usual if len(means) > 1 else 1.0, NEAREST**2 * usual
