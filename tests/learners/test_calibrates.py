"""Whether a learner scores samples before it learns them. The contract checks that scores do not depend on it."""

from i2cansay.learners import make_learner
from i2cansay.testing.blobs import blobs


def test_fit_asks_too_and_later_batches_may_calibrate_again() -> None:
    X, y = blobs(n_classes=5, per_class=60)
    learner = make_learner("slda")
    learner.calibrates = False
    learner.fit(X, y).partial_fit(X, y)
    assert learner._evidence.n_scored == 0
    learner.calibrates = True
    learner.partial_fit(X, y)
    assert learner._evidence.n_scored > 0
