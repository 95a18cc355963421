"""A lock for objects that are copied, pickled and sent to other processes: a copy has a lock of its own."""

from threading import RLock
from types import TracebackType


class CopyableLock:
    """A reentrant lock; a copy of it is a new lock, which no thread holds.

    Examples
    --------
    >>> from copy import deepcopy
    >>> lock = CopyableLock()
    >>> with lock, deepcopy(lock):
    ...     print("both held")
    both held
    """

    def __init__(self) -> None:
        self._lock = RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type["CopyableLock"], tuple[()]]:
        return CopyableLock, ()
