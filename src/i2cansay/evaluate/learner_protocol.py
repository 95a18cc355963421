"""What `play` requires of a learner: to learn a batch, to predict, to return its state."""

from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import NDArray


class Learner(Protocol):
    """A learner as the loop sees it; the estimators of `i2cansay.learners` are such learners.

    The properties are facts that a learner declares as class attributes: whether it keeps samples; whether it
    learns in one pass (`streaming`), or collects everything and fits later; whether its predictions are independent
    of the order of the samples; whether a batch must be a whole session (`needs_boundaries`).
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
