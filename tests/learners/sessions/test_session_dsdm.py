"""DSDM that is told where sessions end."""

import numpy as np
import pytest

from i2cansay.evaluate import play
from i2cansay.learners.memory.dsdm import DSDM
from i2cansay.learners.sessions.session_dsdm import SessionDSDM
from i2cansay.streams import make_stream


def clouds(n: int = 600, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, n)
    return 2 * np.random.default_rng(9).normal(size=(5, 12))[y] + rng.normal(size=(n, 12)), y


def test_it_is_pruned_once_a_session_to_its_size() -> None:
    X, y = clouds()
    told = SessionDSDM(memory_size=40)
    play(told, X, y, make_stream("step:1", y), X_test=X, y_test=y)
    assert told.n_rows_ == 40
    assert told.score(X, y) > 0.6


def test_until_a_session_ends_its_rows_are_those_of_a_memory_without_a_limit() -> None:
    X, y = clouds()
    told, unlimited = SessionDSDM(memory_size=10_000), DSDM(memory_size=10_000)
    for model in (told, unlimited):
        model.partial_fit(X, y)
    assert told.n_rows_ == unlimited.n_rows_ > 40
    np.testing.assert_array_equal(told.addresses_, unlimited.addresses_)


def test_a_session_is_not_pruned_on_the_way() -> None:
    # Pruned on the way, the densest rows of the first half are gone when the second half comes.
    X, y = clouds()
    whole = SessionDSDM(memory_size=40).partial_fit(X, y)
    halves = SessionDSDM(memory_size=40).partial_fit(X[:300], y[:300]).partial_fit(X[300:], y[300:])
    assert whole.n_rows_ == halves.n_rows_ == 40
    assert not np.array_equal(whole.addresses_, halves.addresses_)


def test_parameters_out_of_range_are_named() -> None:
    with pytest.raises(ValueError, match="memory_size must be a whole number of at least 1"):
        SessionDSDM(memory_size=0).partial_fit(np.eye(2), [0, 1])
