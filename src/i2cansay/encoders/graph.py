"""A small vocabulary for writing ONNX graphs: layers in, a model out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.checkpoint import CheckpointError
from i2cansay.encoders.extra import import_extra
from i2cansay.encoders.preprocessing import Preprocessing

# 17 brought LayerNormalization; ONNX Runtime has read it since 1.12.
OPSET = 17
IR_VERSION = 8

Array = NDArray[Any]


class Graph:
    """An ONNX graph under construction; every method adds a layer and returns the name of its output.

    The input is called `pixels`: uint8, (n, height, width, 3), as an image lies in memory. Normalisation is
    the graph's first layer, so that no other code can get it wrong.

    Examples
    --------
    >>> graph = Graph(Preprocessing(size=8, resize=8))
    >>> features = graph.add("GlobalAveragePool", graph.pixels())
    >>> model = graph.model({"features": graph.flatten(features)}, dim=3)
    >>> [node.op_type for node in model.graph.node][-3:]
    ['GlobalAveragePool', 'Flatten', 'Identity']
    """

    def __init__(self, preprocessing: Preprocessing, *, fixed_size: bool = False) -> None:
        self._onnx = import_extra("onnx")
        self._preprocessing = preprocessing
        self._fixed_size = fixed_size
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add one ONNX operator."""
        output = f"{operator}_{len(self._nodes)}"
        self._nodes.append(
            self._onnx.helper.make_node(operator, list(inputs), [output], name=output, **attributes)
        )
        return output

    def constant(self, array: Array | Sequence[float]) -> str:
        """Add a constant; floats of any width become float32."""
        values = np.asarray(array)
        if values.dtype.kind == "f":
            values = values.astype(np.float32)
        name = f"constant_{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def pixels(self) -> str:
        """Add the input: uint8 pixels cast, put channels first, and normalised."""
        channels_first = self.add("Transpose", "pixels", perm=[0, 3, 1, 2])
        numbers = self.add("Cast", channels_first, to=self._onnx.TensorProto.FLOAT)
        scale, shift = self._preprocessing.scale_and_shift()
        scaled = self.add("Mul", numbers, self.constant(scale.reshape(1, 3, 1, 1)))
        return self.add("Add", scaled, self.constant(shift.reshape(1, 3, 1, 1)))

    def convolution(self, x: str, weight: Array, bias: Array | None = None, **attributes: Any) -> str:
        """Add a convolution with weight (out, in / groups, height, width)."""
        inputs = [x, self.constant(weight)] + ([] if bias is None else [self.constant(bias)])
        return self.add("Conv", *inputs, kernel_shape=list(weight.shape[2:]), **attributes)

    def linear(self, x: str, weight: Array, bias: Array | None = None) -> str:
        """Add x @ weight.T + bias over the last axis, weight (out, in) as torch keeps it."""
        product = self.add("MatMul", x, self.constant(weight.T))
        return product if bias is None else self.add("Add", product, self.constant(bias))

    def layer_norm(self, x: str, weight: Array, bias: Array, epsilon: float) -> str:
        """Add a layer norm over the last axis."""
        return self.add(
            "LayerNormalization", x, self.constant(weight), self.constant(bias), axis=-1, epsilon=epsilon
        )

    def flatten(self, x: str) -> str:
        """Add a flattening to (n, everything else)."""
        return self.add("Flatten", x, axis=1)

    def model(self, outputs: Mapping[str, str], *, dim: int) -> Any:
        """Close the graph and return a checked ModelProto.

        `outputs` maps the wanted names to layers, features first; `dim` is the width of the features.
        """
        helper, types = self._onnx.helper, self._onnx.TensorProto
        size: int | str = self._preprocessing.size if self._fixed_size else "size"
        for wanted, layer in outputs.items():
            self._nodes.append(helper.make_node("Identity", [layer], [wanted], name=wanted))
        graph = helper.make_graph(
            self._nodes,
            "encoder",
            [helper.make_tensor_value_info("pixels", types.UINT8, ["n", size, size, 3])],
            [
                helper.make_tensor_value_info(name, types.FLOAT, ["n", dim if name == "features" else None])
                for name in outputs
            ],
            self._constants,
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
        )
        self._onnx.checker.check_model(model)
        return model


def fold_batch_norm(
    weight: Array, weights: Mapping[str, Array], norm: str, *, epsilon: float
) -> tuple[Array, Array]:
    """Merge a batch norm into the convolution before it.

    Parameters
    ----------
    weight : ndarray of shape (out, in, height, width)
    weights : mapping that holds `norm`.weight, .bias, .running_mean and .running_var, each of shape (out,)

    Returns
    -------
    weight, bias : ndarrays of shapes (out, in, height, width) and (out,), float32
    """
    gamma, beta, mean, variance = (
        weights[f"{norm}.{part}"].astype(np.float64)
        for part in ("weight", "bias", "running_mean", "running_var")
    )
    if variance.min(initial=0) < 0:
        raise CheckpointError(f"the variances '{norm}.running_var' are negative")
    gain = gamma / np.sqrt(variance + epsilon)
    folded = weight.astype(np.float64) * gain[:, None, None, None]
    return folded.astype(np.float32), (beta - mean * gain).astype(np.float32)
