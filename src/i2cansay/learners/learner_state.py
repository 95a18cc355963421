"""The whole state of a learner as named arrays: what its method keeps, and what every learner keeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.state_parts import add_prefix, strip_prefix
from i2cansay.core.types import State
from i2cansay.learners.labels import LabelRows
from i2cansay.learners.state_checks import check_numbers, check_taken_over, json_text, measure
from i2cansay.learners.validation import generator_state, restore_generator
from i2cansay.learners.verdicts.evidence import Evidence

if TYPE_CHECKING:
    from i2cansay.learners.base import OnlineClassifier

# A state has at least 1/64 of the bytes that the learner may take; the rest is spare room and caches.
LEAST_SHARE = 64


def whole_state(learner: OnlineClassifier) -> State:
    """Return everything a learner that has begun knows; the arrays are views, valid until it learns more."""
    names = getattr(learner, "feature_names_in_", np.array([], dtype=object)).tolist()
    evidence = learner._evidence
    progress = [learner.n_features_in_, learner._n_seen, learner._calibrate_at, evidence.n_scored]
    return {
        "labels": _json_bytes(learner._labels.to_json()),
        "feature_names": _json_bytes(json.dumps(names)),
        "progress": np.array(progress, dtype=np.int64),
        **learner._temperature.state(),
        **add_prefix("evidence", evidence.state()),
        **generator_state(learner._rng),
        **learner._state(),
    }


def resume(learner: OnlineClassifier, state: State) -> None:
    """Let a learner that knows nothing take over a `whole_state`; raise where the state is not valid."""
    state = with_evidence(state)
    n_features, n_classes = measure(state)
    check_numbers(state)
    _check_share(learner, state, n_features, n_classes)
    n_seen, calibrate_at, n_scored = (int(number) for number in state["progress"][1:])
    learner._begin(n_features)
    learner.n_features_in_ = n_features
    if names := json.loads(json_text(state, "feature_names")):
        if len(names) != n_features or any(type(name) is not str for name in names):
            raise ValueError(f"the names of the features should be {n_features} texts")
        learner.feature_names_in_ = np.array(names, dtype=object)
    learner._labels = LabelRows.from_json(json_text(state, "labels"))
    learner._n_seen, learner._calibrate_at = n_seen, calibrate_at
    learner._rng = restore_generator(state)
    learner._temperature.restore(state)
    learner._evidence.restore(strip_prefix(state, "evidence"), n_scored)
    learner._restore(state)
    check_taken_over(state, whole_state(learner))


def with_evidence(state: State) -> State:
    """Return a state as it is saved now: one from before scores were counted gets histograms without any."""
    progress = state["progress"]
    if progress.shape != (3,) or any(name.startswith("evidence.") for name in state):
        return state
    empty = add_prefix("evidence", Evidence().state())
    return {**state, **empty, "progress": np.append(progress, progress.dtype.type(0))}


def _check_share(learner: OnlineClassifier, state: State, n_features: int, n_classes: int) -> None:
    """Raise if the state is far too small for its width: memory for a forged width must not be allocated."""
    told = learner.state_bytes(n_features, n_classes)
    given = sum(array.nbytes for array in state.values())
    if told is not None and not learner.stores_samples and told > LEAST_SHARE * given + 2**16:
        raise ValueError(
            f"{given} bytes cannot be what was learnt of {n_classes} classes with {n_features} features"
        )


def _json_bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)
