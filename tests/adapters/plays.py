"""A small stream that trackers are tried with."""

from typing import Any

import numpy as np

from i2cansay.evaluate import Outcome, play
from i2cansay.learners import make_learner
from i2cansay.streams import make_stream

Y = np.arange(120) % 4
X = 4.0 * np.eye(4)[Y] + np.random.default_rng(0).normal(size=(120, 4))


def played(*trackers: Any, learner: Any = None) -> Outcome:
    """Play four sessions of one class each; a learner of the reader's own keeps what it has learnt."""
    learner = make_learner("ncm", metric="cosine") if learner is None else learner
    stream = make_stream("step:1", Y, seed=3)
    return play(learner, X, Y, stream, X_test=X[:40], y_test=Y[:40], trackers=trackers)
