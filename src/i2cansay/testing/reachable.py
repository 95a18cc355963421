"""Finds everything reachable from an object, and so samples that a learner keeps without declaring it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def reachable(thing: Any, _known: set[int] | None = None) -> Iterator[Any]:
    """Yield every array and every plain number reachable from `thing`, each object once.

    Examples
    --------
    >>> class Box:
    ...     def __init__(self) -> None:
    ...         self.inside = [np.zeros(3), {"one": 1.5}]
    >>> list(reachable(Box()))
    [array([0., 0., 0.]), 1.5]
    """
    known = set() if _known is None else _known
    if id(thing) in known or isinstance(thing, type | str | bytes | np.random.Generator):
        return
    known.add(id(thing))
    if isinstance(thing, int | float | np.generic) or _is_numeric(thing):
        yield thing
    elif isinstance(thing, dict):
        for value in thing.values():
            yield from reachable(value, known)
    elif isinstance(thing, list | tuple | set | frozenset | np.ndarray) or hasattr(thing, "popleft"):
        for value in thing:
            yield from reachable(value, known)
    else:
        for value in _attributes(thing):
            yield from reachable(value, known)


def _is_numeric(thing: Any) -> bool:
    return isinstance(thing, np.ndarray) and thing.dtype.kind != "O"


def _attributes(thing: Any) -> list[Any]:
    slots = [name for cls in type(thing).__mro__ for name in getattr(cls, "__slots__", ())]
    return [*getattr(thing, "__dict__", {}).values(), *(getattr(thing, name, None) for name in slots)]


def reachable_arrays(thing: Any) -> list[NDArray[Any]]:
    """Return every array reachable from `thing`, and for a view also the array it is a view of."""
    arrays = [part for part in reachable(thing) if isinstance(part, np.ndarray)]
    return arrays + [array.base for array in arrays if isinstance(array.base, np.ndarray)]


def reachable_bytes(thing: Any) -> int:
    """Return the bytes of all numbers reachable from `thing`; a number outside an array counts as 8."""
    return sum(part.nbytes if isinstance(part, np.ndarray) else 8 for part in reachable(thing))


def contains_row(array: NDArray[Any], row: NDArray[Any]) -> bool:
    """Tell whether `row`, (d,), lies somewhere in `array`, as a row or a column, in any floating precision.

    Examples
    --------
    >>> contains_row(np.array([[0.0, 1.5, 2.5]], dtype=np.float32), np.array([1.5, 2.5]))
    True
    """
    if array.dtype.kind != "f" or array.size < row.size:
        return False
    wanted = row.astype(array.dtype).tobytes()
    return wanted in array.tobytes() or wanted in array.T.tobytes()
