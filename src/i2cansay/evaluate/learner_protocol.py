"""What `play` requires of a learner: to learn a batch, to predict, to return its state."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray


class Learner(Protocol):
    """A learner as the loop sees it; the estimators of `i2cansay.learners` are such learners.

    The properties are facts that a learner declares as class attributes: whether it keeps samples; whether it
    learns in one pass (`streaming`), or collects everything and fits later; whether its predictions are independent
    of the order of the samples; whether it needs to be told where sessions end (see `ToldOfSessions`).
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
        """Return everything it has learnt, as arrays."""


@runtime_checkable
class ToldOfSessions(Protocol):
    """A learner that can be told where sessions end; `play` does so only if asked to."""

    def end_session(self) -> object:
        """End a session; called before it is measured."""
