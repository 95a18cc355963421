"""A converter for skl2onnx, so that pipelines that end in a learner of ours can be exported.

<https://onnx.ai/sklearn-onnx/>
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from i2cansay.encoders.extra import import_extra
from i2cansay.encoders.graph_nodes import GraphNodes
from i2cansay.export.decision_graph import DecisionWriter
from i2cansay.export.learner_file import import_onnx
from i2cansay.learners import LEARNERS, learner_class

OURS = ("i2cansay", "i2cansay_shared")


def register_converters() -> None:
    """Tell skl2onnx how `I2CANSAY` and `SharedI2CANSAY` are written, so that ``skl2onnx.to_onnx`` takes them.

    As of any classifier, label and probabilities come out; for verdicts use `to_onnx` of the learner itself. Call it
    once, before ``to_onnx(pipeline, X[:1], options={"zipmap": False})``.
    """
    import_onnx()
    skl2onnx = import_extra("skl2onnx", install="skl2onnx", who="exporting a pipeline needs")
    shapes = import_extra("skl2onnx.common.shape_calculator")
    for name in OURS:
        skl2onnx.update_registered_converter(
            learner_class(LEARNERS[name]),
            f"I2cansay{learner_class(LEARNERS[name]).__name__}",
            shapes.calculate_linear_classifier_output_shapes,
            convert_learner,
            options={"zipmap": [True, False, "columns"], "nocl": [True, False]},
        )


def convert_learner(scope: Any, operator: Any, container: Any) -> None:
    """Add a taught learner to a graph of skl2onnx; it asks for arguments of these names."""
    learner = operator.raw_operator
    decision = learner.decision()
    if container.get_options(learner, {"nocl": False})["nocl"]:  # places in place of labels
        decision = replace(decision, labels=np.arange(len(decision.labels)))
    graph = GraphNodes(scope.get_unique_variable_name("i2cansay") + "_")
    types = graph.onnx.TensorProto
    given, (label, probabilities) = operator.inputs[0].full_name, operator.outputs
    writer = DecisionWriter(decision, graph, graph.add("Cast", given, to=types.FLOAT))
    # There labels are strings or whole numbers, and probabilities as precise as the features.
    if decision.labels.dtype.kind == "U":
        graph.add("Identity", writer.label(), output=label.full_name)
    else:
        graph.add("Cast", writer.label(), to=types.INT64, output=label.full_name)
    double = type(probabilities.type).__name__ == "DoubleTensorType"
    kind = types.DOUBLE if double else types.FLOAT
    graph.add("Cast", writer.probabilities(), to=kind, output=probabilities.full_name)
    _hand_over(graph, container)


def _hand_over(graph: GraphNodes, container: Any) -> None:
    for tensor in graph.constants:
        content: Any = tensor
        if tensor.data_type == graph.onnx.TensorProto.STRING:
            content = np.array(tensor.string_data, dtype=object)
        container.add_initializer(tensor.name, tensor.data_type, list(tensor.dims), content)
    for node in graph.nodes:
        values = {each.name: graph.onnx.helper.get_attribute_value(each) for each in node.attribute}
        container.add_node(node.op_type, list(node.input), list(node.output), name=node.name, **values)
