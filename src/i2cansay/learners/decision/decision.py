"""What a taught learner answers with at one moment: scores, probabilities and verdicts, as steps and numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.paper.head import softmax
from i2cansay.core.types import Features, Float64
from i2cansay.learners.decision.steps import Step
from i2cansay.learners.verdicts.evidence import Thresholds


@dataclass(frozen=True)
class Decision:
    """A snapshot: what is taught later does not change it.

    Attributes
    ----------
    labels : (c,) array
        Of the columns of the scores, sorted.
    n_features : int
    scores : Step
        (n, c).
    novelty : Step or None
        (n, 1); None where nothing can be called new, as with a single class.
    temperature : float
        What scores are divided by before the softmax.
    thresholds : Thresholds
        From where on answers are sure, and samples are new.

    Examples
    --------
    >>> from i2cansay import I2CANSAY
    >>> model = I2CANSAY().partial_fit([[0.0, 1.0], [1.0, 0.0], [8.0, 9.0]], ["low", "low", "high"])
    >>> decision = model.decision()
    >>> decision.labels[decision.scores.of(np.array([[0.5, 0.5]])).argmax(axis=1)]
    array(['low'], dtype='<U4')
    """

    labels: NDArray[Any]
    n_features: int
    scores: Step
    novelty: Step | None
    temperature: float
    thresholds: Thresholds

    def probabilities(self, X: Features) -> Float64:
        """Return the probability of each class, (n, c)."""
        scores = self.scores.of(X).astype(np.float64)
        return softmax(scores / self.temperature)  # type: ignore[return-value]
