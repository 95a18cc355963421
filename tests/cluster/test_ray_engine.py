"""The engine on a real cluster: the same tree, errors as they are, a node killed in the middle."""

from __future__ import annotations

import operator
from pathlib import Path

import numpy as np
import pytest

from i2cansay.engines import LocalEngine
from i2cansay.engines.cores import share_of_cores
from i2cansay.engines.ray_engine import RayEngine
from tests.cli.shell import refused
from tests.cluster.two_nodes import TwoNodes
from tests.engines.test_ray_cluster import HTTP1_ANSWER, listening


def bracket(left: str, right: str) -> str:
    return f"({left}{right})"


def cores(_: str) -> int | None:
    return share_of_cores()


def test_the_tree_is_that_of_one_machine(nodes: TwoNodes) -> None:
    items = list("abcdefghijklmnopqrs")
    with RayEngine(nodes.address) as engine:
        assert engine.workers == 2
        assert engine.reduce(str.upper, bracket, items) == LocalEngine().reduce(str.upper, bracket, items)
        assert engine.reduce(str.upper, bracket, ["a"]) == "A"
        assert sorted(engine.each(str.upper, items)) == list(enumerate("".join(items).upper()))
        assert list(engine.each(cores, ["a"])) == [(0, 1)]
        assert engine.reduce(cores, operator.add, ["a", "b"]) == 2


def test_an_error_is_raised_as_it_was(nodes: TwoNodes) -> None:
    with RayEngine(nodes.address) as engine:
        with pytest.raises(ValueError, match=r"^invalid literal for int\(\) with base 10: 'x'$"):
            engine.reduce(int, operator.add, ["1", "x", "3"])
        with pytest.raises(ValueError, match=r"^invalid literal"):
            list(engine.each(int, ["1", "x", "3"]))
        with pytest.raises(ValueError, match="nothing to reduce"):
            engine.reduce(int, operator.add, [])
        assert engine.reduce(int, operator.add, ["1", "2"]) == 3


def test_a_cluster_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConnectionError, match=r"no Ray cluster at 127\.0\.0\.1:1"):
        RayEngine("127.0.0.1:1").__enter__()
    np.savez(tmp_path / "d.npz", X=np.eye(4), y=np.arange(4))
    with listening(HTTP1_ANSWER) as address:
        told = refused(
            "fit", tmp_path / "d.npz", "-o", tmp_path / "d.i2cs", "--engine", "ray", "--address", address
        )
    assert f"no Ray cluster at {address} (what listens there is not Ray)" in told
