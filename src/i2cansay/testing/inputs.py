"""Checks that a learner does not change its input or keep references to it."""

import numpy as np

from i2cansay.learners.base import OnlineClassifier
from i2cansay.testing.blobs import batches, blobs
from i2cansay.testing.reachable import reachable_arrays
from i2cansay.testing.requirements import (
    fresh,
    require,
    require_close,
    require_same_bits,
    require_same_state,
    taught,
)

QUESTIONS = ("class_scores", "decision_function", "predict", "predict_proba")


def check_inputs_are_not_changed(learner: OnlineClassifier) -> None:
    """No method writes to its input, and all accept read-only arrays."""
    X, y = blobs()
    for dtype in (np.float32, np.float64):
        given, before = X.astype(dtype), X.astype(dtype)
        labels = y.copy()
        model = fresh(learner)
        for name in ("partial_fit", "partial_fit", *QUESTIONS, "fit"):
            getattr(model, name)(*((given,) if name in QUESTIONS else (given, labels)))
            require_same_bits(given, before, f"{name} changed the {np.dtype(dtype)} features it was given")
            require_same_bits(labels, y, f"{name} changed the labels it was given")
        given.flags.writeable = labels.flags.writeable = False
        fresh(learner).partial_fit(given, labels).predict(given)


def check_inputs_are_not_held(learner: OnlineClassifier) -> None:
    """The learner shares no memory with the caller's arrays, so that neither can change the other later."""
    samples = blobs()
    for dtype in (np.float32, np.float64):
        X, y = samples.X.astype(dtype), samples.y.copy()
        model = fresh(learner).partial_fit(X, y)
        model.class_scores(X)
        for array in reachable_arrays(model):
            for name, given in (("X", X), ("y", y)):
                require(
                    not np.may_share_memory(array, given),
                    f"the learner keeps a reference to {name}; copy what it keeps",
                )
        before = model.class_scores(samples.X)
        X[:], y[:] = 0, 0
        require_same_bits(
            model.class_scores(samples.X), before, "the scores changed when the caller reused its arrays"
        )
    for array in model.state().values():
        if array.flags.writeable:
            array[...] = 0
    require_same_bits(
        model.class_scores(samples.X),
        before,
        "writing into state() changed the learner; state() must be a copy",
    )


def check_layouts_and_types(learner: OnlineClassifier) -> None:
    """Lists, precisions and memory layouts of the same features give the same scores."""
    samples = blobs()
    X = np.round(samples.X * 4) / 4  # exact in float16, too
    reference = fresh(learner).partial_fit(X, samples.y).class_scores(X)
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    forms = {
        "a list": X.tolist(),
        "Fortran order": np.asfortranarray(X),
        "a strided view": wide[:, ::2],
        "float32": X.astype(np.float32),
        "float16": X.astype(np.float16),
    }
    for name, given in forms.items():
        scores = fresh(learner).partial_fit(given, samples.y).class_scores(given)
        require_close(scores, reference, f"the same features as {name} give other scores")
    whole = np.round(X).astype(np.int64)
    of_ints = fresh(learner).partial_fit(whole, samples.y).class_scores(whole)
    of_floats = fresh(learner).partial_fit(whole.astype(np.float64), samples.y).class_scores(whole)
    require_same_bits(of_ints, of_floats, "the same features as whole numbers give other scores")


def check_scoring_changes_nothing(learner: OnlineClassifier) -> None:
    """Scoring changes neither the state nor the generator, and a row has the same scores alone and among others."""
    samples = blobs()
    model = taught(learner, batches(samples))
    before = model.state()
    first = model.class_scores(samples.X)
    model.predict(samples.X)
    model.predict_proba(samples.X)
    model.decision_function(samples.X)
    require_same_state(before, model.state(), "scoring changed the learner")
    require_same_bits(model.class_scores(samples.X), first, "the same rows got different scores")
    alone = np.concatenate([model.class_scores(row[None, :]) for row in samples.X[:5]])
    require_close(alone, first[:5], "the scores of a row depend on the rows scored with it")


def check_unit_weights(learner: OnlineClassifier) -> None:
    """Weights of one change nothing; a method that takes no weights refuses them and does not change."""
    first, *rest = batches(blobs())
    model = fresh(learner).partial_fit(first.X, first.y)
    before = model.state()
    for X, y in rest:
        try:
            model.partial_fit(X, y, sample_weight=np.ones(len(y)))
        except (ValueError, TypeError, NotImplementedError):
            require_same_state(before, model.state(), "refusing sample_weight changed the learner")
            return
    plain = taught(learner, [first, *rest])
    questions = blobs(seed=1).X
    require_close(
        model.class_scores(questions), plain.class_scores(questions), "weights of one change the scores"
    )
