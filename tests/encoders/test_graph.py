"""The pieces that graphs are written with."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from i2cansay.encoders.graph import Graph, fold_batch_norm
from i2cansay.encoders.onnx_session import OnnxSession
from i2cansay.encoders.preprocessing import Preprocessing


def run(graph: Graph, output: str, pixels: NDArray[np.uint8], dim: int) -> NDArray[np.float32]:
    model = graph.model({"features": graph.flatten(output)}, dim=dim)
    return OnnxSession(model.SerializeToString()).run(pixels)


def test_the_input_layer_normalises_as_the_preprocessing_does() -> None:
    looking = Preprocessing(size=6, resize=6, mean=(0.1, 0.2, 0.3), std=(0.5, 0.6, 0.7))
    graph = Graph(looking)
    pixels = np.random.default_rng(0).integers(0, 256, (2, 6, 6, 3), dtype=np.uint8)
    channels_first = looking.normalise(pixels).transpose(0, 3, 1, 2).reshape(2, -1)
    assert np.allclose(run(graph, graph.pixels(), pixels, 108), channels_first, atol=1e-6)


def test_a_folded_batch_norm_is_the_batch_norm() -> None:
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(5, 3, 1, 1))
    norm = {
        f"bn.{part}": rng.uniform(0.5, 2, 5) for part in ("weight", "bias", "running_mean", "running_var")
    }
    x = rng.normal(size=(10, 3))
    before = x @ weight[:, :, 0, 0].T
    expected = (before - norm["bn.running_mean"]) / np.sqrt(norm["bn.running_var"] + 1e-3)
    expected = expected * norm["bn.weight"] + norm["bn.bias"]
    folded, bias = fold_batch_norm(weight, norm, "bn", epsilon=1e-3)
    assert np.allclose(x @ folded[:, :, 0, 0].T + bias, expected, atol=1e-5)


@pytest.mark.parametrize("value", [np.array(2.0), np.array(3), np.zeros((2, 0)), np.eye(3)[:, ::-1]])
def test_constants_keep_shape_and_value(value: NDArray[np.float64]) -> None:
    from onnx import numpy_helper

    graph = Graph(Preprocessing())
    graph.constant(value)
    model = graph.model({"features": graph.flatten(graph.pixels())}, dim=1)
    kept = numpy_helper.to_array(model.graph.initializer[0])
    assert kept.shape == value.shape
    assert np.array_equal(kept, value)
    assert kept.dtype == (np.float32 if value.dtype.kind == "f" else value.dtype)
