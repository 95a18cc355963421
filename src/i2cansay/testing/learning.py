"""Checks with all kinds of streams: short, narrow, constant, repeated, in any order, with late classes."""

import numpy as np

from i2cansay.core.types import Float64
from i2cansay.learners.base import OnlineClassifier
from i2cansay.testing.blobs import Samples, batches, blobs, late_class
from i2cansay.testing.requirements import (
    fresh,
    require,
    require_close,
    require_finite,
    require_same_bits,
    require_same_learnt,
    require_same_state,
    taught,
)


def check_learns(learner: OnlineClassifier) -> None:
    """After a shuffled stream of well separated classes it predicts better than chance."""
    train, test = blobs(per_class=40), blobs(seed=1)
    accuracy = float(np.mean(taught(learner, batches(train, (10,))).predict(test.X) == test.y))
    chance = 1 / len(np.unique(train.y))
    require(
        accuracy > 1.5 * chance, f"accuracy {accuracy:.2f} where chance is {chance:.2f}: it does not learn"
    )


def check_returns_itself(learner: OnlineClassifier) -> None:
    """`partial_fit` and `fit` return the learner, so that calls can be chained."""
    X, y = blobs()
    model = fresh(learner)
    require(model.partial_fit(X, y) is model, "partial_fit must return self")
    require(model.fit(X, y) is model, "fit must return self")


def check_one_sample(learner: OnlineClassifier) -> None:
    """One sample is enough: there is one class, with one score and probability 1."""
    model = fresh(learner).partial_fit([[0.5, -1.0, 2.0]], ["only"])
    _check_one_class(model, np.array([[0.5, -1.0, 2.0], [9.0, 9.0, 9.0]]), "one sample")


def check_one_class(learner: OnlineClassifier) -> None:
    """One class is enough, in one batch or in many."""
    X, _ = blobs()
    labels = np.full(len(X), "only")
    _check_one_class(fresh(learner).partial_fit(X, labels), X, "one class")
    _check_one_class(taught(learner, batches(Samples(X, labels))), X, "one class in batches")


def _check_one_class(model: OnlineClassifier, X: Float64, what: str) -> None:
    scores = model.class_scores(X)
    require(
        scores.shape == (len(X), 1), f"{what}: expected scores of shape {(len(X), 1)}, got {scores.shape}"
    )
    require_finite(scores, f"{what}: scores")
    require(model.predict(X).tolist() == ["only"] * len(X), f"{what}: predict should give the only label")
    require_close(model.predict_proba(X), np.ones((len(X), 1)), f"{what}: its probability should be 1")


def check_late_class(learner: OnlineClassifier) -> None:
    """A class may come at any time: it gets its column in the sorted order."""
    early = blobs(n_classes=3)
    model = taught(learner, batches(Samples(early.X, early.y * 10)))
    for late in (15, -5, 100):
        X, y = early.X[:2] + 3.0, np.array([late, 10])
        model.partial_fit(X, y)
        expected = sorted({0, 10, 20, late} | set(model.classes_.tolist()))
        require(
            model.classes_.tolist() == expected, f"after a late class {late} classes_ is {model.classes_}"
        )
        scores = model.class_scores(early.X)
        require(
            scores.shape == (len(early.X), len(expected)),
            f"after a late class {late} the scores have shape {scores.shape}, not one column per class",
        )
        require_finite(scores, f"scores after a late class {late}")
    require(model.classes_.tolist() == [-5, 0, 10, 15, 20, 100], f"late classes gave {model.classes_}")


def check_hard_streams_stay_finite(learner: OnlineClassifier) -> None:
    """Nothing becomes NaN or infinite with constant or repeated samples, tiny or huge values, or one dimension."""
    X, y = blobs()
    constant = X.copy()
    constant[:, :3] = 4.0
    streams = {
        "constant dimensions": constant,
        "all features zero": np.zeros_like(X),
        "the same sample again and again": np.tile(X[:1], (len(X), 1)),
        "every sample twice": np.repeat(X[: len(X) // 2], 2, axis=0),
        "values near 1e-8": X * 1e-8,
        "values near 1e8": X * 1e8,
        "values far from the origin": X + 1e6,
        "one dimension": X[:, :1],
    }
    for name, features in streams.items():
        model = taught(learner, batches(Samples(features, y)))
        means = np.stack([features[y == label].mean(axis=0) for label in np.unique(y)])
        for what, questions in (("samples", features), ("prototypes", means)):
            require_finite(model.class_scores(questions), f"{name}: scores of {what}")
            require_finite(model.predict_proba(questions), f"{name}: probabilities of {what}")
        for part, array in model.state().items():
            if array.dtype.kind == "f":
                require_finite(array, f"{name}: {part} of the state")


def check_same_seed_same_scores(learner: OnlineClassifier) -> None:
    """Two learners with the same seed and stream are equal bit for bit, and learn the same whatever is asked."""
    stream = late_class(blobs())
    one, same = (taught(learner, batches(stream)) for _ in range(2))
    require_same_state(one.state(), same.state(), "the same seed and stream gave different states")
    require_same_bits(
        one.predict_proba(stream.X),
        same.predict_proba(stream.X),
        "the same seed and stream gave different probabilities",
    )
    asked = fresh(learner)
    for X, y in batches(stream):
        asked.partial_fit(X, y)
        asked.predict_proba(stream.X)
    require_same_learnt(one, asked, "questions changed what was learnt")
    require_same_bits(
        one.class_scores(stream.X), asked.class_scores(stream.X), "questions in between changed the scores"
    )
    for _ in range(2):
        one.fit(*stream)
        other = fresh(learner).fit(*stream)
        require_same_state(one.state(), other.state(), "fit depends on what was learnt before it")


def check_fit_begins_anew(learner: OnlineClassifier) -> None:
    """`fit` forgets everything: features, width, labels and label type may all change."""
    past = blobs(n_classes=5, n_features=3, seed=2)
    X, y = blobs()
    model = fresh(learner).partial_fit(past.X, past.y.astype(str))
    model.predict_proba(past.X)
    model.fit(X, y)
    anew = fresh(learner).fit(X, y)
    require_same_state(anew.state(), model.state(), "fit after partial_fit differs from fit alone")
    require_same_bits(model.class_scores(X), anew.class_scores(X), "fit after partial_fit gives other scores")


def check_order_and_batches_do_not_matter(learner: OnlineClassifier) -> None:
    """A learner that is `order_free` gives the same scores for any order of the samples and any batches."""
    samples = blobs()
    questions = blobs(seed=1).X
    reference = fresh(learner).partial_fit(*samples).class_scores(questions)
    for sizes in ((1,), (5,), (7, 1, 12, 3)):
        scores = taught(learner, batches(samples, sizes)).class_scores(questions)
        require_close(scores, reference, f"order_free is claimed, but batches of {sizes} give other scores")
    orders = {
        "reversed": np.arange(len(samples.y))[::-1],
        "class by class": np.argsort(samples.y, kind="stable"),
        "class by class, backwards": np.argsort(-samples.y, kind="stable"),
        "shuffled": np.random.default_rng(5).permutation(len(samples.y)),
    }
    for name, order in orders.items():
        other = Samples(samples.X[order], samples.y[order])
        scores = taught(learner, batches(other)).class_scores(questions)
        require_close(scores, reference, f"order_free is claimed, but the stream {name} gives other scores")
