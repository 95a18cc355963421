"""Checks that a learner can be saved and resumed: its state is complete, and a damaged state is refused."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from i2cansay.core.types import State
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.model_file import load
from i2cansay.testing.blobs import Samples, batches, blobs, late_class
from i2cansay.testing.requirements import (
    fresh,
    require,
    require_same_bits,
    require_same_learnt,
    require_same_state,
    state_difference,
    taught,
    teach,
)


def check_state_resumes(learner: OnlineClassifier) -> None:
    """`set_state(state())` at any moment, then the rest of the stream, equals never having stopped."""
    stream = list(batches(late_class(blobs())))
    whole = taught(learner, stream)
    for stop in range(len(stream) + 1):
        first = taught(learner, stream[:stop])
        state = first.state()
        kept = {name: array.copy() for name, array in state.items()}
        _require_resumed(whole, stream, stop, fresh(learner).set_state(state), "state() and set_state()")
        require_same_state(kept, state, "a learner changed the state it was given")
        # A learner that knows something else must keep nothing of it.
        other = blobs(n_classes=3, n_features=2, seed=3)
        busy = fresh(learner).partial_fit(other.X, other.y)
        _require_resumed(whole, stream, stop, busy.set_state(state), "set_state() of a taught learner")


def check_file_resumes(learner: OnlineClassifier) -> None:
    """`save`, `load`, then the rest of the stream equals never having stopped; saving changes nothing."""
    stream = list(batches(late_class(blobs())))
    whole = taught(learner, stream)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        for stop in (0, 1, len(stream) // 2, len(stream)):
            first = taught(learner, stream[:stop])
            first.save(path)
            loaded = load(path, learner=type(learner))
            require(
                loaded.get_params() == first.get_params(),
                f"the file gave parameters {loaded.get_params()}, saved were {first.get_params()}",
            )
            require_same_state(first.state(), loaded.state(), "a file does not hold what was saved")
            _require_resumed(whole, stream, stop, loaded, "save and load")
            _require_resumed(whole, stream, stop, first, "saving without stopping")
            asked = taught(learner, stream[:stop])
            if stop:
                # What is computed on demand must neither be needed nor interfere.
                asked.predict_proba(stream[0].X)
            asked.save(path)
            loaded = load(path, learner=type(learner))
            require_same_state(asked.state(), loaded.state(), "a question changed what is saved")
            _require_resumed(whole, stream, stop, loaded, "save after a question, and load")
            teach(asked, stream[stop:])
            require_same_learnt(whole, asked, "a question changed what was learnt after it")


def _require_resumed(
    uninterrupted: OnlineClassifier,
    stream: list[Samples],
    stop: int,
    resumed: OnlineClassifier,
    how: str,
) -> None:
    teach(resumed, stream[stop:])
    message = f"{how} after {stop} of {len(stream)} batches does not go on as if uninterrupted"
    require_same_state(uninterrupted.state(), resumed.state(), message)
    X = stream[0].X
    require_same_bits(uninterrupted.class_scores(X), resumed.class_scores(X), message)
    require_same_bits(uninterrupted.predict_proba(X), resumed.predict_proba(X), message)


def check_state_is_plain_arrays(learner: OnlineClassifier) -> None:
    """The state is named arrays of numbers, without objects, and the same each time."""
    model = fresh(learner).partial_fit(*blobs())
    state = model.state()
    for name, array in state.items():
        require(isinstance(name, str), f"names in the state must be strings, got {name!r}")
        require(
            isinstance(array, np.ndarray) and array.dtype.kind in "fiub",
            f"{name!r} in the state must be an array of numbers, got {getattr(array, 'dtype', type(array))}",
        )
    require_same_state(state, model.state(), "asking for the state changed it")


def check_damaged_state_is_refused(learner: OnlineClassifier) -> None:
    """A state with an array missing, cut or doubled raises ValueError, and the learner stays as it was."""
    stream = list(batches(late_class(blobs())))
    good = taught(learner, stream).state()
    model = taught(learner, stream[:2])
    before = model.state()
    for name, array in good.items():
        damages: dict[str, State] = {
            "is missing": {other: a for other, a in good.items() if other != name},
            "is doubled": {**good, name: np.concatenate([array, array])},
            "is cut": {**good, name: array[:-1]},
            "has one more dimension": {**good, name: array[None]},
        }
        for what, damaged in damages.items():
            if state_difference(good, damaged) is None or array.size == 0:
                continue
            try:
                model.set_state(damaged)
            except ValueError:
                require_same_state(
                    before, model.state(), f"a refused state ({name!r} {what}) changed the learner"
                )
            except Exception as error:
                raise AssertionError(
                    f"a state where {name!r} {what} should raise ValueError, not {type(error).__name__}"
                ) from error
            else:
                raise AssertionError(f"a state where {name!r} {what} was accepted; expected a ValueError")
