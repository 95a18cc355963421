"""A learner as a classifier of river: features by name in dictionaries or frames, new classes at any time.

River's own `SKL2RiverClassifier` is not for these learners. It wants all classes in advance and takes column i of
`predict_proba` for the probability of the i-th of them. A learner whose classes grow has columns only for those it
has seen, so that probabilities get the labels of other classes, without an error.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.adapters.peer import import_peer
from i2cansay.core.types import Float64
from i2cansay.learners import make_learner
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.labels import Label
from i2cansay.learners.lessons import check_takes_lessons

MiniBatchClassifier: Any = import_peer("river.base", '"i2cansay[river]"').MiniBatchClassifier
frames = import_peer("river.utils.dataframe", '"i2cansay[river]"')

SKIPPED_CHECKS: Mapping[str, str] = {
    "check_learn_many_matches_learn_one": (
        "probabilities are calibrated by scores of samples just before they are learnt, and a batch is scored "
        "before any of it is learnt; methods that learn in steps also take one step per batch"
    ),
}
"""Checks of `river.checks` that cannot hold, each with the reason; river excuses gradient methods of its own too."""


class RiverClassifier(MiniBatchClassifier):
    """A learner of ours with the methods of river's classifiers, one sample or one frame at a time.

    Parameters
    ----------
    learner : str or learner
        What `make_learner` takes, or a learner. That one is copied, with what it knows, and never changed.
    features : sequence of names, optional
        The features and their order; by default those that a given learner knows by name, else those of the first
        lesson, sorted.
    strict : bool
        Whether a sample with other features is an error, as it should be for the features of an encoder. By default,
        as river expects, a feature that is absent is 0, and one that is not among `features` is left out.
    seed : int, optional
        For learners that draw at random.

    Examples
    --------
    >>> model = RiverClassifier("slda")
    >>> model.predict_one({"x": 0.0, "y": 1.0}) is None
    True
    >>> for x, y, label in [(0.0, 1.0, "up"), (1.0, 0.0, "right"), (0.1, 0.9, "up"), (0.8, 0.1, "right")]:
    ...     model.learn_one({"x": x, "y": y}, label)
    >>> model.predict_one({"y": 2.0})
    'up'
    >>> sorted(model.predict_proba_one({"y": 2.0}))
    ['right', 'up']
    """

    def __init__(
        self,
        learner: OnlineClassifier | str = "best",
        *,
        features: Sequence[Any] | None = None,
        strict: bool = False,
        seed: int | None = None,
    ) -> None:
        self.learner = learner
        self.features = features
        self.strict = strict
        self.seed = seed
        self._names: list[Any] | None = None if features is None else list(features)
        self._model: OnlineClassifier = (
            make_learner(learner) if isinstance(learner, str) else copy.deepcopy(learner)
        )
        check_takes_lessons(self._model)
        # The adapter puts features in order itself, and gives the learner arrays, which have no names.
        known = self._model.__dict__.pop("feature_names_in_", None)
        if self._names is None and known is not None:
            self._names = known.tolist()
        if seed is not None and "random_state" in self._model.get_params(deep=False):
            self._model.set_params(random_state=seed)

    @property
    def model(self) -> OnlineClassifier:
        """The learner with what it has learnt: to save, merge, or ask for verdicts."""
        return self._model

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"learner": "ncm"}

    def _unit_test_skips(self) -> set[str]:
        return set(SKIPPED_CHECKS)

    # -- one sample -----------------------------------------------------------------------------------------

    def learn_one(self, x: Mapping[Any, float], y: Label, w: float = 1.0) -> None:
        """Learn a sample of weight `w`: features by name, and its label, known or new."""
        names = self._names or in_order(x)
        self._take(self._row(x, names), [y], None if w == 1.0 else [w], names)

    def predict_one(self, x: Mapping[Any, float], **kwargs: Any) -> Label | None:
        """Return the likeliest label; None before the first lesson."""
        if not self._knows:
            return None
        label: Label = self._model.predict(self._row(x, self._names or in_order(x)))[0].item()
        return label

    def predict_proba_one(self, x: Mapping[Any, float], **kwargs: Any) -> dict[Label, float]:
        """Return the probability of every label seen so far; {} before the first lesson."""
        if not self._knows:
            return {}
        (shares,) = self._probabilities(self._row(x, self._names or in_order(x)))
        return dict(zip(self._model.classes_.tolist(), shares.tolist(), strict=True))

    # -- a frame --------------------------------------------------------------------------------------------

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn a frame of pandas, polars or another that river takes, with a label, and maybe a weight, per row."""
        frame = frames.into_frame(X)
        names = self._names or in_order(frame.columns)
        self._take(self._rows(frame, names), frames.into_series(y).to_list(), w, names)

    def predict_many(self, X: Any) -> Any:
        """Return a series with the likeliest label of each row, None before the first lesson."""
        frame = frames.into_frame(X)
        labels: list[Label | None] = [None] * len(frame)
        if self._knows:
            labels = self._model.predict(self._rows(frame, self._names or in_order(frame.columns))).tolist()
        return frames.to_native_series(labels, name=None, like=frame)

    def predict_proba_many(self, X: Any) -> Any:
        """Return a frame with a column per label seen so far."""
        frame = frames.into_frame(X)
        if not self._knows:
            return frames.to_native_frame({}, like=frame)
        shares = self._probabilities(self._rows(frame, self._names or in_order(frame.columns)))
        columns = dict(zip(self._model.classes_.tolist(), shares.T, strict=True))
        return frames.to_native_frame(columns, like=frame)

    # -- inside ---------------------------------------------------------------------------------------------

    @property
    def _knows(self) -> bool:
        return self._model._started and len(self._model.classes_) > 0

    def _take(self, X: Float64, y: list[Any], weights: Any, names: list[Any]) -> None:
        self._model.partial_fit(X, y, sample_weight=weights)
        if self._model._started:  # not after a first lesson without weight
            self._names = names

    def _probabilities(self, X: Float64) -> Float64:
        # Some learners compute in float32, whose sums are further from 1 than river's checks allow.
        shares: Float64 = self._model.predict_proba(X).astype(np.float64)
        shares /= shares.sum(axis=1, keepdims=True)
        return shares

    def _row(self, x: Mapping[Any, Any], names: list[Any]) -> Float64:
        """Return a sample as an array, (1, d)."""
        self._check_names(x.keys(), names)
        try:
            return np.array([[float(x.get(name, 0.0)) for name in names]])
        except (TypeError, ValueError):
            wrong = next(name for name in names if not _is_number(x.get(name, 0.0)))
            raise ValueError(
                f"expected numbers as features, but {wrong!r} is {x[wrong]!r}; "
                "encode it first, as with river.preprocessing.OneHotEncoder"
            ) from None

    def _rows(self, frame: Any, names: list[Any]) -> Float64:
        """Return a frame as an array, (n, d)."""
        self._check_names(frame.columns, names)
        table: NDArray[Any] = frames.to_numpy(frame)
        columns = {name: column for column, name in enumerate(frame.columns)}
        rows = np.zeros((len(table), len(names)))
        for position, name in enumerate(names):
            if name in columns:
                rows[:, position] = table[:, columns[name]]
        return rows

    def _check_names(self, given: Any, names: list[Any]) -> None:
        if self.strict and (odd := set(given) ^ set(names)):
            few = ", ".join(repr(name) for name in in_order(odd)[:5])
            raise ValueError(
                f"expected the same {len(names)} features as in the first lesson, got {len(set(given))}; "
                f"they differ in {few}"
            )


def in_order(names: Any) -> list[Any]:
    """Return names sorted, so that their order in a dictionary does not matter; of mixed types, by their repr.

    Examples
    --------
    >>> in_order({"b": 1.0, "a": 2.0}), in_order(["b", 3])
    (['a', 'b'], ['b', 3])
    """
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=repr)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
