"""One temperature that turns scores into probabilities, fitted to samples that are scored before they are learnt."""

import numpy as np

from i2cansay.core.paper.head import softmax
from i2cansay.core.state_parts import check_range
from i2cansay.core.statistics.condensed_scores import CondensedScores, slope
from i2cansay.core.types import Features, Float64, Rows, State

# How much of the evidence is kept at each update: the scale of the scores moves as classes arrive.
MEMORY = 0.99
LARGEST_STEP = 0.5
# Learners that solve on demand are scored seldom, and in between their scores can change by orders of magnitude.
# T is therefore remembered in units of the scores' spread, with the evidence of about this many rows; the spread
# itself counts as evidence of these few.
REMEMBERED_ROWS = 75.0
BELIEVED_ROWS = 4.0
MEASURED_ROWS = 4
NEWTON_STEPS = 30
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
        self._spread = 0.0

    @property
    def value(self) -> float:
        """The temperature, above zero."""
        return float(np.exp(self._log))

    def update(self, scores: Features, targets: Rows) -> None:
        """Learn from scores (n, c) that were computed before the targets (n,) were known."""
        if len(scores) == 0 or scores.shape[1] < 2:
            return
        scores = scores.astype(np.float64)
        if self._evidence == 0 and (spread := float(scores.std(axis=1).mean())) > 0:
            self._log = float(np.clip(np.log(spread), *BOUNDS))  # start at the scale of the scores
        scores -= scores.max(axis=1, keepdims=True)
        scores /= self.value
        gradient, curvature = slope(scores, scores[np.arange(len(targets)), targets])
        self._evidence = MEMORY * self._evidence + len(scores)
        self._curvature = MEMORY * self._curvature + curvature
        if self._curvature > 0:
            step = float(np.clip(-gradient / self._curvature, -LARGEST_STEP, LARGEST_STEP))
            self._log = float(np.clip(self._log + step, *BOUNDS))
            # Scores over T shrink as T grows, and the curvature remembered from before with them.
            self._curvature *= float(np.exp(-step))

    def refit(self, scores: Features, targets: Rows) -> None:
        """Learn from scores (n, c) of targets (n,) whose scale may have changed since the last time."""
        if len(scores) and scores.shape[1] > 1:
            self.refit_condensed(CondensedScores.of(scores, targets))

    def refit_condensed(self, scores: CondensedScores) -> None:
        """Learn from scores of several classes whose scale may have changed: T moves with their spread.

        Finds the most likely T for these rows and for what is remembered of earlier ones, as a parabola in log T.
        """
        n_rows, spread = len(scores.true), float(scores.spreads.mean())
        if not spread > 0:
            return
        if self._spread:
            # The spread of a row or two is noise: they move what is remembered of it by their share only.
            share = min(1.0, n_rows / MEASURED_ROWS)
            spread = self._spread * (spread / self._spread) ** share
        before = np.log(spread) if self._spread == 0 else self._log + np.log(spread / self._spread)
        keep = max(0.3, 1 - n_rows / REMEMBERED_ROWS)
        stiffness = max(keep * self._curvature, BELIEVED_ROWS)
        log = before = float(np.clip(before, *BOUNDS))
        curvature = 0.0
        for _ in range(NEWTON_STEPS):
            gradient, curvature = scores.slope(np.exp(log))
            pull = gradient + stiffness * (log - before)
            step = float(np.clip(-pull / (curvature + stiffness), -LARGEST_STEP, LARGEST_STEP))
            log = float(np.clip(log + step, *BOUNDS))
            if abs(step) < 1e-3:
                break
        self._log, self._spread = log, spread
        self._curvature = keep * self._curvature + curvature
        self._evidence = keep * self._evidence + n_rows

    def probabilities(self, scores: Features) -> Float64:
        """Return ``softmax(scores / T)``, (n, c) float64."""
        return softmax(np.divide(scores, self.value, dtype=np.float64))  # type: ignore[return-value]

    def merge(self, other: "Temperature") -> None:
        """Average with the other temperature, weighted by evidence."""
        evidence = self._evidence + other._evidence
        if evidence > 0:
            self._log += (other._log - self._log) * other._evidence / evidence
            self._curvature += other._curvature
            self._evidence = evidence
            self._spread = self._spread or other._spread

    def state(self) -> State:
        """Return the four numbers as one array."""
        return {"temperature": np.array([self._log, self._curvature, self._evidence, self._spread])}

    def restore(self, state: State) -> None:
        """Take over what `state()` returned."""
        numbers = state["temperature"]
        if numbers.shape != (4,):
            raise ValueError("the temperature should be four numbers")
        check_range("the logarithm of the temperature", numbers[:1], *BOUNDS)
        check_range("what the temperature rests on", numbers[1:], 0, np.inf)
        self._log, self._curvature, self._evidence, self._spread = numbers.tolist()
