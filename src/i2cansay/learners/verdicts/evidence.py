"""What samples that were scored before they were learnt say about the answers of a learner.

Three histograms of probabilities and one of novelty; no sample is kept. They answer three questions, each with an
error rate of its own:

- which classes are possible? (`sets`; conformal prediction)
- which answers can be relied on? (`sure`; a selective threshold on the highest probability)
- which rows are of no class taught? (`new`; a conformal test on novelty)

Evidence of a younger model counts less: what was scored at n samples weighs ``(n / m) ** FADING`` at m samples. A
threshold leaves room for one more sample of weight 1, the one that is asked about; without enough evidence, sets
hold every class, and nothing is sure or new.

References
----------
Barber, Candes, Ramdas, Tibshirani (2023), Conformal prediction beyond exchangeability, Annals of Statistics 51(2).
Geifman, El-Yaniv (2017), Selective classification for deep neural networks, NeurIPS.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from i2cansay.core.state_parts import LARGEST_COUNT, add_prefix, check_range, strip_prefix
from i2cansay.core.statistics.score_histogram import ScoreHistogram
from i2cansay.core.types import Float64, Rows, State
from i2cansay.learners.parameters import check_error_rate

# Chosen on held-out training samples (docs/verdicts.md). Probabilities of a younger model are less certain and err
# on the safe side, so they may stay long. Novelty falls as more is learnt: with old scores nothing would be new.
FADING = 1.0
NOVELTY_FADING = 6.0
# Evidence beyond this weight would not make a threshold better, but slower to follow a change.
MOST = 2000.0
CONFIDENCE = 0.9
# Probabilities are counted by their log-odds, from -HIGHEST to HIGHEST.
BINS, HIGHEST = 128, 16.0
SURE, UNSURE, NEW = "sure", "unsure", "new"

# Histograms: of the true class; of the likeliest class where it was right; where it was wrong.
TRUE, RIGHT, WRONG = range(3)

Bins = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Thresholds(NamedTuple):
    """From where on answers are sure and samples are new, at the error rates that are stated beside it.

    Attributes
    ----------
    least_odds : float
        Log-odds of the likeliest of several classes; infinity where nothing is sure, minus infinity where all is.
    least_novelty : float
        Infinity where nothing is new.
    error, new_error : float
    """

    least_odds: float
    least_novelty: float
    error: float
    new_error: float


class Answers(NamedTuple):
    """What evidence counts of the answers to n samples whose classes are known.

    Attributes
    ----------
    top, true : (n,) arrays
        The probabilities of the likeliest class and of the true one.
    right : (n,) array
        Whether they are the same class.
    """

    top: Float64
    true: Float64
    right: Flags

    @classmethod
    def of(cls, probabilities: Float64, targets: Rows) -> Self:
        """Take it from probabilities, (n, c), of samples of the classes `targets`, (n,)."""
        every, best = np.arange(len(targets)), probabilities.argmax(axis=1)
        return cls(probabilities[every, best], probabilities[every, targets], best == targets)

    @classmethod
    def together(cls, blocks: list[Self]) -> Self:
        """Return those of all blocks of samples."""
        return blocks[0] if len(blocks) == 1 else cls(*map(np.concatenate, zip(*blocks, strict=True)))


class Evidence:
    """Scores of samples before they were learnt, as histograms, and the thresholds that follow from them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> first = rng.random(400)
    >>> probabilities = np.stack([first, 1 - first], axis=1)
    >>> targets = (rng.random(400) > first).astype(np.int64)  # as likely as the probabilities say
    >>> evidence = Evidence()
    >>> evidence.add(probabilities, targets, size=400)
    >>> evidence.sets(np.array([[0.5, 0.5], [0.01, 0.99]]), error=0.1)
    array([[ True,  True],
           [False,  True]])
    >>> evidence.verdicts(np.array([[0.5, 0.5], [0.01, 0.99]]), error=0.1).tolist()
    ['unsure', 'sure']
    """

    def __init__(self) -> None:
        # Rows TRUE, RIGHT and WRONG, by log-odds.
        self._counts: Float64 = np.zeros((3, BINS))
        self._novelty = ScoreHistogram()
        self._size = 0.0
        self._n_scored = 0

    @property
    def n_scored(self) -> int:
        """Samples that were scored before they were learnt."""
        return self._n_scored

    @property
    def weight(self) -> float:
        """What they weigh now, after fading."""
        return float(self._counts[TRUE].sum())

    def add(
        self, probabilities: Float64, targets: Rows, novelty: Float64 | None = None, *, size: float
    ) -> None:
        """Count samples whose probabilities, (n, c), were computed before their classes, (n,), were learnt.

        Parameters
        ----------
        novelty : (n,) array, optional
        size : float
            Samples that the model has learnt.
        """
        self.count(Answers.of(probabilities, targets), novelty, size=size)

    def count(self, answers: Answers, novelty: Float64 | None = None, *, size: float) -> None:
        """Count samples by what was answered before their classes were learnt, as `add` does."""
        self._fade(size)
        self._n_scored += len(answers.true)
        top, right = _bins(answers.top), answers.right
        self._counts[TRUE] += _count(_bins(answers.true))
        self._counts[RIGHT] += _count(top[right])
        self._counts[WRONG] += _count(top[~right])
        if novelty is not None:
            self._novelty.add(novelty)

    def _fade(self, size: float) -> None:
        share = min(1.0, self._size / size) if size > 0 else 1.0
        self._counts *= min(share**FADING, MOST / max(self.weight, MOST))
        self._novelty.fade(min(share**NOVELTY_FADING, MOST / max(self._novelty.weight, MOST)))
        self._size = max(self._size, float(size))

    # -- answers --------------------------------------------------------------------------------------------

    def sets(self, probabilities: Float64, error: float) -> Flags:
        """Return which classes are in the set of each row, (n, c): among them the right one but for a share `error`.

        The likeliest class always is. Without enough evidence every class is.
        """
        check_error_rate(error=error)
        found: Flags = _bins(probabilities) >= self._least_true(error)
        found[np.arange(len(found)), probabilities.argmax(axis=1)] = True
        return found

    def _least_true(self, error: float) -> int:
        """Return the highest bin of log-odds below which the true class lies with a share `error` at most."""
        true = self._counts[TRUE]
        below = np.cumsum(true) - true + 1.0  # and the sample asked about
        allowed = np.flatnonzero(below <= error * (self.weight + 1.0))
        return int(allowed[-1]) if len(allowed) else 0

    def sure(self, probabilities: Float64, error: float) -> Flags:
        """Return for which rows, (n,), the likeliest of several classes can be relied on."""
        check_error_rate(error=error)
        if probabilities.shape[1] < 2:
            return np.zeros(len(probabilities), dtype=bool)
        return _bins(probabilities.max(axis=1)) >= self._least_sure(error)

    def _least_sure(self, error: float) -> int:
        """Return the lowest bin of log-odds from which on at most a share `error` of answers is wrong.

        Of all bins the lowest would be one that had luck. So from there on the error has to be below `error` with
        `CONFIDENCE`, by the exact limit for a share (Clopper and Pearson).
        """
        from_here = np.cumsum(self._counts[:, ::-1], axis=1)[:, ::-1]
        some = from_here[RIGHT] > 0
        confidence = np.zeros(BINS)
        confidence[some] = betainc(from_here[WRONG][some] + 1.0, from_here[RIGHT][some], error)
        allowed = np.flatnonzero(confidence >= CONFIDENCE)
        return int(allowed[0]) if len(allowed) else BINS

    def new(self, novelty: Float64, error: float) -> Flags:
        """Return which rows, (n,), are stranger than all known samples but a share `error`."""
        check_error_rate(new_error=error)
        return novelty >= self._least_new(error)

    def _least_new(self, error: float) -> float:
        """Return the novelty below which all known samples but a share `error` lie; infinity without evidence."""
        inside = (1 - error) * (self._novelty.weight + 1.0)
        return np.inf if inside > self._novelty.weight else self._novelty.upper_limit(inside)

    def thresholds(self, error: float = 0.05, new_error: float = 0.05) -> Thresholds:
        """Return by which numbers `verdicts` decides between several classes."""
        check_error_rate(error=error, new_error=new_error)
        least = self._least_sure(error)
        odds = least * (2 * HIGHEST / BINS) - HIGHEST
        # The lowest and the highest bin have no end.
        odds = -np.inf if least == 0 else np.inf if least == BINS else odds
        return Thresholds(odds, self._least_new(new_error), error, new_error)

    def verdicts(
        self,
        probabilities: Float64,
        novelty: Float64 | None = None,
        *,
        error: float = 0.05,
        new_error: float = 0.05,
    ) -> NDArray[np.str_]:
        """Return "sure", "unsure" or "new" for each row, (n,), of probabilities, (n, c), and novelty, (n,)."""
        found = np.where(self.sure(probabilities, error), SURE, UNSURE)
        check_error_rate(new_error=new_error)
        # Of a single class, novelty is no relative distance; scores from before others were forgotten say nothing.
        if novelty is None or probabilities.shape[1] < 2:
            return found
        return np.where(self.new(novelty, new_error), NEW, found)

    # -- state ----------------------------------------------------------------------------------------------

    def merge(self, other: "Evidence") -> None:
        """Add the scores of another learner. They are of its own model, not of the merged one."""
        self._counts += other._counts
        self._novelty.merge(other._novelty)
        self._size = max(self._size, other._size)
        self._n_scored += other._n_scored

    def state(self) -> State:
        """Return the histograms, and at how many samples they were last faded."""
        return {
            "probabilities": self._counts,
            "size": np.array([float(self._size)]),
            **add_prefix("novelty", self._novelty.state()),
        }

    def restore(self, state: State, n_scored: int) -> None:
        """Take over what `state()` returned, of so many scored samples; raise ValueError where it is not valid."""
        counts = state["probabilities"]
        if counts.shape != (3, BINS) or state["size"].shape != (1,):
            raise ValueError(f"the evidence should be three histograms of {BINS} bins, and one number")
        check_range("the weight of scores", counts, 0, min(n_scored, LARGEST_COUNT))
        check_range("the size of the scored model", state["size"], 0, LARGEST_COUNT)
        true, right, wrong = counts.sum(axis=1).tolist()
        if true > n_scored * (1 + 1e-9) or abs(true - right - wrong) > 1e-6 * max(true, 1.0):
            raise ValueError("the histograms of scores do not agree with each other")
        self._novelty.restore(strip_prefix(state, "novelty"))
        if self._novelty.weight > n_scored * (1 + 1e-9):
            raise ValueError("more novelty was counted than samples were scored")
        self._counts = counts.astype(np.float64)
        self._size, self._n_scored = float(state["size"][0]), n_scored


def _bins(probabilities: Float64) -> Bins:
    # In place: for sets, these are the probabilities of every class.
    with np.errstate(divide="ignore"):
        place: Float64 = np.log(probabilities)
        against = np.negative(probabilities)
        place -= np.log1p(against, out=against)
    del against
    place.clip(-HIGHEST, HIGHEST, out=place)
    place += HIGHEST
    place *= BINS / (2 * HIGHEST)
    return np.minimum(place, BINS - 1, out=place).astype(np.int64)


def _count(bins: Bins) -> Float64:
    return np.bincount(bins, minlength=BINS).astype(np.float64)
