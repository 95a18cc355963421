"""Checks of a state before a learner takes it over: plausible numbers, of the right types and shapes."""

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.state_parts import LARGEST_COUNT
from i2cansay.core.types import State
from i2cansay.learners.labels import LabelRows

# By the bytes of a number. Features are below 1e15, so their sums of squares are far below 1e60; single precision
# ends at 3e38, and the largest weight times a feature must stay within it.
LARGEST = {2: 6e4, 4: 1e30, 8: 1e60}
WIDEST = 2**31


def json_text(state: State, name: str) -> str:
    """Return one of the texts of a state."""
    if state[name].ndim != 1 or state[name].dtype != np.uint8:
        raise ValueError(f"{name} should be a row of bytes")
    return bytes(state[name]).decode()


def measure(state: State) -> tuple[int, int]:
    """Return the width of the features and the number of classes of a state.

    Examples
    --------
    >>> from i2cansay import make_learner
    >>> measure(make_learner("ncm").partial_fit([[0.0, 1.0]], ["a"]).state())
    (2, 1)
    """
    progress = state["progress"]
    # Three numbers are of a file from before scores were counted.
    if progress.shape not in ((3,), (4,)) or progress.dtype != np.int64:
        raise ValueError(
            "the progress should be four numbers: width, samples seen, next calibration, samples scored"
        )
    width, *counted = progress.tolist()
    if not 1 <= width < WIDEST or not all(0 <= number <= LARGEST_COUNT for number in counted):
        raise ValueError(f"the progress has impossible numbers: {progress.tolist()}")
    return width, len(LabelRows.from_json(json_text(state, "labels")))


def check_numbers(state: State) -> None:
    """Raise unless every number is finite, and small enough to have been learnt."""
    for name, array in state.items():
        if array.dtype.kind == "f" and array.size and not _largest(array) <= LARGEST[array.itemsize]:
            raise ValueError(f"{name} has numbers that are not finite, or too large to have been learnt")
        if array.dtype.kind not in "fiub":
            raise ValueError(f"{name} should be numbers, not {array.dtype}")


def _largest(array: NDArray[np.floating]) -> float:
    # Two passes without a temporary; NaN passes through, and compares false.
    return float(np.maximum(array.max(), -array.min()))


def check_taken_over(given: State, taken: State) -> None:
    """Raise unless the learner that has taken the state over saves every given array with this type and shape."""
    for name, array in given.items():
        if name not in taken:
            raise ValueError(f"{name[:100]} is not a part of such a state")
        if (array.dtype, array.shape) != (taken[name].dtype, taken[name].shape):
            raise ValueError(
                f"{name} should be {taken[name].dtype} of shape {taken[name].shape}, "
                f"not {array.dtype} of shape {array.shape}"
            )
