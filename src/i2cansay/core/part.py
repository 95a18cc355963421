"""A part of a learner's state: it grows with the classes, can lose one, and saves itself as named arrays."""

from typing import Protocol, runtime_checkable

from i2cansay.core.types import State


@runtime_checkable
class Part(Protocol):
    """What `OnlineClassifier` asks of each object that a learner names in `parts`.

    Examples
    --------
    >>> from i2cansay.core.statistics.means import ClassMeans
    >>> isinstance(ClassMeans(n_features=2), Part)
    True
    """

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes; a part that keeps nothing per class ignores it."""

    def drop(self, row: int) -> None:
        """Remove one class; the rows behind it move up."""

    def state(self) -> State:
        """Return everything it needs to go on, as named arrays; views are enough."""

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned; raise ValueError unless it is valid for `n_classes` classes."""
