"""Arrays taken apart and put together again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from i2cansay.service.storage.blocks import BLOCK, assemble, changed_blocks, describe, sealed, surplus_blocks
from i2cansay.service.storage.sealed_tables import seal_of


@given(st.lists(st.tuples(st.integers(0, 6000), st.sampled_from(["<f8", "<f4", "|u1", "<i8"])), max_size=4))
def test_writing_changes_gives_the_state(arrays: list[tuple[int, str]]) -> None:
    rng = np.random.default_rng(0)
    stored: dict[tuple[str, int], bytes] = {}
    before: dict[str, np.ndarray] = {}
    for version in range(3):
        state = {
            f"a{n}": rng.integers(0, 3, size=max(0, size - 1500 * version)).astype(kind)
            for n, (size, kind) in enumerate(arrays)
        }
        for block in changed_blocks(state, before):
            stored[block.name, block.number] = block.data
        for gone in surplus_blocks(state, before):
            del stored[gone]
        before = state
        blocks: dict[str, list[bytes]] = {}
        for (name, _), data in sorted(stored.items()):
            blocks.setdefault(name, []).append(data)
        found = assemble(describe(state), blocks)
        assert all(np.array_equal(found[name], state[name]) for name in state)


def test_only_touched_rows_are_written() -> None:
    before = {"mean": np.zeros((100, 1280))}
    after = {"mean": before["mean"].copy()}
    after["mean"][50] += 1
    written = sum(len(block.data) for block in changed_blocks(after, before))
    assert 10240 <= written <= 10240 + 2 * BLOCK


def test_blocks_cannot_swap() -> None:
    seals = [seal_of("blocks", block) for block in (("a", 0, b"x"), ("a", 1, b"x"), ("b", 0, b"x"))]
    assert len(set(seals)) == 3


@pytest.mark.parametrize(
    "bad",
    [
        {"a": ["<f8", [2]]},
        {"a": ["|O", [1]]},
        {"a": ["<f8", [10**12]]},
        {"a": ["<f8", [-1, -1]]},
        {"a": ["<f8", [1.0]]},
        {"a": ["<f8", [2**61 + 1]]},  # its bytes, counted in 64 bits, are the eight that are there
        {"b": ["<f8", [10**12, 0]], "a": ["<f8", [10**12, 0]]},
    ],
)
def test_what_does_not_fit_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"the array [ab]"):
        assemble(bad, {"a": [b"12345678"]})


def test_seals_tell_values_apart() -> None:
    assert (
        len({sealed("a", 1), sealed("a", 2), sealed("a1"), sealed(b"a", 1), sealed("a", 1.5), sealed()}) == 6
    )
