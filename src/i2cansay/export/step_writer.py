"""Steps of a decision as ONNX operators, in single precision.

Only operators that mean the same from opset 13 on are used (no ReduceMax, whose axes moved from an attribute to an
input), so that what is written can stand in any graph of today.
"""

from __future__ import annotations

from functools import singledispatchmethod

import numpy as np

from i2cansay.encoders.graph_nodes import Array, GraphNodes
from i2cansay.learners.decision.steps import (
    Columns,
    Distances,
    Elementwise,
    Given,
    Joined,
    Mapped,
    PositiveOr,
    Product,
    RowLeast,
    RowSum,
    Softmax,
    Step,
)

OPERATORS = {"add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "maximum": "Max"}
FUNCTIONS = {"absolute": "Abs", "rectify": "Relu", "root": "Sqrt"}


class StepWriter:
    """Writes steps into a graph, each once.

    Parameters
    ----------
    graph : GraphNodes
    given : str
        Name of the features, (n, d) float32, in that graph.

    Examples
    --------
    >>> graph = GraphNodes()
    >>> StepWriter(graph, "features").write(Mapped("square", Given() * 2.0))
    'Mul_1'
    >>> [node.op_type for node in graph.nodes]
    ['Mul', 'Mul']
    """

    def __init__(self, graph: GraphNodes, given: str) -> None:
        self.graph = graph
        self._given = given
        self._written: dict[Step, str] = {}  # steps are equal only to themselves

    def write(self, step: Step) -> str:
        """Return the name of a step's array, whose nodes are added where they are not there yet."""
        if step not in self._written:
            self._written[step] = self._add(step)
        return self._written[step]

    def number(self, values: Array | float) -> str:
        """Add numbers as a constant; ValueError where single precision cannot hold them."""
        return self.graph.constant(single(values))

    def row_sum(self, x: str) -> str:
        """Add the sum of each row, (n, 1)."""
        return self.graph.add("ReduceSum", x, self.graph.constant(np.array([1])), keepdims=1)

    def at(self, x: str, places: str) -> str:
        """Add the entry of each row at one of the `places`, (n, 1)."""
        return self.graph.add("GatherElements", x, places, axis=1)

    @singledispatchmethod
    def _add(self, step: Step) -> str:
        raise TypeError(f"no operator is known for the step {type(step).__name__}")

    @_add.register
    def _(self, step: Given) -> str:
        return self._given

    @_add.register
    def _(self, step: Elementwise) -> str:
        right = self.write(step.right) if isinstance(step.right, Step) else self.number(step.right)
        return self.graph.add(OPERATORS[step.operation], self.write(step.left), right)

    @_add.register
    def _(self, step: Mapped) -> str:
        x = self.write(step.step)
        if step.function == "square":
            return self.graph.add("Mul", x, x)
        if step.function == "signed_root":
            root = self.graph.add("Sqrt", self.graph.add("Abs", x))
            return self.graph.add("Mul", self.graph.add("Sign", x), root)
        return self.graph.add(FUNCTIONS[step.function], x)

    @_add.register
    def _(self, step: PositiveOr) -> str:
        x = self.write(step.step)
        positive = self.graph.add("Greater", x, self.number(0.0))
        return self.graph.add("Where", positive, x, self.number(step.otherwise))

    @_add.register
    def _(self, step: Columns) -> str:
        start, stop, axis = (self.graph.constant(np.array([n])) for n in (step.start, step.stop, 1))
        return self.graph.add("Slice", self.write(step.step), start, stop, axis)

    @_add.register
    def _(self, step: Joined) -> str:
        return self.graph.add("Concat", *(self.write(part) for part in step.steps), axis=1)

    @_add.register
    def _(self, step: Product) -> str:
        return self.graph.add("MatMul", self.write(step.step), self.number(step.weights.T))

    @_add.register
    def _(self, step: RowSum) -> str:
        return self.row_sum(self.write(step.step))

    @_add.register
    def _(self, step: RowLeast) -> str:
        x = self.write(step.step)
        return self.at(x, self.graph.add("ArgMin", x, axis=1, keepdims=1))

    @_add.register
    def _(self, step: Softmax) -> str:
        return self.graph.add("Softmax", self.write(step.step), axis=1)

    @_add.register
    def _(self, step: Distances) -> str:
        # A row at a time: differences of all rows to all points at once would fill the memory.
        helper, types = self.graph.onnx.helper, self.graph.onnx.TensorProto
        inside = GraphNodes(f"{self.graph.prefix}distances_{len(self.graph.nodes)}_")
        row, sums = f"{inside.prefix}row", f"{inside.prefix}sums"
        differences = inside.add("Sub", row, inside.constant(single(step.points)))
        powers = (
            inside.add("Abs", differences) if step.power == 1 else inside.add("Mul", differences, differences)
        )
        if step.weights is not None:
            powers = inside.add("Mul", powers, inside.constant(single(step.weights)))
        inside.add("ReduceSum", powers, inside.constant(np.array([1])), keepdims=0, output=sums)
        n_points, width = step.points.shape
        body = helper.make_graph(
            inside.nodes,
            inside.prefix.rstrip("_"),
            [helper.make_tensor_value_info(row, types.FLOAT, [width])],
            [helper.make_tensor_value_info(sums, types.FLOAT, [n_points])],
            inside.constants,
        )
        return self.graph.add("Scan", self.write(step.step), body=body, num_scan_inputs=1)


def single(values: Array | float) -> Array:
    """Return numbers in single precision; ValueError where it cannot hold them.

    Examples
    --------
    >>> single(1e300)
    Traceback (most recent call last):
    ValueError: numbers of this learner do not fit into single precision, which ends at 3e38; rescale the features
    """
    with np.errstate(over="ignore"):
        narrow = np.asarray(values, dtype=np.float32)
    if not np.isfinite(narrow).all():
        raise ValueError(
            "numbers of this learner do not fit into single precision, which ends at 3e38; rescale the features"
        )
    return narrow
