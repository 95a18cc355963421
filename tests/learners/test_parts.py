"""What the base derives from the parts a learner names: growing, dropping, saving, restoring, clearing of caches."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from i2cansay import LEARNERS
from i2cansay.core.class_rows import ClassRows
from i2cansay.core.state_parts import StatePart
from i2cansay.core.statistics.means import ClassMeans
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners import learner_class
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.lazy import Cached
from i2cansay.testing import check_learner, small_learner
from i2cansay.testing.blobs import blobs


class NearestMean(OnlineClassifier):
    """The least a learner has to write, with a cache."""

    parts: ClassVar[tuple[str, ...]] = ("_means",)
    caches = ("_squares",)
    order_free = True

    def _start(self, n_features: int) -> None:
        self._means = ClassMeans(n_features)
        self._squares: Cached[Float64] = Cached()

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._means.add(X, rows, weights)

    def _scores(self, X: Features) -> Features:
        squares = self._squares.get(lambda: np.square(self._means.mean).sum(axis=1))
        scores: Features = 2 * X @ self._means.mean.T - squares
        return scores


def test_a_learner_of_three_methods_keeps_the_contract() -> None:
    assert check_learner(NearestMean()) > 30


def test_arrays_are_saved_under_the_name_of_their_part() -> None:
    state = NearestMean().partial_fit(*blobs()).state()
    assert {"means.count", "means.mean", "means.total", "means.centre"} < state.keys()
    del state["means.total"]
    with pytest.raises(ValueError, match=r"the state lacks 'means\.total'"):
        NearestMean().set_state(state)


class Interrupted(NearestMean):
    """Stops after it has learnt, before anything else happens."""

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        super()._learn(X, rows, weights)
        if len(X) == 1:
            raise KeyboardInterrupt


def test_caches_are_cleared_also_when_learning_is_interrupted() -> None:
    X, y = blobs()
    model = Interrupted().partial_fit(X, y)
    model.class_scores(X)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[:1] + 50, y[:1])
    fresh = NearestMean().set_state(model.state())
    np.testing.assert_array_equal(model.class_scores(X), fresh.class_scores(X))


def test_a_part_that_is_missing_is_named() -> None:
    class Forgetful(NearestMean):
        parts = ("_means", "_other")

    with pytest.raises(AssertionError, match="_other"):
        check_learner(Forgetful())


def test_a_learner_that_names_no_part_is_told_so() -> None:
    class Unnamed(NearestMean):
        parts = ()

    with pytest.raises(ValueError, match=r"Unnamed\.parts is empty.*name in it"):
        Unnamed().partial_fit(*blobs())


def test_a_part_that_is_an_array_is_refused_with_what_to_use() -> None:
    class Plain(NearestMean):
        def _start(self, n_features: int) -> None:
            self._means = np.zeros((0, n_features))  # type: ignore[assignment]

    with pytest.raises(ValueError, match=r"Plain\._means is of type ndarray.*ClassRows"):
        Plain().partial_fit(*blobs())


class Boxes(OnlineClassifier):
    """An array of one's own, and a part that only some parameters ask for."""

    parts = ("_means", "_highest", "_unused")

    def _start(self, n_features: int) -> None:
        self._means = ClassMeans(n_features)
        self._highest = ClassRows(n_features)
        self._unused: ClassRows | None = None

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._means.add(X, rows, weights)
        np.maximum.at(self._highest.rows, rows, np.abs(X - self._means.mean[rows]))

    def _scores(self, X: Features) -> Features:
        offsets = np.abs(X[:, None] - self._means.mean) / (self._highest.rows + 1e-9)
        scores: Features = -offsets.clip(max=1e6).sum(axis=2)
        return scores


def test_an_array_of_ones_own_and_a_part_that_is_none_keep_the_contract() -> None:
    assert check_learner(Boxes()) > 30
    assert {"means.mean", "highest.rows"} < Boxes().partial_fit(*blobs()).state().keys()


@pytest.mark.parametrize("name", [name for name in LEARNERS if learner_class(name).parts])
def test_every_part_is_one(name: str) -> None:
    model = small_learner(name).partial_fit(*blobs())
    assert all(isinstance(part, StatePart) for part in model._named_parts().values())
    assert all(isinstance(getattr(model, cache), Cached) for cache in model.caches)
