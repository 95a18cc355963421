"""Checks of a learner that has not been taught yet."""

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from i2cansay.core.state_parts import StatePart
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.lazy import Cached
from i2cansay.testing.blobs import blobs
from i2cansay.testing.requirements import fresh, require

DECLARATIONS = ("stores_samples", "streaming", "order_free", "needs_boundaries", "lazy", "plain_means")


def check_constructor_stores_untouched(learner: OnlineClassifier) -> None:
    """The constructor stores every argument as it is, and nothing else."""
    names = sorted(learner.get_params(deep=False))
    given = {name: object() for name in names}
    made = type(learner)(**given)
    for name in names:
        require(
            getattr(made, name, None) is given[name],
            f"the constructor must store {name} untouched, without checking or converting it",
        )
    extra = sorted(set(vars(made)) - set(names))
    require(not extra, f"the constructor made {', '.join(extra)}; make state in _start, not in __init__")


def check_declarations(learner: OnlineClassifier) -> None:
    """A learner declares its facts as plain booleans, and names parts and caches that exist."""
    for name in DECLARATIONS:
        value = getattr(learner, name, None)
        require(isinstance(value, bool), f"{name} must be True or False, got {value!r}")
    require(
        learner.streaming or learner.stores_samples,
        "a learner that is not streaming collects samples, so stores_samples must be True",
    )
    model = fresh(learner).partial_fit(*blobs())
    for names, kind in ((learner.parts, StatePart), (learner.caches, Cached)):
        for name in names:
            found = getattr(model, name, None)
            is_left_out = kind is StatePart and found is None
            require(
                is_left_out or isinstance(found, kind),
                f"_start must make {name}, a {kind.__name__}; it is {found!r}",
            )


def check_untaught_learner_says_so(learner: OnlineClassifier) -> None:
    """Before the first sample there is no class and no state, and predicting raises NotFittedError."""
    untaught = fresh(learner)
    X = np.zeros((2, 3))
    questions = ("class_scores", "decision_function", "predict", "predict_proba")
    asked: dict[str, tuple[Any, ...]] = dict.fromkeys(questions, (X,))
    asked |= {"forget": ("a",), "rename": ("a", "b")}
    for name, arguments in asked.items():
        try:
            getattr(untaught, name)(*arguments)
        except NotFittedError:
            continue
        raise AssertionError(f"{name} of an untaught learner should raise NotFittedError")
    require(untaught.state() == {}, "the state of an untaught learner should be {}")
    require(not hasattr(untaught, "classes_"), "an untaught learner should have no classes_")
    require(not hasattr(untaught, "n_features_in_"), "an untaught learner should have no n_features_in_")
