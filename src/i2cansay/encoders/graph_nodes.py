"""Operators and constants of an ONNX graph under construction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.extra import import_extra

# 17 brought LayerNormalization; ONNX Runtime has read it since 1.12.
OPSET = 17
IR_VERSION = 8

Array = NDArray[Any]


class GraphNodes:
    """Nodes and constants, each with a name of its own.

    Parameters
    ----------
    prefix : str
        How all names begin, so that they can stand beside those of another graph.

    Attributes
    ----------
    nodes, constants : lists of NodeProto and of TensorProto

    Examples
    --------
    >>> graph = GraphNodes("twice_")
    >>> graph.add("Mul", "x", graph.constant([2.0]))
    'twice_Mul_0'
    """

    def __init__(self, prefix: str = "") -> None:
        self.onnx: Any = import_extra("onnx")
        self.prefix = prefix
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add one ONNX operator; return the name of its output, which may be given."""
        name = f"{self.prefix}{operator}_{len(self.nodes)}"
        result = output or name
        self.nodes.append(
            self.onnx.helper.make_node(operator, list(inputs), [result], name=name, **attributes)
        )
        return result

    def constant(self, array: Array | Sequence[float] | float, *, exact: bool = False) -> str:
        """Add a constant; floats of any width become float32, unless they are to stay `exact`."""
        values = np.asarray(array)
        if values.dtype.kind == "f" and not exact:
            values = values.astype(np.float32)
        name = f"{self.prefix}constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def finished(
        self, inputs: Sequence[Any], outputs: Sequence[Any], *, name: str, opset: int = OPSET
    ) -> Any:
        """Return the nodes so far as a ModelProto with these inputs and outputs."""
        graph = self.onnx.helper.make_graph(self.nodes, name, inputs, outputs, self.constants)
        opsets = [self.onnx.helper.make_opsetid("", opset)]
        return self.onnx.helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
