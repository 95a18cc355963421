"""Whole ONNX graphs with further operators before and after them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from i2cansay.encoders.extra import import_extra
from i2cansay.encoders.graph_nodes import OPSET, GraphNodes
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.stages import OutputStage

PIXELS, FEATURES = "pixels", "features"
# From this opset on, the operators that are added mean the same in all.
OLDEST = 13


def pixels_info(size: int) -> Any:
    """Return the input of an encoder: squares of pixels, (n, size, size, 3) uint8."""
    onnx = import_extra("onnx")
    return onnx.helper.make_tensor_value_info(PIXELS, onnx.TensorProto.UINT8, ["n", size, size, 3])


def features_info(dim: int) -> Any:
    """Return the output of an encoder: features, (n, dim) float32."""
    onnx = import_extra("onnx")
    return onnx.helper.make_tensor_value_info(FEATURES, onnx.TensorProto.FLOAT, ["n", dim])


def joined(
    model: Any, before: GraphNodes, after: GraphNodes, *, inputs: Sequence[Any], outputs: Sequence[Any]
) -> Any:
    """Return a model with nodes before and after its own, whose names are not those of its own nodes."""
    whole = import_extra("onnx").ModelProto()
    whole.CopyFrom(model)
    graph = whole.graph
    nodes = [*before.nodes, *graph.node, *after.nodes]
    del graph.node[:], graph.input[:], graph.output[:]
    graph.node.extend(nodes)
    graph.initializer.extend([*before.constants, *after.constants])
    graph.input.extend(inputs)
    graph.output.extend(outputs)
    return whole


def with_prefix(model: Any, prefix: str) -> Any:
    """Return a model in which every name begins with `prefix`, in an opset that further nodes can be added to."""
    onnx = import_extra("onnx")
    opset = next((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), OPSET)
    if opset < OLDEST:
        try:
            model = onnx.version_converter.convert_version(model, OPSET)
        except Exception as error:  # its converter raises whatever an operator's own adapter does
            raise ValueError(
                f"the encoder's graph is of opset {opset}, expected {OLDEST} or newer, and ONNX cannot convert it: "
                f"{error}"
            ) from error
    return onnx.compose.add_prefix(model, prefix)


def network_on_pixels(
    model: Any,
    preprocessing: Preprocessing,
    *,
    layout: str,
    given: str,
    reads: Sequence[OutputStage],
    dim: int,
) -> Any:
    """Return a network on normalised numbers as one on pixels, with its outputs pooled and put together.

    Parameters
    ----------
    layout : {"nchw", "nhwc"}
    given : str
        Name of its input.
    reads : sequence of OutputStage
        The outputs to read, in the order of their columns.
    dim : int
        Width of them all.
    """
    prefix = "network_"
    network = with_prefix(model, prefix)
    kind = next(
        each for each in network.graph.input if each.name == prefix + given
    ).type.tensor_type.elem_type
    before, after = GraphNodes("before_"), GraphNodes("after_")
    scale, shift = preprocessing.scale_and_shift()
    numbers = before.add("Cast", PIXELS, to=before.onnx.TensorProto.FLOAT)
    numbers = before.add("Add", before.add("Mul", numbers, before.constant(scale)), before.constant(shift))
    if layout == "nchw":
        numbers = before.add("Transpose", numbers, perm=[0, 3, 1, 2])
    before.add("Cast", numbers, to=kind, output=prefix + given)
    ranks = {each.name: len(each.type.tensor_type.shape.dim) for each in network.graph.output}
    parts = [_pooled(after, read, prefix + read.output, ranks[prefix + read.output]) for read in reads]
    after.add("Concat", *parts, axis=1, output=FEATURES)
    size = preprocessing.size
    return joined(network, before, after, inputs=[pixels_info(size)], outputs=[features_info(dim)])


def _pooled(graph: GraphNodes, read: OutputStage, layer: str, rank: int) -> str:
    layer = graph.add("Cast", layer, to=graph.onnx.TensorProto.FLOAT)
    if read.pool == "first-token":
        layer = graph.add("Gather", layer, graph.constant(np.array(0)), axis=1)
    if read.pool == "mean-tokens":
        layer = graph.add("Transpose", layer, perm=[0, 2, 1])
    if read.pool in ("mean", "mean-tokens") and rank > 2:
        layer = graph.add("Flatten", graph.add("GlobalAveragePool", layer), axis=1)
    return layer if read.scale == 1 else graph.add("Mul", layer, graph.constant(read.scale))


def with_mirror(model: Any, size: int, dim: int) -> Any:
    """Return a network on pixels as one that takes the mean of each image and its mirror image."""
    network, before, after = with_prefix(model, "view_"), GraphNodes("before_"), GraphNodes("after_")
    start, stop, axis, step = (before.constant(np.array([n])) for n in (-1, -(size + 1), 2, -1))
    mirrored = before.add("Slice", PIXELS, start, stop, axis, step)
    before.add("Concat", PIXELS, mirrored, axis=0, output=f"view_{PIXELS}")
    pairs = after.add("Reshape", f"view_{FEATURES}", after.constant(np.array([2, -1, dim])))
    both = after.add("ReduceSum", pairs, after.constant(np.array([0])), keepdims=0)
    after.add("Mul", both, after.constant(0.5), output=FEATURES)
    return joined(network, before, after, inputs=[pixels_info(size)], outputs=[features_info(dim)])
