"""What all learners share: open labels, checked input, growth by class, probabilities and files."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from i2cansay.core.statistics.temperature import Temperature
from i2cansay.core.types import Features, Float64, Rows, State
from i2cansay.learners.calibration import calibrate
from i2cansay.learners.facts import ROUNDED_TO_FLOAT32, WEIGHTS_ARE_NOT_COPIES
from i2cansay.learners.labels import Label, LabelRows, as_labels, check_declared
from i2cansay.learners.learner_state import resume, whole_state
from i2cansay.learners.parameters import check_share
from i2cansay.learners.state_of_parts import StateOfParts
from i2cansay.learners.validation import (
    check_features,
    check_sample_weight,
    drop_weightless,
    make_generator,
)

__all__ = ["ROUNDED_TO_FLOAT32", "WEIGHTS_ARE_NOT_COPIES", "OnlineClassifier"]

# Bytes in addition to what a method learns: generator, temperature and progress; and the label of each class.
OF_EVERY_LEARNER = 1024
OF_EVERY_CLASS = 64


class OnlineClassifier(StateOfParts, ClassifierMixin, BaseEstimator, ABC):
    """Base of every learner.

    A learner implements three methods over rows of classes, which are numbered in the order of their arrival:
    `_start` makes the objects that its state consists of, `_learn` updates them, `_scores` reads them. It names
    these objects in `parts`; growing by a class, dropping one, saving and restoring follow from that. Labels, checks
    of input, calibrated probabilities and files are handled here. docs/architecture.md has a learner of ten lines.

    Notes
    -----
    As in scikit-learn, no thread may predict while another one teaches: the prediction may fail, though what was
    learnt is not harmed. Many threads may predict at the same time while none teaches. `ImageLearner` and the
    service take care of this themselves.
    """

    # Made by `_begin`; before the first batch a learner has none of them.
    _labels: LabelRows
    _rng: np.random.Generator
    _temperature: Temperature
    _n_seen: int
    _calibrate_at: int
    _built_with: dict[str, Any]

    # -- what a method writes -------------------------------------------------------------------------------

    @abstractmethod
    def _start(self, n_features: int) -> None:
        """Make empty state for features of this width; the parameters have been checked."""

    @abstractmethod
    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        """Learn a checked batch, (n, d), of classes `rows`, (n,)."""

    @abstractmethod
    def _scores(self, X: Features) -> Features:
        """Return the score of each class, (n, c), columns in order of arrival."""

    def _check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid."""

    def _structural_values(self) -> dict[str, Any]:
        """Return the structural parameters, as far as the state depends on them."""
        return {name: getattr(self, name) for name in self.structural}

    def _parameters_changed(self, before: Mapping[str, Any]) -> None:
        """React to `set_params` on a learner that has begun; `before` has all parameters as they were."""

    def _state_bytes(self, n_features: int, n_classes: int) -> int | None:
        """Return `state_bytes` without what every learner has; None if there is no bound."""
        return None

    # -- parameters -----------------------------------------------------------------------------------------

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in scikit-learn; if one is not valid, nothing changes.

        Once learning has begun, they take effect with the next batch or prediction. Those that the state depends on
        (`structural`) take effect when learning starts over, and until then the learner cannot be saved or merged.
        """
        before = self.get_params(deep=False)
        try:
            super().set_params(**params)
            if self._started:
                self._check_parameters()
        except ValueError:
            super().set_params(**before)
            raise
        if self._started:
            self._parameters_changed(before)
        return self

    def _check_structural(self) -> None:
        """Raise if parameters were changed that take effect only when learning starts over."""
        if not self._started:
            return
        wanted = self._structural_values()
        waiting = [name for name, value in self._built_with.items() if wanted[name] != value]
        if waiting:
            raise ValueError(
                f"{', '.join(waiting)} changed after learning began, and what was learnt does not fit; "
                "set it back, or start over with fit"
            )

    # -- size -----------------------------------------------------------------------------------------------

    def state_bytes(self, n_features: int, n_classes: int) -> int | None:
        """Return how many bytes the learner takes at most with this many features and classes, computed in advance.

        This bounds its memory after learning and scoring, and the size of its saved state, without the texts of the
        labels. While it solves, it briefly takes up to twice as much. None if there is no bound: the learner keeps
        more with every sample, or does not say. Raises ValueError if a parameter is not valid.

        Examples
        --------
        >>> from i2cansay.learners import make_learner
        >>> make_learner("ncm").state_bytes(1280, 100), make_learner("slda").state_bytes(1280, 100)
        (2333720, 8892440)
        """
        self._check_parameters()
        own = self._state_bytes(n_features, n_classes)
        return None if own is None else own + OF_EVERY_LEARNER + OF_EVERY_CLASS * n_classes

    # -- learning -------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and learn `X`, (n, d), with labels `y`, (n,), in shuffled batches.

        Parameters
        ----------
        sample_weight : (n,) weights, optional
            As in `partial_fit`.
        """
        fresh = type(self)(**self.get_params(deep=False))
        X = check_features(fresh, X, reset=True)
        labels = fresh._check_labels(y, len(X))
        X, labels, weights = drop_weightless(X, labels, check_sample_weight(sample_weight, len(X)))
        if not len(X):
            raise ValueError("every sample has a weight of zero, so there is nothing to learn")
        fresh._begin(X.shape[1])
        self._become(fresh)
        for rows in self._batches(len(X)):
            self._take(X[rows], labels[rows], None if weights is None else weights[rows])
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn one batch: features (n, d) and their labels (n,), known or new.

        Parameters
        ----------
        classes : array of labels, optional
            Not needed. If given, `y` is checked against it; a class gets its column with its first sample.
        sample_weight : (n,) weights, optional
            How much each sample counts in the statistics and in the step; a sample of weight 0 is left out.
        """
        new = not self._started
        into = type(self)(**self.get_params(deep=False)) if new else self
        X = check_features(into, X, reset=new)
        labels = into._check_labels(y, len(X))
        X, labels, weights = drop_weightless(X, labels, check_sample_weight(sample_weight, len(X)))
        if not len(X):
            return self
        if classes is not None:
            check_declared(labels, classes)
        if new:  # nothing of `self` has changed up to here, whatever was wrong with the input
            into._begin(X.shape[1])
            self._become(into)
        self._take(X, labels, weights)
        return self

    def _take(self, X: Features, labels: NDArray[Any], weights: Float64 | None) -> None:
        calibrate(self, X, labels)
        try:
            if new := self._labels.new_in(labels):
                self._grow(len(self._labels) + len(new))  # first: there may not be the memory
                self._labels.extend(new)
            self._n_seen += len(X)
            self._learn(X, self._labels.rows(labels), weights)
        finally:  # also where learning was interrupted
            self._clear_caches()

    def _batches(self, n: int) -> list[Rows]:
        """Return the batches of `fit` for `n` samples: shuffled, of the learner's batch size if it has one."""
        order = np.arange(n) if self.order_free else self._rng.permutation(n)
        size = getattr(self, "batch_size", None) or n
        return [order[start : start + size] for start in range(0, n, size)]

    # -- predicting -----------------------------------------------------------------------------------------

    def class_scores(self, X: ArrayLike) -> NDArray[Any]:
        """Return the score of every class, (n, n_classes), columns as in `classes_`, even for one or two classes."""
        self._check_ready()
        X = check_features(self, X, reset=False)
        return self._scores(X)[:, self._labels.order]

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
        scores = self.class_scores(X)
        labels: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        if reject_below is None:
            return labels
        rejected = self._temperature.probabilities(scores).max(axis=1) < reject_below
        return self._labels.with_unknown(labels, rejected, unknown)

    def predict_proba(self, X: ArrayLike) -> Float64:
        """Return probabilities, (n, n_classes): softmax of the scores at a temperature learnt from the stream."""
        scores = self.class_scores(X)
        return self._temperature.probabilities(scores)

    # -- classes --------------------------------------------------------------------------------------------

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

    @property
    def fades(self) -> bool:
        """Whether earlier samples count less with every later one: then a class mean can be its latest sample."""
        return bool(getattr(self, "forgetting", 0))

    def forget(self, label: Label) -> Self:
        """Remove a class: its statistics and its weights.

        It then has no score, and the other scores do not change. What its samples contributed to the weights of
        other classes, or to statistics shared by all, stays.
        """
        self._check_ready()
        self._drop(self._labels.drop(label))
        self._clear_caches()
        return self

    def rename(self, old: Label, new: Label) -> Self:
        """Give a class another label; nothing else changes."""
        self._check_ready()
        self._labels.rename(old, new)
        return self

    # -- state ----------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Return a copy of everything learnt, labels and random generator included; {} before the first batch."""
        return {name: array.copy() for name, array in self._whole_state().items()}

    def _whole_state(self) -> State:
        """Return the same without copying: views, valid until the next change."""
        return whole_state(self) if self._started else {}

    def set_state(self, state: State) -> Self:
        """Take over the `state()` of a learner with the same parameters, and continue from there."""
        other = type(self)(**self.get_params(deep=False))
        try:
            if state:
                with np.errstate(all="ignore"):  # a value that does not fit its type is found by comparison
                    resume(other, state)
        except KeyError as missing:
            raise ValueError(f"the state lacks {missing}") from None
        self._become(other)
        return self

    def save(self, path: str | PathLike[str]) -> None:
        """Write parameters and state to one file, atomically; `i2cansay.load` reads it."""
        from i2cansay.learners.model_file import save

        save(self, path)

    # -- inside ---------------------------------------------------------------------------------------------

    @property
    def _started(self) -> bool:
        return hasattr(self, "_labels")

    def _begin(self, n_features: int) -> None:
        self._check_parameters()
        self._built_with = self._structural_values()
        self._start(n_features)
        self._check_parts()
        self._rng = make_generator(getattr(self, "random_state", 0))
        self._temperature = Temperature()
        self._n_seen = 0
        self._calibrate_at = 0
        self._labels = LabelRows()

    def _become(self, other: "OnlineClassifier") -> None:
        """Take over everything that `other`, with the same parameters, has learnt."""
        parameters = self.get_params(deep=False)
        learnt = {name: value for name, value in other.__dict__.items() if name not in parameters}
        self.__dict__.update(learnt)  # at once: an interrupt finds the old or the new
        # Only these may be absent in `other`: everything else is made by `_begin`. What scikit-learn attaches to an
        # estimator (metadata requests, the context of a pipeline's callbacks) stays.
        for name in {"n_features_in_", "feature_names_in_", "_labels"} - set(learnt):
            self.__dict__.pop(name, None)

    def _check_labels(self, y: ArrayLike, n: int) -> NDArray[Any]:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        labels = as_labels(y)
        if len(labels) != n:
            raise ValueError(f"X has {n} rows but y has {len(labels)} labels; give one label per row")
        if self._started:
            self._labels.check(labels)
        return labels

    def _check_taught(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Features, Rows, Float64 | None]:
        """Check samples that are to be unlearnt; return them with the rows of their classes, which are all known."""
        self._check_ready()
        X = check_features(self, X, reset=False)
        labels = self._check_labels(y, len(X))
        weights = check_sample_weight(sample_weight, len(X))
        if weights is not None and not weights.all():
            raise ValueError("a sample of weight 0 was never taught, so it cannot be unlearnt")
        rows = self._labels.rows(labels)
        if (rows < 0).any():
            self._labels.row(labels[rows < 0].tolist()[0])  # raises, naming those that are known
        return X, rows, weights

    def _check_ready(self) -> None:
        if not self._started:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: teach it with fit or partial_fit first"
            )
        if not len(self._labels):
            raise ValueError("every class has been forgotten; teach one before asking")

    def __sklearn_is_fitted__(self) -> bool:
        return self._started

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
