"""What checks require of learners, states and arrays, with messages that say how two of them differ."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from i2cansay.core.types import State
from i2cansay.learners.base import OnlineClassifier
from i2cansay.testing.blobs import Samples

# Arrays of a state that follow from scores of samples before they were learnt.
CALIBRATION = ("temperature", "evidence.", "progress")


def require(condition: bool | np.bool_, message: str) -> None:
    """Raise AssertionError with `message` unless the condition holds; `python -O` does not skip it."""
    if not condition:
        raise AssertionError(message)


def fresh(learner: OnlineClassifier) -> OnlineClassifier:
    """Return an untaught learner of the same parameters, seeded."""
    copy: OnlineClassifier = clone(learner)
    if "random_state" in copy.get_params(deep=False):
        copy.set_params(random_state=0)
    return copy


def taught(learner: OnlineClassifier, stream: Iterable[Samples]) -> OnlineClassifier:
    """Return a fresh learner that has learnt the batches of `stream`."""
    return teach(fresh(learner), stream)


def teach(learner: OnlineClassifier, stream: Iterable[Samples]) -> OnlineClassifier:
    """Let `learner` itself learn the batches of `stream`, and return it."""
    for X, y in stream:
        learner.partial_fit(X, y)
    return learner


def state_difference(before: State, after: State) -> str | None:
    """Say how two states differ, even if by a single bit; None if they do not.

    Examples
    --------
    >>> state_difference({"mean": np.zeros(2)}, {"mean": np.zeros(2)})
    >>> state_difference({"mean": np.zeros(2)}, {"mean": np.array([0.0, -0.0])})
    "'mean' differs"
    """
    if before.keys() != after.keys():
        return f"only one of the two has the arrays {sorted(before.keys() ^ after.keys())}"
    for name, array in before.items():
        other = after[name]
        if array.dtype != other.dtype or array.shape != other.shape:
            return f"{name!r} is {array.dtype} {array.shape} in one, {other.dtype} {other.shape} in the other"
        if array.tobytes() != other.tobytes():
            return f"{name!r} differs"
    return None


def require_same_state(before: State, after: State, message: str) -> None:
    """Require two states to be equal bit for bit."""
    difference = state_difference(before, after)
    require(difference is None, f"{message}: in the state {difference}")


def require_same_learnt(one: OnlineClassifier, other: OnlineClassifier, message: str) -> None:
    """Require the states of two learners to be equal bit for bit, of which one was asked questions between lessons.

    A lazy learner that was asked has its solution at hand and scores the next lesson. Its calibration may therefore
    rest on more scores; what it has learnt may not differ.
    """
    states = [one.state(), other.state()]
    if one.lazy:
        states = [
            {name: array for name, array in state.items() if not name.startswith(CALIBRATION)}
            for state in states
        ]
    require_same_state(states[0], states[1], message)


def require_same_bits(a: NDArray[Any], b: NDArray[Any], message: str) -> None:
    """Require two arrays to be equal bit for bit."""
    same = a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    require(same, f"{message}{'' if same else _how_far(a, b)}")


def require_close(a: NDArray[Any], b: NDArray[Any], message: str, *, tolerance: float = 1e-4) -> None:
    """Require two arrays of scores to be equal up to rounding, relative to the largest score."""
    same = a.shape == b.shape
    if same:
        scale = max(float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0)))
        same = bool(np.abs(a - b).max(initial=0.0) <= tolerance * scale)
    require(same, f"{message}{'' if same else _how_far(a, b)}")


def require_finite(array: NDArray[Any], message: str) -> None:
    """Require an array to hold neither NaN nor infinity."""
    bad = int((~np.isfinite(array)).sum())
    require(bad == 0, f"{message}: {bad} of {array.size} values are NaN or infinite")


def _how_far(a: NDArray[Any], b: NDArray[Any]) -> str:
    if a.shape != b.shape:
        return f" (shapes {a.shape} and {b.shape})"
    if a.dtype.kind not in "fiu" or b.dtype.kind not in "fiu":
        return f" ({a.tolist()} and {b.tolist()})"
    return f" (largest difference {np.abs(a.astype(np.float64) - b).max():.3g})"
