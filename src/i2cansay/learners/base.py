"""What all learners share: open labels, checked input, growth by class, probabilities and files."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from os import PathLike
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from i2cansay.core.state_parts import StatePart, add_prefix, strip_prefix
from i2cansay.core.statistics.temperature import Temperature
from i2cansay.core.types import Features, Float64, Rows, State
from i2cansay.learners.labels import KINDS, Label, LabelRows, as_labels, same_kind
from i2cansay.learners.parameters import check_share
from i2cansay.learners.state_checks import check_numbers, check_taken_over, json_text, measure
from i2cansay.learners.validation import (
    check_features,
    check_sample_weight,
    generator_state,
    make_generator,
    restore_generator,
)

# The temperature is fitted to rows that are scored before they are learnt: up to this many of a batch, and about one
# row in a hundred of the stream, so that it costs next to nothing.
CALIBRATION_ROWS = 16
CALIBRATION_SHARE = 1 / 100
# Learners that solve on demand are scored for it only when the stream has grown by this share.
CALIBRATION_GROWTH = 0.3
# For them only rows of classes with at least this share of the mean number of samples per class count.
CALIBRATION_COUNT = 0.5
# Bytes beside what a method learns: generator, temperature and progress; and the label of each class.
OF_EVERY_LEARNER = 1024
OF_EVERY_CLASS = 64
# A state has at least 1/64 of the bytes that the learner may take; the rest is spare room and caches.
LEAST_SHARE = 64

WEIGHTS_ARE_NOT_COPIES: Mapping[str, str] = MappingProxyType(
    {
        "check_sample_weight_equivalence_on_dense_data": (
            "a weight makes a step larger, a repeated sample is another step"
        )
    }
)
"""`expected_failed_checks` of methods that learn in steps; scikit-learn excuses its SGDClassifier alike."""
ROUNDED_TO_FLOAT32: Mapping[str, str] = MappingProxyType(
    {"check_sample_weight_equivalence_on_dense_data": "1e-7 is asked for; some BLAS kernels come that near"}
)
"""`expected_failed_checks` of methods with matrices in float32."""


class OnlineClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Base of every learner.

    A learner writes three methods over rows of classes, which are numbered in the order of their arrival: `_start`
    makes the objects its state consists of, `_learn` updates them, `_scores` reads them. It names those objects in
    `parts`; growing by a class, dropping one, saving and restoring follow from that. Labels, checks of input,
    calibrated probabilities and files are handled here. docs/architecture.md has a learner of ten lines.

    Notes
    -----
    As in scikit-learn, no thread may predict while another one teaches: the answer may be an error, though what was
    learnt is not harmed. Many threads may predict at the same time while none teaches. `ImageLearner` and the
    service take care of this themselves.
    """

    summary: ClassVar[str] = ""
    """The method in a few words, for tables of learners."""
    parts: ClassVar[tuple[str, ...]] = ()
    """Names of the attributes that make up the state, each a `StatePart` made by `_start`; the arrays of "_head" are
    saved as "head.weights" and so on."""
    caches: ClassVar[tuple[str, ...]] = ()
    """Names of attributes, each a `Cached` made by `_start`, that hold what is computed from the state. They are
    cleared whenever it changes."""
    small_parameters: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Parameters that make it small enough for the hundreds of tiny streams of the contract checks."""
    expected_failed_checks: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Checks of scikit-learn's `check_estimator` that it cannot pass, each with the reason."""
    stores_samples: bool = False
    """Whether the state holds samples, or rows from which a sample could be recovered."""
    streaming: ClassVar[bool] = True
    """Whether it learns as samples pass; False for the offline upper bound, which collects them and solves."""
    order_free: ClassVar[bool] = False
    """Whether the scores depend on the samples only, neither on their order nor on how they are batched."""
    needs_boundaries: ClassVar[bool] = False
    """Whether it must be told where one task ends and the next begins."""
    lazy: ClassVar[bool] = False
    """Whether the first scores after a change are expensive, because something is solved for them."""
    plain_means: ClassVar[bool] = True
    """Whether `class_means_`, if there are any, are means of the features themselves, not of roots or projections of
    them: then the mean of a class with one sample is that sample."""
    size_advice: str = "narrower features, fewer classes"
    """What makes the state smaller; completes the error that it would be too large."""
    structural: ClassVar[tuple[str, ...]] = ()
    """Parameters that what is learnt rests on. A change to one of them waits until learning begins anew."""

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
        """Raise ValueError if a parameter makes no sense."""

    def _structural_values(self) -> dict[str, Any]:
        """Return the structural parameters as far as what is learnt depends on them."""
        return {name: getattr(self, name) for name in self.structural}

    def _parameters_changed(self, before: Mapping[str, Any]) -> None:
        """React to `set_params` on a learner that has begun; `before` are all parameters as they were."""

    def _state_bytes(self, n_features: int, n_classes: int) -> int | None:
        """Return the bytes of `state_bytes` without those that every learner has; None if there is no bound."""
        return None

    # -- parameters -----------------------------------------------------------------------------------------

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as scikit-learn has it; where one makes no sense, nothing changes.

        Once learning has begun, they count from the next batch or question on. Those that what is learnt rests on
        (`structural`) count when learning begins anew, and until then the learner cannot be saved or merged.
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
        """Raise where parameters were changed that wait for a new beginning."""
        if not self._started:
            return
        wanted = self._structural_values()
        waiting = [name for name, value in self._built_with.items() if wanted[name] != value]
        if waiting:
            raise ValueError(
                f"{', '.join(waiting)} changed after learning began, and what was learnt does not fit; "
                "set it back, or begin anew with fit"
            )

    # -- what follows from the parts ------------------------------------------------------------------------

    def _named_parts(self) -> dict[str, StatePart]:
        return {name.lstrip("_"): getattr(self, name) for name in self.parts}

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
        """Return how many bytes the learner takes at most with so many features and classes, computed in advance.

        This bounds its memory after learning and scoring, and what it saves, without the texts of the labels. While
        it solves, it briefly takes up to as much again. None if there is no bound: a learner that keeps more with
        every sample, or one that does not say. Raises ValueError if a parameter makes no sense.

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
        X, labels, weights = _of_some_weight(X, labels, check_sample_weight(sample_weight, len(X)))
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
            Not needed. Where given, `y` is checked against it; a class gets its column with its first sample.
        sample_weight : (n,) weights, optional
            How much each sample counts in the statistics and in the step; a sample of weight 0 is left out.
        """
        new = not self._started
        into = type(self)(**self.get_params(deep=False)) if new else self
        X = check_features(into, X, reset=new)
        labels = into._check_labels(y, len(X))
        X, labels, weights = _of_some_weight(X, labels, check_sample_weight(sample_weight, len(X)))
        if not len(X):
            return self
        if classes is not None and (unknown := np.setdiff1d(labels, _declared(classes, labels))).size:
            raise ValueError(
                f"The target label(s) {unknown.tolist()} in y do not exist in the initial classes"
            )
        if new:  # nothing of `self` has changed up to here, whatever was wrong with the input
            into._begin(X.shape[1])
            self._become(into)
        self._take(X, labels, weights)
        return self

    def _take(self, X: Features, labels: NDArray[Any], weights: Float64 | None) -> None:
        self._calibrate(X, labels)
        try:
            if new := self._labels.new_in(labels):
                self._grow(len(self._labels) + len(new))  # first: there may not be the memory
                self._labels.extend(new)
            self._n_seen += len(X)
            self._learn(X, self._labels.rows(labels), weights)
        finally:  # also where learning was interrupted
            self._clear_caches()

    def _calibrate(self, X: Features, labels: NDArray[Any]) -> None:
        """From time to time, fit the temperature to rows of a batch that is about to be learnt (test first)."""
        if self._n_seen < self._calibrate_at or not self.streaming or len(self._labels) < 2:
            return
        rows = self._labels.rows(labels)
        known = np.flatnonzero(rows >= 0)
        if self.lazy and hasattr(self, "class_counts_"):
            # The scores of a class with one or two samples say nothing about the others; the next batch may do.
            counts = np.empty(len(self._labels))
            counts[self._labels.order] = self.class_counts_
            known = known[counts[rows[known]] >= CALIBRATION_COUNT * counts.mean()]
            if not len(known):
                return
        # Spread over the batch: a batch in the order of a folder begins with one class.
        limit = len(known) if self.lazy else CALIBRATION_ROWS
        chosen = known[:: -(-len(known) // limit)] if len(known) > limit else known
        if len(chosen):
            learn = self._temperature.refit if self.lazy else self._temperature.update
            learn(self._scores(X[chosen]), rows[chosen])
        pause = CALIBRATION_GROWTH * self._n_seen
        if not self.lazy:
            pause = min(pause, len(chosen) / CALIBRATION_SHARE)
        self._calibrate_at = self._n_seen + int(pause)

    def _batches(self, n: int) -> list[Rows]:
        """Return the batches of `fit` for `n` samples: shuffled, of the learner's batch size if it has one."""
        order = np.arange(n) if self.order_free else self._rng.permutation(n)
        size = getattr(self, "batch_size", None) or n
        return [order[start : start + size] for start in range(0, n, size)]

    # -- deciding -------------------------------------------------------------------------------------------

    def class_scores(self, X: ArrayLike) -> NDArray[Any]:
        """Return the score of every class, (n, n_classes), columns as in `classes_`, also for one or two."""
        self._check_ready()
        X = check_features(self, X, reset=False)
        return self._scores(X)[:, self._labels.order]

    def decision_function(self, X: ArrayLike) -> NDArray[Any]:
        """Return `class_scores`; with two classes their difference, (n,), as scikit-learn has it."""
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
            A value of the labels' type that is none of them, as "?" or -1. The array keeps its type then, as
            scikit-learn's metrics ask for; with None it is one of objects.

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
        """What the labels are: "U" strings, "i" whole numbers, "f" the same as floats, "b" booleans; None before."""
        return self._labels.kind if self._started else None

    @property
    def fades(self) -> bool:
        """Whether earlier samples count less with every later one: then a class mean can be its latest sample."""
        return bool(getattr(self, "forgetting", 0))

    def forget(self, label: Label) -> Self:
        """Remove a class: its statistics and its weights.

        Afterwards it has no score, and the other scores do not change. What its samples did to the weights of other
        classes, or to statistics shared by all, stays.
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
        if not self._started:
            return {}
        names = getattr(self, "feature_names_in_", np.array([], dtype=object)).tolist()
        return {
            "labels": _json_bytes(self._labels.to_json()),
            "feature_names": _json_bytes(json.dumps(names)),
            "progress": np.array([self.n_features_in_, self._n_seen, self._calibrate_at], dtype=np.int64),
            **self._temperature.state(),
            **generator_state(self._rng),
            **self._state(),
        }

    def set_state(self, state: State) -> Self:
        """Take over the `state()` of a learner with the same parameters, and go on from there."""
        other = type(self)(**self.get_params(deep=False))
        try:
            if state:
                with np.errstate(all="ignore"):  # a value that does not fit its type is found by comparison
                    other._resume(state)
        except KeyError as missing:
            raise ValueError(f"the state lacks {missing}") from None
        self._become(other)
        return self

    def _resume(self, state: State) -> None:
        n_features, n_classes = measure(state)
        check_numbers(state)
        self._check_share(state, n_features, n_classes)
        n_seen, calibrate_at = (int(number) for number in state["progress"][1:])
        self._begin(n_features)
        self.n_features_in_ = n_features
        if names := json.loads(json_text(state, "feature_names")):
            if len(names) != n_features or any(type(name) is not str for name in names):
                raise ValueError(f"the names of the features should be {n_features} texts")
            self.feature_names_in_ = np.array(names, dtype=object)
        self._labels = LabelRows.from_json(json_text(state, "labels"))
        self._n_seen, self._calibrate_at = n_seen, calibrate_at
        self._rng = restore_generator(state)
        self._temperature.restore(state)
        self._restore(state)
        check_taken_over(state, self._whole_state())

    def _check_share(self, state: State, n_features: int, n_classes: int) -> None:
        """Raise if the state is far too small for its width: memory for a forged width must not be allocated."""
        told = self.state_bytes(n_features, n_classes)
        given = sum(array.nbytes for array in state.values())
        if told is not None and not self.stores_samples and told > LEAST_SHARE * given + 2**16:
            raise ValueError(
                f"{given} bytes cannot be what was learnt of {n_classes} classes with {n_features} features"
            )

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
        self._rng = make_generator(getattr(self, "random_state", 0))
        self._temperature = Temperature()
        self._n_seen = 0
        self._calibrate_at = 0
        self._labels = LabelRows()

    def _become(self, other: "OnlineClassifier") -> None:
        """Take over everything `other`, of the same parameters, has learnt."""
        parameters = self.get_params(deep=False)
        learnt = {name: value for name, value in other.__dict__.items() if name not in parameters}
        self.__dict__.update(learnt)  # at once: an interrupt finds the old or the new
        # Only these may be absent in `other`: all else is made by `_begin`. What scikit-learn hangs on an
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


def _of_some_weight(
    X: Features, labels: NDArray[Any], weights: Float64 | None
) -> tuple[Features, NDArray[Any], Float64 | None]:
    """Return the samples with a weight above zero; the others count as not given."""
    if weights is None or weights.all():
        return X, labels, weights
    given = weights > 0
    return X[given], labels[given], weights[given]


def _json_bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _declared(classes: ArrayLike, labels: NDArray[Any]) -> NDArray[Any]:
    declared = as_labels(classes)
    if not same_kind(declared.dtype.kind, labels.dtype.kind):
        raise ValueError(f"classes are {KINDS[declared.dtype.kind]}, but y has {KINDS[labels.dtype.kind]}")
    return declared
