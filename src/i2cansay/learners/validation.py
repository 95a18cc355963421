"""Checks of a learner's input: features, seeds and weights are checked once, and trusted inside."""

from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _num_features, validate_data

from i2cansay.core.types import Features, Float64, State

# Squares of features are formed in float32, which ends at 3e38.
LARGEST = 1e15
FILES = (str, bytes, PathLike)


def check_features(learner: Any, X: ArrayLike, *, reset: bool) -> Features:
    """Return `X` as a finite (n, d) array of float32 or float64, of the width the learner knows.

    Parameters
    ----------
    learner : estimator
        Gets `n_features_in_` and, for data frames, `feature_names_in_` where `reset` is true.
    """
    plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in (np.float32, np.float64) and X.size
    if not plain or reset or hasattr(learner, "feature_names_in_"):
        _refuse_others(learner, X)
        if not reset and hasattr(learner, "n_features_in_"):
            _check_width(learner, X)
        X = validate_data(learner, X, reset=reset, dtype=[np.float64, np.float32], order="C")
    features: Features = np.ascontiguousarray(X)
    if features.shape[1] != learner.n_features_in_:
        _check_width(learner, features)
    # Two passes without a temporary; and not >=, because NaN compares false.
    if not (features.max() < LARGEST and features.min() > -LARGEST):
        _refuse(features)
    return features


def _refuse_others(learner: Any, X: Any) -> None:
    """Raise where `X` is images or their paths, or a query for a table, not features."""
    what = None
    if getattr(X, "ndim", 0) > 2:
        what = f"Found array with dim {X.ndim}"
    elif isinstance(X, FILES):
        what = f"got {X!r:.60}"
    elif isinstance(X, list | tuple | np.ndarray) and len(X) and _is_image(X[0]):
        what = f"got a {type(X[0]).__name__} as the first row"
    elif hasattr(X, "collect_schema") and not hasattr(X, "to_numpy"):
        raise ValueError(
            f"expected a table of features, (n, d), got a {type(X).__name__}; collect() it first"
        )
    if what is not None:
        raise ValueError(
            f"{what}, while {type(learner).__name__} expects a table of features, (n, d); for images or their "
            "paths use ImageLearner, which turns them into features"
        )


def _is_image(row: Any) -> bool:
    # A row of features is a list or an array of one dimension; a PIL image has a size and can be shown.
    return (
        isinstance(row, FILES)
        or getattr(row, "ndim", 1) > 1
        or (hasattr(row, "convert") and hasattr(row, "show"))
    )


def _check_width(learner: Any, X: ArrayLike) -> None:
    try:
        width = _num_features(X)
    except TypeError:  # not a table at all: scikit-learn has the sentence for that
        return
    if width != learner.n_features_in_:
        name = type(learner).__name__
        raise ValueError(
            f"X has {width} features, but {name} is expecting {learner.n_features_in_} features as input "
            "(the width of the first batch); was the encoder changed?"
        )


def _refuse(X: Features) -> None:
    bad = ~(np.abs(X) < LARGEST)
    row, column = np.argwhere(bad)[0].tolist()
    value = X[row, column]
    what = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value:g}"
    raise ValueError(
        f"Input X contains {what} at row {row}, column {column}; features must be finite and below {LARGEST:g}"
    )


def check_sample_weight(sample_weight: ArrayLike | None, n: int) -> Float64 | None:
    """Return weights as (n,) float64 of at least zero, or None."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must be {n} numbers, one per row, got shape {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and nowhere below 0")
    return weights


def drop_weightless(
    X: Features, labels: NDArray[Any], weights: Float64 | None
) -> tuple[Features, NDArray[Any], Float64 | None]:
    """Return the samples with a weight above zero; the others count as not given."""
    if weights is None or weights.all():
        return X, labels, weights
    given = weights > 0
    return X[given], labels[given], weights[given]


def make_generator(random_state: Any) -> np.random.Generator:
    """Return a generator of one's own from a seed, a generator, scikit-learn's RandomState, or None."""
    if isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    if random_state is not None and (not isinstance(random_state, Integral) or random_state < 0):
        raise ValueError(f"random_state must be a whole number of at least 0, or None, got {random_state!r}")
    return np.random.default_rng(None if random_state is None else int(random_state))


def generator_state(rng: np.random.Generator) -> State:
    """Return a PCG64 generator as six numbers."""
    state: Any = rng.bit_generator.state
    words = [(state["state"][name] >> shift) & (2**64 - 1) for name in ("state", "inc") for shift in (0, 64)]
    return {"generator": np.array([*words, state["has_uint32"], state["uinteger"]], dtype=np.uint64)}


def restore_generator(state: State) -> np.random.Generator:
    """Return the generator as `generator_state` saw it."""
    if state["generator"].shape != (6,) or state["generator"].dtype != np.uint64:
        raise ValueError("the random generator should be six numbers")
    low, high, inc_low, inc_high, has_uint32, uinteger = state["generator"].tolist()
    if has_uint32 > 1 or uinteger >= 2**32:
        raise ValueError("the random generator has numbers it cannot have come to")
    rng = np.random.default_rng(0)
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": low | high << 64, "inc": inc_low | inc_high << 64},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return rng
