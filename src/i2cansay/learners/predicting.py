"""What a taught learner answers: scores, labels, probabilities, and which classes it knows."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from i2cansay.core.score_blocks import score_blocks
from i2cansay.core.statistics.temperature import Temperature
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.decision.decision import Decision
from i2cansay.learners.decision.steps import Step
from i2cansay.learners.facts import LearnerFacts
from i2cansay.learners.labels import Label, LabelRows
from i2cansay.learners.likeliest import likeliest
from i2cansay.learners.parameters import check_share, check_whole
from i2cansay.learners.validation import check_features
from i2cansay.learners.verdicts.evidence import Evidence


class Predictor(LearnerFacts, ABC):
    """The half of `OnlineClassifier` that answers: from the scores of a method to labels and probabilities."""

    n_features_in_: int
    _labels: LabelRows
    _temperature: Temperature
    _evidence: Evidence

    @abstractmethod
    def _scores(self, X: Features) -> Features:
        """Return the score of each class, (n, c), columns in order of arrival."""

    def _decision_steps(self, order: Rows) -> tuple[Step, Step | None]:
        """Return steps to the scores, (n, c), columns in this order of rows, and to the novelty, (n, 1), if any."""
        raise ValueError(
            f"{type(self).__name__} cannot be exported: it does not describe its decision in steps, as I2CANSAY "
            "and SharedI2CANSAY do"
        )

    @property
    @abstractmethod
    def _started(self) -> bool:
        """Whether it has been taught anything."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels seen so far, sorted."""
        if not self._started:
            raise AttributeError(f"{type(self).__name__} has seen no sample yet, so it has no classes_")
        return self._labels.sorted

    @property
    def label_kind(self) -> str | None:
        """The type of the labels: "U" strings, "i" whole numbers, "f" the same as floats, "b" booleans; None yet."""
        return self._labels.kind if self._started else None

    def class_scores(self, X: ArrayLike) -> NDArray[Any]:
        """Return the score of every class, (n, n_classes), columns as in `classes_`, even for one or two classes."""
        X = self._checked(X)
        found: NDArray[Any] | None = None
        for block, scores in self._score_blocks(X):
            if len(scores) == len(X):
                return scores
            if found is None:
                found = np.empty((len(X), scores.shape[1]), dtype=scores.dtype)
            found[block] = scores
        assert found is not None  # checked features have a row at least
        return found

    def _checked(self, X: ArrayLike) -> Features:
        self._check_ready()
        return check_features(self, X, reset=False)

    def _score_blocks(self, X: Features) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield rows, and the scores of all classes for them, so many rows at a time that memory is bounded."""
        order = self._labels.order
        for block in score_blocks(len(X), len(order)):
            yield block, self._scores(X[block])[:, order]

    def _mean_scores(self, chosen: Rows) -> Features | None:
        """Return the scores, (k, k), that the means of `chosen` classes get; None where no means are kept.

        `chosen`, (k,), are places in `classes_`. Only those classes have a column.
        """
        means = getattr(self, "class_means_", None)
        return None if means is None else self.class_scores(means[chosen])[:, chosen]

    def decision_function(self, X: ArrayLike) -> NDArray[Any]:
        """Return `class_scores`; for two classes their difference, (n,), as in scikit-learn."""
        scores = self.class_scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(
        self, X: ArrayLike, reject_below: float | None = None, unknown: Label | None = None
    ) -> NDArray[Any]:
        """Return the label of the highest score, (n,).

        Parameters
        ----------
        reject_below : float, optional
            From 0 to 1: a row whose highest probability (`predict_proba`) is below it gets `unknown` instead of a
            label.
        unknown : label, optional
            A value of the labels' type that is not a label, such as "?" or -1. The array then keeps its type, as
            scikit-learn's metrics require; with None it is an array of objects.

        Examples
        --------
        >>> from i2cansay.learners import make_learner
        >>> X, y = [[0.0], [2.0], [10.0], [12.0]], ["low", "low", "high", "high"]
        >>> model = make_learner("slda").partial_fit(X, y).partial_fit(X, y)
        >>> model.predict([[1.0], [6.1]], reject_below=0.9)
        array(['low', None], dtype=object)
        >>> from sklearn.metrics import accuracy_score
        >>> accuracy_score(["low", "high"], model.predict([[1.0], [6.1]], reject_below=0.9, unknown="?"))
        0.5
        """
        if reject_below is not None:
            check_share(reject_below=reject_below)
        X = self._checked(X)
        best, rejected = np.empty(len(X), dtype=np.int64), np.zeros(len(X), dtype=bool)
        for block, scores in self._score_blocks(X):
            best[block] = scores.argmax(axis=1)
            if reject_below is not None:
                rejected[block] = self._temperature.probabilities(scores).max(axis=1) < reject_below
        labels: NDArray[Any] = self.classes_[best]
        return labels if reject_below is None else self._labels.with_unknown(labels, rejected, unknown)

    def top(self, X: ArrayLike, k: int = 5) -> tuple[NDArray[Any], Float64]:
        """Return the `k` likeliest labels of each row and their probabilities, both (n, k), the likeliest first.

        The first is what `predict` returns. Of fewer than `k` classes all are returned. Memory is bounded for any
        number of rows and classes, where `predict_proba` returns a number for each pair.

        Examples
        --------
        >>> from i2cansay.learners import make_learner
        >>> X, y = [[0.0], [2.0], [10.0], [12.0], [20.0], [22.0]], ["low", "low", "mid", "mid", "high", "high"]
        >>> labels, probabilities = make_learner("slda").partial_fit(X, y).top([[1.0], [17.0]], k=2)
        >>> labels.tolist()
        [['low', 'mid'], ['high', 'mid']]
        """
        check_whole(k=k, at_least=1)
        X = self._checked(X)
        best = np.empty((len(X), min(k, len(self._labels))), dtype=np.int64)
        found = np.empty(best.shape)
        for block, scores in self._score_blocks(X):
            best[block] = likeliest(scores, k)
            found[block] = np.take_along_axis(self._temperature.probabilities(scores), best[block], axis=1)
        return self.classes_[best], found

    def predict_proba(self, X: ArrayLike) -> Float64:
        """Return probabilities, (n, n_classes): softmax of the scores at a temperature learnt from the stream."""
        X = self._checked(X)
        found = np.empty((len(X), len(self._labels)))
        for block, probabilities in self._probability_blocks(X):
            found[block] = probabilities
        return found

    def _probability_blocks(self, X: Features) -> Iterator[tuple[slice, Float64]]:
        for block, scores in self._score_blocks(X):
            yield block, self._temperature.probabilities(scores)

    def predict_set(self, X: ArrayLike, error: float = 0.05) -> NDArray[np.bool_]:
        """Return which classes are in the set of each row, (n, n_classes), columns as in `classes_`.

        The right class is in it, but for a share `error` of the rows: sets are as large as samples scored before
        they were learnt ask for (docs/verdicts.md shows how well that holds). The likeliest class always is in it;
        as long as there is too little evidence, every class is.

        Parameters
        ----------
        error : float
            Above 0 and below 1. For 5% at least 19 scored samples are needed, for 1% 99.

        Examples
        --------
        >>> from i2cansay.learners import make_learner
        >>> rng, y = np.random.default_rng(0), np.arange(400) % 2
        >>> X = 3.0 * y[:, None] + rng.normal(size=(400, 1))
        >>> model = make_learner("ncm")
        >>> for start in range(0, 400, 4):
        ...     model = model.partial_fit(X[start : start + 4], y[start : start + 4])
        >>> model.predict_set([[0.0], [1.5]])
        array([[ True, False],
               [ True,  True]])
        """
        X = self._checked(X)
        found = np.empty((len(X), len(self._labels)), dtype=bool)
        for block, probabilities in self._probability_blocks(X):
            found[block] = self._evidence.sets(probabilities, error)
        return found

    def verdicts(self, X: ArrayLike, error: float = 0.05, new_error: float = 0.05) -> NDArray[np.str_]:
        """Return how far each answer can be relied on, (n,): "sure", "unsure" or "new".

        "sure": of the answers called so, a share of at most `error` is wrong, as long as rows are of known classes.
        "new": stranger (`novelty`) than all but a share `new_error` of samples of known classes; a learner without
        `novelty` never says so. "unsure": anything else, and everything as long as there is too little evidence.
        With a single class nothing is sure. docs/verdicts.md shows how well the rates hold.

        Parameters
        ----------
        error, new_error : float
            Above 0 and below 1.

        Examples
        --------
        >>> from i2cansay.learners import make_learner
        >>> rng, y = np.random.default_rng(0), np.arange(400) % 2
        >>> X = 3.0 * y[:, None] + rng.normal(size=(400, 1))
        >>> model = make_learner("ncm").partial_fit(X[:4], y[:4])
        >>> model.verdicts([[0.0], [1.5]]).tolist()
        ['unsure', 'unsure']
        >>> for start in range(4, 400, 4):
        ...     model = model.partial_fit(X[start : start + 4], y[start : start + 4])
        >>> model.verdicts([[0.0], [1.5]]).tolist()
        ['sure', 'unsure']
        """
        novelty = self.novelty(X) if hasattr(self, "novelty") else None
        found = [
            self._evidence.verdicts(
                probabilities,
                None if novelty is None else novelty[block],
                error=error,
                new_error=new_error,
            )
            for block, probabilities in self._probability_blocks(self._checked(X))
        ]
        return np.concatenate(found)

    def decision(self, error: float = 0.05, new_error: float = 0.05) -> Decision:
        """Return how it decides now, as arrays and steps that another program can carry out.

        Parameters
        ----------
        error, new_error : float
            As for `verdicts`; the thresholds are those for these rates.
        """
        self._check_ready()
        scores, novelty = self._decision_steps(self._labels.order)
        thresholds = self._evidence.thresholds(error, new_error)
        if len(self._labels) < 2:  # of a single class nothing is sure
            thresholds = thresholds._replace(least_odds=np.inf, least_novelty=np.inf)
        return Decision(
            self.classes_.copy(),
            self.n_features_in_,
            scores,
            novelty,
            self._temperature.value,
            thresholds,
        )

    def to_onnx(self, path: str | PathLike[str], *, error: float = 0.05, new_error: float = 0.05) -> None:
        """Write what it decides now as an ONNX file: features in, label, probabilities and verdict out.

        The file is a snapshot that cannot go on learning; docs/export.md says what is in it. Needs the extra
        [export].

        Parameters
        ----------
        error, new_error : float
            As for `verdicts`; they are fixed in the file.
        """
        from i2cansay.export.learner_file import write_learner

        write_learner(self, path, error=error, new_error=new_error)

    def _check_ready(self) -> None:
        if not self._started:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: teach it with fit or partial_fit first"
            )
        if not len(self._labels):
            raise ValueError("every class has been forgotten; teach one before asking")
