"""What `I2CANSAY` and `SharedI2CANSAY` have in common: further epochs, unlearning, merging."""

from abc import abstractmethod
from typing import Self

from numpy.typing import ArrayLike

from i2cansay.core.paper.ican import OldClasses
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.labels import as_labels
from i2cansay.learners.merging import check_mergeable, merge_into
from i2cansay.learners.parameters import check_choice, check_not_negative, check_positive, check_whole
from i2cansay.learners.validation import check_features, check_sample_weight

# Pseudo-features for each sample: they are made all at once, so their number bounds what a step takes.
MOST_PSEUDO = 100


class AnalogicalClassifier(OnlineClassifier):
    """A learner that keeps statistics of its classes, and trains a head on samples and their analogies."""

    # Parameters of both.
    lr: float
    beta: float
    n_pseudo: float
    old_classes: OldClasses
    batch_size: int
    epochs: int

    @abstractmethod
    def _train(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        """Take one step of the head on samples that are in the statistics already."""

    @abstractmethod
    def _unlearn(self, X: Features, rows: Rows, weights: Float64 | None) -> Rows:
        """Take samples out of the statistics, exactly; return the classes that have none left."""

    @abstractmethod
    def _merge(self, other: Self, rows: Rows) -> None:
        """Take in what `other` was taught; its class i is class ``rows[i]`` here."""

    def _check_parameters(self) -> None:
        check_positive(lr=self.lr)
        check_not_negative(beta=self.beta, n_pseudo=self.n_pseudo)
        if self.n_pseudo > MOST_PSEUDO:
            raise ValueError(f"n_pseudo must be at most {MOST_PSEUDO}, got {self.n_pseudo!r}")
        check_choice("old_classes", self.old_classes, ("all", "absent"))
        check_whole(batch_size=self.batch_size, epochs=self.epochs, at_least=1)

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and learn `X`, (n, d), with labels `y`, (n,): shuffled, `epochs` times.

        Parameters
        ----------
        sample_weight : (n,) weights, optional
            As in `partial_fit`.
        """
        super().fit(X, y, sample_weight)
        if self.epochs > 1:
            X, rows = check_features(self, X, reset=False), self._labels.rows(as_labels(y))
            weights = check_sample_weight(sample_weight, len(X))
            if weights is not None:  # those of weight 0 may be of classes that are not known
                X, rows, weights = X[weights > 0], rows[weights > 0], weights[weights > 0]
            for _ in range(self.epochs - 1):
                for batch in self._batches(len(X)):
                    self._train(X[batch], rows[batch], None if weights is None else weights[batch])
        return self

    def unlearn(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Take samples that were taught, (n, d) with labels (n,), out of the statistics, exactly.

        To correct a wrong label, unlearn with the wrong one and learn with the right one. A class that has no sample
        left is forgotten. The steps that the head took on the samples stay, and so does what was learnt from scoring
        them: the temperature of `predict_proba`, the evidence for verdicts, and how many samples have passed.

        Exactly means that the statistics are those of the other samples alone, up to a millionth of their spread. If
        an outlier has left more rounding than that, a ValueError says so and nothing changes; then `forget` the
        class and teach it again.
        """
        X, rows, weights = self._check_taught(X, y, sample_weight)
        empty = self._unlearn(X, rows, weights)
        for label in self._labels.arrived()[empty].tolist():
            self.forget(label)
        return self

    def merge(self, other: Self) -> Self:
        """Add what another learner with the same parameters has learnt from other samples.

        The statistics become exactly those of both streams. The heads are averaged class by class: each row of
        weights is the mean of the two, weighted by the samples of the class; a class that only one of them knows
        keeps its row. `other` is not changed.
        """
        check_mergeable(self, other)
        if self._started and other._started:
            self._check_same_features(other)
        merge_into(self, other, lambda rows: self._merge(other, rows))
        return self
