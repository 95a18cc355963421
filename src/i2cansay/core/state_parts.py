"""States that consist of parts, each under a name of its own: "head.weights" is the part "head"'s "weights"."""

from i2cansay.core.types import State


def under(part: str, state: State) -> State:
    """Return the arrays of a part as they are named in the whole.

    Examples
    --------
    >>> import numpy as np
    >>> list(under("memory", {"rows": np.zeros(2)}))
    ['memory.rows']
    """
    return {f"{part}.{name}": array for name, array in state.items()}


def within(state: State, part: str) -> State:
    """Return the arrays of one part of the state, under their own names.

    Examples
    --------
    >>> import numpy as np
    >>> list(within({"weights": np.zeros(2), "memory.rows": np.zeros(2)}, "memory"))
    ['rows']
    """
    return {
        name.removeprefix(f"{part}."): array for name, array in state.items() if name.startswith(f"{part}.")
    }
