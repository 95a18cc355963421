"""What `play` requires of a learner: to learn a batch, to predict, to return its state."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray


class Learner(Protocol):
    """A learner as the loop sees it; the estimators of `i2cansay.learners` are such learners.

    The properties are what a learner declares about itself, as plain class attributes: whether it keeps
    samples, whether it learns in one pass (`streaming`; one that collects everything and fits later is
    not), whether its answer is independent of the order of the samples, whether it would need to be told
    where sessions end (the loop tells it nothing, unless asked to; see `ToldOfSessions`).
    """

    @property
    def stores_samples(self) -> bool: ...
    @property
    def streaming(self) -> bool: ...
    @property
    def order_free(self) -> bool: ...
    @property
    def needs_boundaries(self) -> bool: ...

    def partial_fit(self, X: NDArray[Any], y: NDArray[Any], /) -> object:
        """Learn from a batch: features of shape (n, d), labels of shape (n,), possibly of new classes."""

    def predict(self, X: NDArray[Any], /) -> NDArray[Any]:
        """Return a label per row, shape (n,); change nothing."""

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Return all that has been learnt, as arrays."""


@runtime_checkable
class ToldOfSessions(Protocol):
    """A learner that makes use of the end of a session, if `play` is asked to announce it."""

    def end_session(self) -> object:
        """End a session, before it is measured."""
