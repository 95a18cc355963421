"""Checks that bad input is refused with a helpful message and changes nothing."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from i2cansay.learners.base import OnlineClassifier
from i2cansay.testing.blobs import blobs
from i2cansay.testing.requirements import fresh, require, require_same_bits, require_same_state

# A sentence, not a word: what was expected and what came does not fit into less.
SHORTEST_MESSAGE = 15


def check_bad_batch_changes_nothing(learner: OnlineClassifier) -> None:
    """`partial_fit` with a bad batch raises and leaves a taught learner unchanged, bit for bit."""
    X, y = blobs()
    model = fresh(learner).partial_fit(X, y)
    scores, before = model.class_scores(X), model.state()
    for name, (bad_X, bad_y, more) in _bad_batches(known_width=True).items():
        _require_refusal(name, partial(model.partial_fit, bad_X, bad_y, **more))
        require_same_state(before, model.state(), f"a refused partial_fit with {name} changed the state")
        require_same_bits(
            model.class_scores(X), scores, f"a refused partial_fit with {name} changed the scores"
        )


def check_bad_first_batch_changes_nothing(learner: OnlineClassifier) -> None:
    """A bad first batch leaves the learner untaught, so that it can still learn any width and any labels."""
    for name, (bad_X, bad_y, more) in _bad_batches(known_width=False).items():
        model = fresh(learner)
        before = set(vars(model))
        for method in ("partial_fit", "fit") if not more else ("partial_fit",):
            call = getattr(model, method)
            _require_refusal(name, partial(call, bad_X, bad_y, **more))
            left = sorted(set(vars(model)) - before)
            require(not left, f"a refused {method} with {name} left behind {', '.join(left)}")
        model.partial_fit([[1.0, 2.0], [3.0, 4.0]], ["b", "a"]).predict([[1.0, 2.0]])


def check_bad_fit_keeps_what_was_learnt(learner: OnlineClassifier) -> None:
    """`fit` forgets what was learnt only after its input has been checked."""
    X, y = blobs()
    model = fresh(learner).partial_fit(X, y)
    before = model.state()
    for name, (bad_X, bad_y, more) in _bad_batches(known_width=False).items():
        if not more:
            _require_refusal(name, partial(model.fit, bad_X, bad_y))
            require_same_state(before, model.state(), f"a refused fit with {name} lost what was learnt")


def check_bad_question_is_refused(learner: OnlineClassifier) -> None:
    """Every prediction method refuses features of a wrong width, NaN, infinity and empty input."""
    X, y = blobs()
    model = fresh(learner).partial_fit(X, y)
    before = model.state()
    for method in (
        "class_scores",
        "decision_function",
        "predict",
        "predict_proba",
        "predict_set",
        "verdicts",
    ):
        ask = getattr(model, method)
        for name, bad in _bad_features(X, known_width=True).items():
            _require_refusal(f"{method} of {name}", partial(ask, bad))
    require_same_state(before, model.state(), "refused questions changed the learner")
    message = _require_refusal("a narrow question", partial(model.predict, X[:, :-1]))
    widths = str(X.shape[1]), str(X.shape[1] - 1)
    require(
        all(width in message for width in widths),
        f"the error for a wrong width should name both widths, {' and '.join(widths)}; it says: {message}",
    )


def _bad_features(X: Any, *, known_width: bool) -> dict[str, Any]:
    bad: dict[str, Any] = {}
    for name, value in (("NaN", np.nan), ("infinity", np.inf), ("minus infinity", -np.inf)):
        for dtype in (np.float32, np.float64):
            spoilt = X[:3].astype(dtype)
            spoilt[1, 2] = value
            bad[f"{name} in {np.dtype(dtype)} features"] = spoilt
    bad |= {
        "no rows": X[:0],
        "no columns": X[:3, :0],
        "one dimension": X[0],
        "three dimensions": X[None, :3],
        "text as features": [["a"] * X.shape[1]] * 3,
        "complex features": X[:3] * 1j,
    }
    if known_width:
        bad |= {"features too narrow": X[:3, :-1], "features too wide": np.hstack([X, X])[:3]}
    return bad


def _bad_batches(*, known_width: bool) -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Return features, labels and other arguments by name; each batch has a new label."""
    X, _ = blobs(seed=1)
    X = X[:3]
    y: list[Any] = [0, 99, 1]
    bad: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        name: (features, y[: len(features)], {})
        for name, features in _bad_features(X, known_width=known_width).items()
    }
    wrong_labels: dict[str, Any] = {
        "too few labels": y[:2],
        "too many labels": [*y, 0],
        "no labels": None,
        "strings and numbers as labels": [0, "new", 1],
        "a missing label": [0, None, 1],
        "labels that are no classes": [0.5, 1.25, 99.75],
        "NaN among the labels": [0.0, np.nan, 99.0],
        "labels of two columns": [[0, 1], [99, 1], [1, 1]],
    }
    if known_width:  # the learner has been taught numbers
        wrong_labels["strings where numbers were"] = ["0", "99", "1"]
    bad |= {name: (X, labels, {}) for name, labels in wrong_labels.items()}
    further: dict[str, dict[str, Any]] = {
        "a weight too few": {"sample_weight": [1.0, 1.0]},
        "a negative weight": {"sample_weight": [1.0, -1.0, 1.0]},
        "a NaN weight": {"sample_weight": [1.0, np.nan, 1.0]},
        "a label outside classes=": {"classes": [0, 1]},
    }
    return bad | {name: (X, y, more) for name, more in further.items()}


def _require_refusal(name: str, call: Callable[[], Any]) -> str:
    """Return the message of the ValueError or TypeError that `call` must raise."""
    try:
        call()
    except (ValueError, TypeError) as refusal:
        message = str(refusal)
    except Exception as other:
        raise AssertionError(
            f"{name} should raise ValueError with a clear message, not {type(other).__name__}: {other}"
        ) from other
    else:
        raise AssertionError(f"{name} was accepted; expected a ValueError")
    require(len(message) >= SHORTEST_MESSAGE, f"the error for {name} says only {message!r}")
    return message
