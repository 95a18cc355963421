"""How far a row lies from the nearest class mean, relative to how far it lies from the middle of them all.

On birds never taught the area under the curve is larger than that of the plain distance in units of the class's
spread, and the number has no unit that would change while more is learnt: docs/verdicts.md.
"""

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.types import Features, Float64

# A row in the very middle is this far from it, as a share of the usual distance of class means.
NEAREST = 1e-6


def relative_distance(X: Features, moments: ClassMoments) -> Float64:
    """Return the distance of each row of `X`, (n, d), to the nearest class mean, over that to their centre, (n,).

    Of one class, the distance to its mean over the length of its spread; over 1 where it has none.

    Examples
    --------
    >>> moments = ClassMoments(n_features=1)
    >>> moments.resize(2)
    >>> changed = moments.add(np.array([[-1.0], [1.0]]), np.array([0, 1]))
    >>> relative_distance(np.array([[1.5], [0.25]]), moments)
    array([0.33333333, 3.        ])
    """
    centre = moments.mean.mean(axis=0)
    # From the centre: squares of offsets that are large beside their differences would cancel.
    away = X.astype(np.float64) - centre
    means = moments.mean - centre
    to_centre = np.einsum("nd,nd->n", away, away)
    if len(means) == 1:
        spread = float(moments.m2.sum() / moments.count[0])
        alone: Float64 = np.sqrt(to_centre / (spread if spread > 0 else 1.0))
        return alone
    lengths = np.einsum("cd,cd->c", means, means)
    nearest = to_centre + (lengths - 2 * inner(away, means)).min(axis=1)
    least = NEAREST**2 * max(float(lengths.mean()), np.finfo(np.float64).tiny)
    relative: Float64 = np.sqrt(np.maximum(nearest, 0.0) / np.maximum(to_centre, least))
    return relative
