"""What all learners share: open labels, checked input, growth by class, calibration and files."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from i2cansay.core.state_parts import StatePart, add_prefix, strip_prefix
from i2cansay.core.statistics.temperature import Temperature
from i2cansay.core.types import Features, Float64, Rows, State
from i2cansay.learners.facts import ROUNDED_TO_FLOAT32, WEIGHTS_ARE_NOT_COPIES
from i2cansay.learners.labels import Label, LabelRows, as_labels, check_declared
from i2cansay.learners.learner_state import resume, whole_state
from i2cansay.learners.pickling import PickledByState
from i2cansay.learners.predicting import Predictor
from i2cansay.learners.validation import (
    check_features,
    check_sample_weight,
    drop_weightless,
    make_generator,
)
from i2cansay.learners.verdicts.evidence import Evidence
from i2cansay.learners.verdicts.scoring import score_before_learning, take_calibration

__all__ = ["ROUNDED_TO_FLOAT32", "WEIGHTS_ARE_NOT_COPIES", "OnlineClassifier"]

# Bytes in addition to what a method learns: generator, temperature, evidence, progress; and the label of each class.
OF_EVERY_LEARNER = 6144
OF_EVERY_CLASS = 64


class OnlineClassifier(PickledByState, Predictor, ClassifierMixin, BaseEstimator, ABC):
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

    calibrates: bool = True
    """Whether samples are scored before they are learnt, for `predict_proba`, `predict_set` and `verdicts`. Where
    only labels are asked for, set it to False: scores are the same, and learning takes less time."""

    # Made by `_begin`, as are the labels and the temperature; before the first batch a learner has none of them.
    _rng: np.random.Generator
    _n_seen: int
    _calibrate_at: int
    _built_with: dict[str, Any]

    # -- what a method writes, besides `_scores` ------------------------------------------------------------

    @abstractmethod
    def _start(self, n_features: int) -> None:
        """Make empty state for features of this width; the parameters have been checked."""

    @abstractmethod
    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        """Learn a checked batch, (n, d), of classes `rows`, (n,)."""

    def _check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid."""

    def _agree(self, X: Features) -> None:
        """Decide by rows `X`, (n, d), what is otherwise decided by the first batch; the state is empty."""

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

    # -- what follows from the parts ------------------------------------------------------------------------

    def _named_parts(self) -> dict[str, StatePart]:
        found = {name.lstrip("_"): getattr(self, name) for name in self.parts}
        return {name: part for name, part in found.items() if part is not None}

    def _check_parts(self) -> None:
        """Raise where `parts` does not name what `_start` has made; the author of a method reads this."""
        method = type(self).__name__
        if not self.parts and type(self)._state is OnlineClassifier._state:
            raise ValueError(
                f"{method}.parts is empty, so nothing that it learns would be saved; name in it the attributes that "
                "_start makes"
            )
        for name in self.parts:
            part = getattr(self, name, self)
            if part is self:
                raise ValueError(f"{method}.parts names {name}, but _start does not make it")
            if part is not None and not isinstance(part, StatePart):
                raise ValueError(
                    f"{method}.{name} is of type {type(part).__name__}, but a part of the state has resize, drop, "
                    "state and restore; keep an array with a row per class in a ClassRows (i2cansay.core.class_rows)"
                )

    def _grow(self, n_classes: int) -> None:
        """Make room for `n_classes` classes."""
        for part in self._named_parts().values():
            part.resize(n_classes)

    def _drop(self, row: int) -> None:
        """Remove one class."""
        for part in self._named_parts().values():
            part.drop(row)

    def _state(self) -> State:
        """Return everything learnt as arrays."""
        state: State = {}
        for name, part in self._named_parts().items():
            state |= add_prefix(name, part.state())
        return state

    def _restore(self, state: State) -> None:
        """Take over what `_state` returned; raise ValueError where it does not fit. `_start` has been called."""
        for name, part in self._named_parts().items():
            try:
                part.restore(strip_prefix(state, name), len(self._labels))
            except KeyError as missing:
                raise KeyError(f"{name}.{missing.args[0]}") from None

    def _clear_caches(self) -> None:
        """Discard what was computed from the state, because the state has changed."""
        for name in self.caches:
            getattr(self, name).clear()

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
        (2338840, 8897560)
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
        if self.calibrates:
            score_before_learning(self, X, labels)
        self._absorb(X, labels, weights)

    def _absorb(self, X: Features, labels: NDArray[Any], weights: Float64 | None) -> None:
        """Learn checked samples without scoring them first."""
        try:
            rows = self._labels.rows(labels)
            if rows.min() < 0:
                new = self._labels.new_in(labels)
                self._grow(len(self._labels) + len(new))  # first: there may not be the memory
                self._labels.extend(new)
                rows = self._labels.rows(labels)
            self._n_seen += len(X)
            self._learn(X, rows, weights)
        finally:  # also where learning was interrupted
            self._clear_caches()

    def calibrate(self, X: ArrayLike, y: ArrayLike, *, start_over: bool = False) -> Self:
        """Score samples that were not taught, (n, d) with labels (n,), and learn from their scores, not from them.

        The temperature of `predict_proba`, `predict_set` and `verdicts` rest on scores of samples that came before
        they were learnt. This adds more of them: after a merge, or where too few were scored along the way.

        Parameters
        ----------
        start_over : bool
            Whether to drop the scores so far, as those of the parts of a merged learner.
        """
        X, rows, _ = self._check_taught(X, y, None)
        if start_over:
            self._evidence, self._temperature = Evidence(), Temperature()
        if len(self._labels) > 1:
            take_calibration(self, X, rows)
        return self

    def _batches(self, n: int) -> list[Rows]:
        """Return the batches of `fit` for `n` samples: shuffled, of the learner's batch size if it has one."""
        order = np.arange(n) if self.order_free else self._rng.permutation(n)
        size = getattr(self, "batch_size", None) or n
        return [order[start : start + size] for start in range(0, n, size)]

    # -- classes --------------------------------------------------------------------------------------------

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

    def to_bytes(self) -> bytes:
        """Return what `save` would write; `i2cansay.from_bytes` reads it."""
        from i2cansay.learners.model_file import to_bytes

        return to_bytes(self)

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
        self._temperature, self._evidence = Temperature(), Evidence()
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
        """Check samples of classes that are known; return them with the rows of their classes."""
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

    def __sklearn_is_fitted__(self) -> bool:
        return self._started

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
