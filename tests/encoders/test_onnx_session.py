"""Running graphs: poolings, fixed batch sizes, threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from i2cansay.encoders.onnx_session import OnnxSession


def identity(shape: list[Any]) -> bytes:
    """A graph that gives back its input."""
    node = helper.make_node("Identity", ["x"], ["y"])
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", "y")]
    graph = helper.make_graph([node], "identity", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    serialized: bytes = model.SerializeToString()
    return serialized


def numbers(*shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def test_poolings_reduce_to_one_vector() -> None:
    maps, tokens = numbers(2, 5, 3, 3), numbers(2, 4, 5)
    assert np.allclose(
        OnnxSession(identity(["n", 5, 3, 3]), pool="mean").run(maps), maps.mean(axis=(2, 3)), atol=1e-6
    )
    session = OnnxSession(identity(["n", 4, 5]), pool="mean-tokens")
    assert np.allclose(session.run(tokens), tokens.mean(axis=1), atol=1e-6)
    assert np.array_equal(OnnxSession(identity(["n", 4, 5]), pool="first-token").run(tokens), tokens[:, 0])


def test_an_output_that_is_no_vector_needs_a_pooling() -> None:
    with pytest.raises(ValueError, match="set pool to one of"):
        OnnxSession(identity(["n", 4, 5])).run(numbers(2, 4, 5))
    with pytest.raises(ValueError, match="pool is one of"):
        OnnxSession(identity(["n", 4]), pool="max")
    with pytest.raises(ValueError, match="no output 'z'; it has y"):
        OnnxSession(identity(["n", 4]), output="z")


@pytest.mark.parametrize("fixed", [1, 3, 10])
def test_a_graph_with_a_fixed_batch_size_takes_any_number(fixed: int) -> None:
    session = OnnxSession(identity([fixed, 4]))
    assert session.batch_size == fixed
    for n in (1, 2, 3, 7, 10, 11):
        assert np.array_equal(session.run(numbers(n, 4)), numbers(n, 4))


def test_one_runtime_session_per_number_of_threads() -> None:
    session = OnnxSession(identity(["n", 4]))
    assert session.with_threads(1) is session.with_threads(1)
    assert session.with_threads(2) is not session.with_threads(1)
    assert session.with_threads(2).get_session_options().intra_op_num_threads == 2
