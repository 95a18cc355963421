"""Checks of labels: their types, and how classes are renamed and forgotten."""

from typing import Any

import numpy as np

from i2cansay.learners.base import OnlineClassifier
from i2cansay.testing.blobs import Samples, batches, blobs
from i2cansay.testing.requirements import (
    fresh,
    require,
    require_close,
    require_finite,
    require_same_bits,
    require_same_learnt,
    require_same_state,
    taught,
    teach,
)


def check_label_types(learner: OnlineClassifier) -> None:
    """Strings, whole numbers and booleans keep their type, whether they come in lists or in arrays."""
    X, _ = blobs(n_classes=2)
    half = np.arange(len(X)) % 2
    kinds: dict[str, tuple[Any, list[Any]]] = {
        "strings in a list": (["cat", "dog"], ["cat", "dog"]),
        "strings in an object array": (np.array(["cat", "dog"], dtype=object), ["cat", "dog"]),
        "whole numbers": ([7, -3], [-3, 7]),
        "small unsigned numbers": (np.array([200, 3], dtype=np.uint8), [3, 200]),
        "whole numbers as floats": (np.array([2.0, 1.0]), [1.0, 2.0]),
        "booleans": ([True, False], [False, True]),
        "the empty string and others": (["", "ü 猫\n"], ["", "ü 猫\n"]),
    }
    for name, (pair, expected) in kinds.items():
        labels = [pair[i] for i in half] if isinstance(pair, list) else pair[half]
        model = fresh(learner).partial_fit(X, labels)
        require(
            model.classes_.tolist() == expected,
            f"{name}: classes_ is {model.classes_.tolist()}, not {expected}",
        )
        found = set(model.predict(X).tolist())
        require(found <= set(expected), f"{name}: predict gave {found}")
        require(
            {type(label) for label in found} <= {type(label) for label in expected},
            f"{name}: predict gave labels of another type, {found}",
        )


def check_labels_of_growing_length(learner: OnlineClassifier) -> None:
    """A longer label that comes later is neither truncated nor confused with a shorter one."""
    X, y = blobs()
    model = fresh(learner)
    names = ["a", "ab", "a longer label", "a longer label still: " + 200 * "x"]
    for row, name in enumerate(names):
        model.partial_fit(X[y == row], [name] * int((y == row).sum()))
        require(
            model.classes_.tolist() == sorted(names[: row + 1]),
            f"after the label {name[:30]!r} classes_ is {model.classes_.tolist()}",
        )
    require(set(model.predict(X).tolist()) <= set(names), "predict gave a label that was never taught")


def check_names_do_not_matter(learner: OnlineClassifier) -> None:
    """Other labels for the same classes give the same scores in other columns."""
    X, y = blobs()
    other_names = np.array(["m", "z", "a", "k"])
    plain = taught(learner, batches(Samples(X, y))).class_scores(X)
    renamed = taught(learner, batches(Samples(X, other_names[y]))).class_scores(X)
    require_close(
        renamed, plain[:, np.argsort(other_names)], "the scores depend on what the classes are called"
    )


def check_classes_argument(learner: OnlineClassifier) -> None:
    """`classes=` is accepted but not needed; it changes nothing."""
    X, y = blobs()
    announced = fresh(learner).partial_fit(X, y, classes=np.unique(y))
    require_same_state(
        fresh(learner).partial_fit(X, y).state(), announced.state(), "classes= changed what was learnt"
    )


def check_rename(learner: OnlineClassifier) -> None:
    """After `rename` the learner is the same as if the class had always had that name."""
    samples = blobs()
    first, *rest = batches(samples, (24, 12, 12))
    old_names, new_names = np.array(["b", "d", "f", "h"]), np.array(["b", "zebra", "f", "h"])
    model = fresh(learner).partial_fit(first.X, old_names[first.y])
    before = model.state()
    for old, new, why in (
        ("nobody", "x", "an unknown class"),
        ("d", "f", "the name of another class"),
        ("d", 3, "a label of another type"),
    ):
        try:
            model.rename(old, new)
        except ValueError:
            require_same_state(before, model.state(), f"a refused rename ({why}) changed the learner")
        else:
            raise AssertionError(f"rename({old!r}, {new!r}) was accepted: {why}")
    require(model.rename("d", "zebra") is model, "rename must return self")
    always = fresh(learner).partial_fit(first.X, new_names[first.y])
    require(model.classes_.tolist() == always.classes_.tolist(), f"after rename classes_ is {model.classes_}")
    require_same_bits(
        model.class_scores(samples.X), always.class_scores(samples.X), "rename changed the scores"
    )
    for X, y in rest:
        model.partial_fit(X, new_names[y])
        always.partial_fit(X, new_names[y])
    require_same_state(always.state(), model.state(), "learning continues differently after rename")


def check_forget(learner: OnlineClassifier) -> None:
    """A forgotten class has no column and is never predicted; it may come back; even the last may be forgotten."""
    samples = blobs()
    X, y = samples
    for label in (0, 2, 3):
        model = taught(learner, batches(samples))
        model.class_scores(X)
        require(model.forget(label) is model, "forget must return self")
        left = [known for known in range(4) if known != label]
        _require_classes(model, X, left, f"after forget({label})")
        before = model.state()
        try:
            model.forget(label)
        except ValueError:
            require_same_state(before, model.state(), "forgetting an unknown class changed the learner")
        else:
            raise AssertionError("forgetting an unknown class was accepted; expected a ValueError")
        again = fresh(learner).set_state(before)
        teach(model, batches(samples))
        _require_classes(model, X, [0, 1, 2, 3], "when the forgotten class came again")
        teach(again, batches(samples))
        require_same_learnt(model, again, "forget left something outside the state")
    for label in range(4):
        model.forget(label)
    require(len(model.classes_) == 0, "after forgetting all classes classes_ should be empty")
    try:
        model.predict(X)
    except ValueError:
        pass
    else:
        raise AssertionError("predict without any class should raise a ValueError")
    model.partial_fit(X, y)
    _require_classes(model, X, [0, 1, 2, 3], "when classes came after all were forgotten")


def _require_classes(model: OnlineClassifier, X: Any, classes: list[int], when: str) -> None:
    require(
        model.classes_.tolist() == classes, f"{when} classes_ is {model.classes_.tolist()}, not {classes}"
    )
    scores = model.class_scores(X)
    require(scores.shape == (len(X), len(classes)), f"{when} the scores have shape {scores.shape}")
    require_finite(scores, f"{when}: scores")
    require(set(model.predict(X).tolist()) <= set(classes), f"{when} predict gave another class")
