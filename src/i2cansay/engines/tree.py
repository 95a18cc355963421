"""Reducing a sequence as a binary tree, with a logarithm of its length in memory.

The tree depends on the number of leaves alone. So the same leaves give the same result to the last bit, whichever is
finished first and wherever it was computed.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class TreeReduction(Generic[Value]):
    """Takes values in order, and merges neighbours as soon as two trees of the same depth stand side by side.

    Parameters
    ----------
    merge : function
        Of two values, the left one first. Values may be promises of values: what is merged is what it returns.

    Examples
    --------
    >>> tree = TreeReduction(lambda left, right: f"({left}{right})")
    >>> for letter in "abcdef":
    ...     tree.add(letter)
    >>> tree.result()
    '(((ab)(cd))(ef))'
    """

    def __init__(self, merge: Callable[[Value, Value], Value]) -> None:
        self._merge = merge
        self._trees: list[tuple[int, Value]] = []  # each with its depth, which falls from left to right

    def __len__(self) -> int:
        return len(self._trees)

    def add(self, value: Value) -> None:
        """Take the next leaf."""
        depth = 0
        while self._trees and self._trees[-1][0] == depth:
            value = self._merge(self._trees.pop()[1], value)
            depth += 1
        self._trees.append((depth, value))

    def result(self) -> Value:
        """Merge what is left and return it."""
        if not self._trees:
            raise ValueError("there is nothing to reduce; give at least one item")
        _, value = self._trees.pop()
        while self._trees:
            value = self._merge(self._trees.pop()[1], value)
        return value
