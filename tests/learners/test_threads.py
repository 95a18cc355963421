"""A learner may be asked by many threads at once; a race with one that teaches leaves nothing wrong behind."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event, Thread
from typing import Any

import numpy as np
import pytest

from i2cansay import LEARNERS
from i2cansay.core.paper import isay
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.learners import learner_class
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.lazy import Cached
from i2cansay.testing import small_learner
from i2cansay.testing.requirements import fresh as untaught

LONG = 60.0
N_THREADS = 8


def material(n: int = 120) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 6
    return rng.standard_normal((n, 8)) + 3 * rng.standard_normal((6, 8))[y], y


def fresh(name: str) -> OnlineClassifier:
    return untaught(small_learner(name))


def as_saved(model: OnlineClassifier) -> OnlineClassifier:
    return type(model)(**model.get_params(deep=False)).set_state(model.state())


@pytest.mark.parametrize("name", LEARNERS)
def test_many_threads_ask_at_once_right_after_a_lesson(name: str) -> None:
    X, y = material()
    model = fresh(name)
    for part in (slice(0, 60), slice(60, 120)):
        model.partial_fit(X[part], y[part])
        expected = as_saved(model).class_scores(X)
        together = Barrier(N_THREADS)

        def ask(_: int, together: Barrier = together) -> Any:
            together.wait(LONG)
            return model.class_scores(X)

        with ThreadPoolExecutor(N_THREADS) as pool:
            for scores in pool.map(ask, range(N_THREADS)):
                np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_what_was_made_before_a_change_is_not_kept() -> None:
    cached, making, go = Cached[str](), Event(), Event()

    def slow() -> str:
        making.set()
        assert go.wait(LONG)
        return "old"

    reader = Thread(target=cached.get, args=(slow,))
    reader.start()
    assert making.wait(LONG)
    cached.clear()
    go.set()
    reader.join(LONG)
    assert cached.get(lambda: "new") == "new"


@contextmanager
def asking(model: OnlineClassifier, X: Any) -> Iterator[None]:
    """Ask in another thread; whatever it raises beside a lesson is its own affair."""

    def ask() -> None:
        try:
            model.predict(X)
        except Exception:
            return

    reader = Thread(target=ask)
    reader.start()
    yield
    reader.join(LONG)
    assert not reader.is_alive()


# Methods that read images are lazy because every score is a pass through a network; they keep no solution.
LAZY = [
    name
    for name, kind in ((name, learner_class(name)) for name in LEARNERS)
    if (kind.lazy or kind.caches) and not kind.reads_images
]


@pytest.mark.parametrize("name", LAZY)
def test_a_solution_made_beside_a_lesson_is_not_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = material()
    model = fresh(name).partial_fit(X[:60], y[:60])
    model._calibrate_at = 10**9  # a lesson would ask as well, and wait
    made, go, get = Event(), Event(), Cached.get

    def paused(self: Cached[Any], make: Callable[[], Any]) -> Any:
        def slowly() -> Any:
            result = make()
            made.set()
            assert go.wait(LONG)
            return result

        return get(self, slowly)

    monkeypatch.setattr(Cached, "get", paused)
    with asking(model, X):
        assert made.wait(LONG)
        monkeypatch.setattr(Cached, "get", get)
        model.partial_fit(3 - X[60:], y[60:])
        go.set()
    expected = as_saved(model).class_scores(X)
    np.testing.assert_allclose(model.class_scores(X), expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_significance_made_beside_a_lesson_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = material()
    model = fresh("i2cansay").partial_fit(X[:60], y[:60])
    model._calibrate_at = 10**9
    computed, learnt, go, compute, add = Event(), Event(), Event(), isay.significance, ClassMoments.add

    def slowly(std: Any) -> Any:
        result = compute(std)
        computed.set()
        assert go.wait(LONG)
        return result

    def noted(self: ClassMoments, *batch: Any) -> Any:
        touched = add(self, *batch)
        learnt.set()
        return touched

    monkeypatch.setattr(isay, "significance", slowly)
    monkeypatch.setattr(ClassMoments, "add", noted)
    teacher = Thread(target=model.partial_fit, args=(3 - X[60:], y[60:]))
    with asking(model, X):
        assert computed.wait(LONG)  # of the classes as they are
        teacher.start()
        assert learnt.wait(LONG)  # and now they are others
        go.set()
        teacher.join(LONG)
    assert not teacher.is_alive()
    np.testing.assert_array_equal(model.class_scores(X), as_saved(model).class_scores(X))
