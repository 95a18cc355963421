"""Arrays as small blocks of bytes, so that a commit writes only the blocks that have changed."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import State

BLOCK = 16 * 1024
"""Bytes in a block: a class's row of 1280 float64 touches one or two."""
LONGEST = 10**6
"""The longest other dimension of an empty array; any other array is limited by its bytes."""
KINDS = frozenset("biuf")


@dataclass(frozen=True)
class StateBlock:
    """A piece of the array `name`, the `number`-th from its start."""

    name: str
    number: int
    data: bytes


def digest_of(*parts: bytes) -> bytes:
    """Return a hash of 16 bytes."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def describe(state: State) -> dict[str, Any]:
    """Return the type and shape of every array, as JSON stores them.

    Examples
    --------
    >>> describe({"mean": np.zeros((2, 3), dtype=np.float32)})
    {'mean': ['<f4', [2, 3]]}
    """
    return {name: [array.dtype.str, list(array.shape)] for name, array in state.items()}


def n_blocks(array: NDArray[Any]) -> int:
    """Return how many blocks an array takes."""
    return -(-array.nbytes // BLOCK)


def changed_blocks(state: State, before: State) -> list[StateBlock]:
    """Return the blocks of `state` whose bytes are not those of `before`.

    Examples
    --------
    >>> before = {"mean": np.zeros(5000)}
    >>> after = {"mean": before["mean"].copy()}
    >>> after["mean"][4999] = 1.0
    >>> [(block.name, block.number, len(block.data)) for block in changed_blocks(after, before)]
    [('mean', 2, 7232)]
    """
    changed = []
    for name, array in state.items():
        new, old = _bytes(array), _bytes(before[name]) if name in before else np.zeros(0, np.uint8)
        for number in _different(new, old):
            changed.append(StateBlock(name, number, new[number * BLOCK : (number + 1) * BLOCK].tobytes()))
    return changed


def _different(new: NDArray[np.uint8], old: NDArray[np.uint8]) -> list[int]:
    """Return the numbers of the blocks of `new` that `old` does not have in the same place."""
    whole = (
        min(len(new), len(old)) // BLOCK
    )  # blocks that are full in both: compared at once, eight bytes at a time
    words = [each[: whole * BLOCK].view(np.uint64).reshape(whole, BLOCK // 8) for each in (new, old)]
    numbers: list[int] = np.flatnonzero((words[0] != words[1]).any(axis=1)).tolist()
    for number in range(whole, -(-len(new) // BLOCK)):
        piece = slice(number * BLOCK, (number + 1) * BLOCK)
        if not np.array_equal(new[piece], old[piece]):
            numbers.append(number)
    return numbers


def surplus_blocks(state: State, before: State) -> list[tuple[str, int]]:
    """Return the blocks that `before` has and `state` does not."""
    return [
        (name, number)
        for name, array in before.items()
        for number in range(n_blocks(state[name]) if name in state else 0, n_blocks(array))
    ]


def assemble(description: dict[str, Any], blocks: dict[str, list[bytes]]) -> State:
    """Return the arrays of a description and their blocks; raise ValueError where they do not fit."""
    state: State = {}
    for name, (kind, shape) in description.items():
        dtype = np.dtype(kind)
        if dtype.kind not in KINDS:
            raise ValueError(f"the array {name} is of an unknown type {kind}")
        data = b"".join(blocks.get(name, []))
        if not all(type(length) is int and 0 <= length <= max(len(data), LONGEST) for length in shape):
            raise ValueError(f"the array {name} cannot have the shape {str(shape)[:80]}")
        expected = dtype.itemsize * math.prod(shape)
        if len(data) != expected:
            raise ValueError(f"the array {name} should have {expected} bytes, it has {len(data)}")
        state[name] = np.frombuffer(data, dtype=dtype).reshape(shape).copy()
    return state


def sealed(*values: object) -> bytes:
    """Return the digest of a row of plain values.

    Examples
    --------
    >>> sealed("scratch", 3) == sealed("scratch", 3), sealed("scratch", 3) == sealed("scratch", 4)
    (True, False)
    """
    return digest_of(
        json.dumps([value.hex() if isinstance(value, bytes) else value for value in values]).encode()
    )


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
