"""The check of what a learner can know of sessions: nothing, unless it declares that it needs them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from inspect import signature

import numpy as np

from i2cansay.core.types import Features
from i2cansay.evaluate import play
from i2cansay.learners.base import OnlineClassifier
from i2cansay.streams import Batch, Stream
from i2cansay.streams.stream import Labels
from i2cansay.testing.blobs import blobs
from i2cansay.testing.requirements import fresh, require, require_same_state

BATCH = 6
ARGUMENTS = ("X", "y", "classes", "sample_weight")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DrawnSessions(Stream):
    """The rows in their order, in batches of one size, with sessions that end where `ends` says."""

    ends: tuple[int, ...] = field(default=())

    def arrange(self, classes: Labels, rng: np.random.Generator) -> Iterable[Batch]:
        """Yield the batches; `ends` are numbers of batches before which a new session begins."""
        for number in range(self.y.size // self.batch_size):
            rows = np.arange(number * self.batch_size, (number + 1) * self.batch_size)
            yield Batch(rows, session=int(np.searchsorted(self.ends, number, side="right")))


def check_sessions_are_told_to_whoever_declares_it(learner: OnlineClassifier) -> None:
    """The same batches with sessions drawn elsewhere leave the same state, unless it declares `needs_boundaries`.

    Questions are asked where a session ends. A learner that calibrates itself scores samples when it has just
    answered, so that its temperature depends on when it was asked, told sessions or not: whole states are compared
    with calibration off, answers as the learner comes.
    """
    X, y = blobs()
    _check_sessions_make_no_difference(learner, X, y, calibrates=False)
    if learner.calibrates:
        _check_sessions_make_no_difference(learner, X, y, calibrates=True)


def _check_sessions_make_no_difference(
    learner: OnlineClassifier, X: Features, y: Labels, *, calibrates: bool
) -> None:
    states, answers = [], []
    for ends in ((), (1,), (3, 6), tuple(range(len(y) // BATCH))):
        model = fresh(learner)
        model.calibrates = calibrates
        stream = DrawnSessions(y=y, batch_size=BATCH, ends=ends)
        outcome = play(model, X, y, stream, X_test=X, y_test=y, prequential=False)
        require(
            outcome.told_sessions == learner.needs_boundaries,
            f"it declares needs_boundaries={learner.needs_boundaries}, but the outcome says "
            f"told_sessions={outcome.told_sessions}",
        )
        states.append(model.state())
        answers.append(model.predict(X))
    if learner.needs_boundaries:
        return
    without = "sessions that end elsewhere must make no difference to a learner without needs_boundaries"
    for state, answer in zip(states[1:], answers[1:], strict=True):
        require(np.array_equal(answers[0], answer), without)
        if not calibrates:
            require_same_state(states[0], state, without)


def check_no_argument_tells_a_session(learner: OnlineClassifier) -> None:
    """`partial_fit` and `fit` take samples, labels, classes and weights: nothing that could name a session."""
    for name in ("partial_fit", "fit"):
        found = [each for each in signature(getattr(learner, name)).parameters if each not in ARGUMENTS]
        require(
            not found,
            f"{name} must take {', '.join(ARGUMENTS)} and nothing else, through which a session could be told; "
            f"it takes {', '.join(found)} too",
        )
