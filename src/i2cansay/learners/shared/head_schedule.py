"""How the head goes with the samples seen: the temperature of the closed form below it, and the length of a step."""

import numpy as np

from i2cansay.core.types import Float64

# It grows with the samples per class, at most up to a share of the classes: with few samples or few classes the
# closed form carries. Chosen on held-out training samples; docs/shared-mode-details.md says how.
SAMPLES_PER_DEGREE = 80.0
DEGREES_PER_CLASS = 0.05
# With more samples per class steps become shorter in proportion: steps of one length would go on adding noise, where
# the closed form has less and less left to explain.
FULL_STEP_UP_TO_PER_CLASS = 500.0


def base_temperature(counts: Float64) -> float:
    """Return the temperature for classes of these numbers of samples, (c,).

    Examples
    --------
    >>> base_temperature(np.full(10, 500.0)), base_temperature(np.full(100, 240.0))
    (1.0, 3.0)
    """
    per_class = float(np.mean(counts)) / SAMPLES_PER_DEGREE
    return max(1.0, min(per_class, DEGREES_PER_CLASS * len(counts)))


def step_length(lr: float, counts: Float64) -> float:
    """Return how long a step is, of a head whose classes have these numbers of samples, (c,).

    Examples
    --------
    >>> step_length(0.02, np.full(10, 400.0)), step_length(0.02, np.full(10, 5000.0))
    (0.02, 0.002)
    """
    return lr * min(1.0, FULL_STEP_UP_TO_PER_CLASS / max(float(np.mean(counts)), 1.0))
