"""Checks of sets and verdicts: their shapes, what more error allows, and that they are saved and merged."""

import numpy as np

from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.merging import merged
from i2cansay.learners.model_file import from_bytes
from i2cansay.testing.blobs import Samples, batches, blobs
from i2cansay.testing.requirements import fresh, require, require_same_bits, require_same_state, taught, teach

ERRORS = (0.01, 0.05, 0.1, 0.3)


def _stream(n_classes: int = 4, seed: int = 0) -> Samples:
    return blobs(n_classes, per_class=40, spread=1.5, seed=seed)


def check_prediction_sets(learner: OnlineClassifier) -> None:
    """`predict_set` is (n, classes), holds the predicted class, and shrinks as more error is allowed."""
    stream = _stream()
    model = taught(learner, batches(stream))
    best = model.class_scores(stream.X).argmax(axis=1)
    before = np.ones((len(stream.X), 4), dtype=bool)
    for error in ERRORS:
        sets = model.predict_set(stream.X, error=error)
        require(
            sets.shape == (len(stream.X), 4) and sets.dtype == bool,
            f"predict_set should be boolean of shape {(len(stream.X), 4)}, got {sets.dtype} {sets.shape}",
        )
        require(sets[np.arange(len(best)), best].all(), "the predicted class is not in its set")
        require(
            not (sets & ~before).any(), f"a set has classes at an error of {error} that it lacked at less"
        )
        before = sets
    _require_refused(model, stream)


def check_verdicts(learner: OnlineClassifier) -> None:
    """`verdicts` are three words; more error makes more answers sure, and more rows new."""
    stream = _stream()
    model = taught(learner, batches(stream))
    sure = new = np.zeros(len(stream.X), dtype=bool)
    for error in ERRORS:
        words = model.verdicts(stream.X, error=error)
        require(words.shape == (len(stream.X),), f"verdicts should have shape (n,), got {words.shape}")
        found = set(words.tolist())
        require(found <= {"sure", "unsure", "new"}, f"verdicts are sure, unsure or new, got {found}")
        now_sure = words == "sure"
        require(not (sure & ~now_sure).any(), f"fewer answers are sure at an error of {error} than at less")
        now_new = model.verdicts(stream.X, new_error=error) == "new"
        require(not (new & ~now_new).any(), f"fewer rows are new at new_error={error} than at less")
        require(
            hasattr(model, "novelty") or not now_new.any(), "a learner without novelty called something new"
        )
        sure, new = now_sure, now_new


def check_little_evidence_is_never_sure(learner: OnlineClassifier) -> None:
    """With a single class, or after a handful of samples, nothing is sure, and no class is ruled out."""
    one = blobs(n_classes=1, per_class=60)
    model = taught(learner, batches(one))
    require(not (model.verdicts(one.X, error=0.5) == "sure").any(), "with a single class an answer was sure")
    few = blobs(n_classes=3, per_class=2)
    model = taught(learner, batches(few))
    require(not (model.verdicts(few.X) == "sure").any(), "after two samples per class an answer was sure")
    require(bool(model.predict_set(few.X).all()), "after two samples per class a class was ruled out")


def check_bytes_resume(learner: OnlineClassifier) -> None:
    """`to_bytes` and `from_bytes` give back the state, sets and verdicts."""
    stream = _stream()
    for model in (fresh(learner), taught(learner, batches(stream))):
        again = from_bytes(model.to_bytes(), learner=type(learner))
        require_same_state(model.state(), again.state(), "bytes do not hold what was learnt")
        if model.state():
            require_same_bits(
                model.predict_set(stream.X), again.predict_set(stream.X), "bytes changed prediction sets"
            )
            same = model.verdicts(stream.X).tolist() == again.verdicts(stream.X).tolist()
            require(same, "bytes changed verdicts")


def check_calibrating_teaches_nothing(learner: OnlineClassifier) -> None:
    """`calibrate` scores samples without learning them: scores stay as they are, bit for bit."""
    stream, more = _stream(), _stream(seed=1)
    model = taught(learner, batches(stream))
    scores = model.class_scores(more.X)
    require(model.calibrate(more.X, more.y, start_over=True) is model, "calibrate must return self")
    require_same_bits(scores, model.class_scores(more.X), "calibrate changed the scores")
    covered = model.predict_set(more.X)[np.arange(len(more.y)), more.y]
    require(
        bool(covered.mean() >= 0.95), "sets do not hold the labels of the samples they were calibrated with"
    )
    unknown = np.full(len(more.y), 99)
    before = model.state()
    try:
        model.calibrate(more.X, unknown)
    except ValueError:
        require_same_state(before, model.state(), "a refused calibrate changed the learner")
    else:
        raise AssertionError("calibrate took samples of a class that was never taught; expected a ValueError")


def check_learns_alike_without_calibration(learner: OnlineClassifier) -> None:
    """With `calibrates = False` no sample is scored before it is learnt, and scores are the same, bit for bit."""
    stream, more = _stream(), _stream(seed=1)
    model, alone = taught(learner, batches(stream)), fresh(learner)
    alone.calibrates = False
    teach(alone, batches(stream))
    require(alone._evidence.n_scored == 0, "a learner that does not calibrate has scored samples")
    require_same_bits(
        model.class_scores(more.X), alone.class_scores(more.X), "calibrating changed what was learnt"
    )


def check_merged_changes_no_part(learner: OnlineClassifier) -> None:
    """`merged` knows all classes, adds up counts of scores, and leaves every part as it was."""
    parts = [taught(learner, batches(_stream(n_classes=n, seed=n))) for n in (4, 3, 5)]
    before = [part.state() for part in parts]
    together = merged(parts)
    for part, state in zip(parts, before, strict=True):
        require_same_state(state, part.state(), "merged changed a part")
    require(together.classes_.tolist() == [0, 1, 2, 3, 4], f"merged knows {together.classes_.tolist()}")
    scored = sum(part._evidence.n_scored for part in parts)
    require(together._evidence.n_scored == scored, "merged lost scores of a part")
    teach(together, batches(_stream()))
    for part, state in zip(parts, before, strict=True):
        require_same_state(state, part.state(), "teaching what was merged changed a part")


def _require_refused(model: OnlineClassifier, stream: Samples) -> None:
    for error in (0.0, 1.0, 5, float("nan"), None, "0.05"):
        for ask in (model.predict_set, model.verdicts):
            try:
                ask(stream.X, error)  # type: ignore[arg-type]
            except ValueError:
                continue
            raise AssertionError(f"{ask.__name__} took error={error!r}; expected a ValueError")
