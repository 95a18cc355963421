"""One temperature that turns scores into probabilities, learnt from samples before they are learnt from."""

import numpy as np

from i2cansay.core.head import softmax
from i2cansay.core.types import Features, Float64, Rows, State

# How much of the evidence is kept at each update: the scale of the scores moves as classes arrive.
MEMORY = 0.99
LARGEST_STEP = 0.5
# Beyond these the probabilities are one-hot or uniform to the last digit, and exp() would overflow.
BOUNDS = (-40.0, 40.0)


class Temperature:
    """T of ``softmax(scores / T)``, moved by damped Newton steps on the log-likelihood in log T.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(size=(4000, 5))
    >>> y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)  # drawn from softmax(logits)
    >>> temperature = Temperature()
    >>> for start in range(0, 4000, 4):
    ...     temperature.update(10 * logits[start : start + 4], y[start : start + 4])
    >>> round(temperature.value)
    10
    """

    def __init__(self) -> None:
        self._log = 0.0
        self._curvature = 0.0
        self._evidence = 0.0

    @property
    def value(self) -> float:
        """The temperature, above zero."""
        return float(np.exp(self._log))

    def update(self, scores: Features, targets: Rows) -> None:
        """Learn from scores (n, c) that were given before the targets (n,) were known."""
        if len(scores) == 0 or scores.shape[1] < 2:
            return
        scores = scores.astype(np.float64)
        if self._evidence == 0 and (spread := float(scores.std(axis=1).mean())) > 0:
            self._log = float(np.clip(np.log(spread), *BOUNDS))  # start at the scale of the scores
        scaled = (scores - scores.max(axis=1, keepdims=True)) / self.value
        probabilities = softmax(scaled.copy())
        expected = (probabilities * scaled).sum(axis=1)
        variance = (probabilities * scaled**2).sum(axis=1) - expected**2
        # d/d log T of -log p(target), and a positive estimate of its curvature.
        gradient = scaled[np.arange(len(targets)), targets] - expected
        self._evidence = MEMORY * self._evidence + len(scores)
        self._curvature = MEMORY * self._curvature + float((variance + np.abs(gradient)).sum())
        if self._curvature > 0:
            # scaled <= 0: a target far below its expectation asks for a higher temperature.
            step = float(np.clip(-gradient.sum() / self._curvature, -LARGEST_STEP, LARGEST_STEP))
            self._log = float(np.clip(self._log + step, *BOUNDS))
            # Scores over T shrink as T grows, and the curvature remembered from before with them.
            self._curvature *= float(np.exp(-step))

    def probabilities(self, scores: Features) -> Float64:
        """Return ``softmax(scores / T)``, (n, c) float64."""
        return softmax(scores.astype(np.float64) / self.value)  # type: ignore[return-value]

    def merge(self, other: "Temperature") -> None:
        """Meet the other temperature, each weighing by its evidence."""
        evidence = self._evidence + other._evidence
        if evidence > 0:
            self._log += (other._log - self._log) * other._evidence / evidence
            self._curvature += other._curvature
            self._evidence = evidence

    def state(self) -> State:
        """Return the three numbers as one array."""
        return {"temperature": np.array([self._log, self._curvature, self._evidence])}

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        if state["temperature"].shape != (3,):
            raise ValueError("the temperature should be three numbers")
        self._log, self._curvature, self._evidence = state["temperature"].tolist()
