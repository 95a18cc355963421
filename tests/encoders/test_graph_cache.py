"""Graphs that were built before are found again, unless they changed on the disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from i2cansay.encoders.graph import Graph
from i2cansay.encoders.graph_cache import cached_session
from i2cansay.encoders.preprocessing import Preprocessing

GREY = np.full((1, 8, 8, 3), 128, np.uint8)


def mean_colour(std: float) -> bytes:
    graph = Graph(Preprocessing(8, 8, std=(std,) * 3))
    features = graph.flatten(graph.add("GlobalAveragePool", graph.pixels()))
    return bytes(graph.model({"features": features}, dim=3).SerializeToString())


@pytest.mark.usefixtures("empty_cache")
def test_a_key_is_built_once() -> None:
    first = cached_session("colour", "one", lambda: mean_colour(1.0)).run(GREY)
    again = cached_session("colour", "one", lambda: pytest.fail("built again")).run(GREY)
    other = cached_session("colour", "two", lambda: mean_colour(2.0)).run(GREY)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_another_graph_in_its_place_is_not_used(empty_cache: Path) -> None:
    first = cached_session("colour", "one", lambda: mean_colour(1.0)).run(GREY)
    (kept,) = (empty_cache / "graphs").iterdir()
    kept.write_bytes(mean_colour(2.0))
    assert np.array_equal(cached_session("colour", "one", lambda: mean_colour(1.0)).run(GREY), first)
    assert kept.read_bytes() == mean_colour(1.0)


def test_what_cannot_be_built_leaves_nothing(empty_cache: Path) -> None:
    def fail() -> bytes:
        raise ValueError("no weights")

    with pytest.raises(ValueError, match="no weights"):
        cached_session("colour", "one", fail)
    assert not empty_cache.exists()
