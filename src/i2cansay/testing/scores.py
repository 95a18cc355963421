"""Checks of scores, predictions and probabilities."""

import numpy as np

from i2cansay.learners.base import OnlineClassifier
from i2cansay.testing.blobs import batches, blobs
from i2cansay.testing.requirements import require, require_close, require_finite, require_same_bits, taught


def check_score_shapes(learner: OnlineClassifier) -> None:
    """`class_scores` is always (n, classes); `decision_function` too, but for two classes it is their difference."""
    for n_classes in (1, 2, 3, 5):
        samples = blobs(n_classes=n_classes)
        model = taught(learner, batches(samples))
        for X in (samples.X, samples.X[:1]):
            scores, decision = model.class_scores(X), model.decision_function(X)
            require(
                scores.shape == (len(X), n_classes),
                f"with {n_classes} classes class_scores of {len(X)} rows has shape {scores.shape}",
            )
            require(scores.dtype.kind == "f", f"class_scores should be floating point, got {scores.dtype}")
            if n_classes == 2:
                require(
                    decision.shape == (len(X),),
                    f"with two classes decision_function should have shape ({len(X)},), got {decision.shape}",
                )
                require_close(
                    decision, scores[:, 1] - scores[:, 0], "decision_function should be the difference"
                )
            else:
                require_same_bits(
                    decision, scores, f"with {n_classes} classes decision_function is not class_scores"
                )


def check_predict_is_the_highest_score(learner: OnlineClassifier) -> None:
    """`predict` and `top` give the label of the highest score, and `classes_` is sorted without repetition."""
    samples = blobs(per_class=20)
    for n_classes in (2, 4):
        train = blobs(n_classes=n_classes, spread=3.0)
        model = taught(learner, batches(train))
        require(
            model.classes_.tolist() == list(range(n_classes)),
            f"classes_ should be sorted and without repetition, got {model.classes_.tolist()}",
        )
        best = model.classes_[model.class_scores(samples.X).argmax(axis=1)]
        require(
            model.predict(samples.X).tolist() == best.tolist(),
            "predict is not the label of the highest score",
        )
        labels, probabilities = model.top(samples.X, 2)
        require(
            labels[:, 0].tolist() == best.tolist(), "the first label of top is not that of the highest score"
        )
        require(bool((probabilities[:, 0] >= probabilities[:, 1]).all()), "top is not in order")
        if n_classes == 2:
            decision = model.decision_function(samples.X)
            clear = decision != 0
            require(
                ((decision > 0)[clear] == (model.predict(samples.X) == model.classes_[1])[clear]).all(),
                "a positive decision_function should mean the second class",
            )


def check_probabilities(learner: OnlineClassifier) -> None:
    """`predict_proba` is (n, classes), sums to one, and is highest for the predicted class, after any stream."""
    for name, spread, shuffle in (("clear", 0.5, False), ("overlapping", 5.0, False), ("random", 0.5, True)):
        for n_classes in (2, 4):
            X, y = train = blobs(n_classes=n_classes, per_class=30, spread=spread)
            if shuffle:  # labels that say nothing: the temperature rises
                train = train._replace(y=np.random.default_rng(4).permutation(y))
            model = taught(learner, batches(train, (10,)))
            probabilities = model.predict_proba(X)
            what = f"after {name} labels of {n_classes} classes"
            require(
                probabilities.shape == (len(X), n_classes),
                f"{what} predict_proba has shape {probabilities.shape}",
            )
            require_finite(probabilities, f"{what}: probabilities")
            require(bool((probabilities >= 0).all()), f"{what} a probability is negative")
            require_close(
                probabilities.sum(axis=1), np.ones(len(X)), f"{what} probabilities do not sum to one"
            )
            best = model.classes_[probabilities.argmax(axis=1)]
            require(
                best.tolist() == model.predict(X).tolist(),
                f"{what} the highest probability is not what predict says",
            )
