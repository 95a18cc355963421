"""A decision as ONNX operators: features in; label, probabilities, verdict and novelty out."""

from __future__ import annotations

from typing import Any

import numpy as np

from i2cansay.encoders.graph_nodes import GraphNodes
from i2cansay.export.step_writer import StepWriter
from i2cansay.learners.decision.decision import Decision
from i2cansay.learners.verdicts.evidence import NEW, SURE, UNSURE, Thresholds

FEATURES = "features"
LABEL, PROBABILITIES, VERDICT, NOVELTY = "label", "probabilities", "verdict", "novelty"
VERDICTS = (UNSURE, SURE, NEW)
# Largest of float32; above every sum of exponentials that it can hold.
EVERYTHING = float(np.finfo(np.float32).max)


def write_decision(decision: Decision, graph: GraphNodes, given: str = FEATURES) -> dict[str, str]:
    """Add a decision on the features `given`, (n, d) float32, to a graph; return its layers by what they are.

    `label`, `verdict` and `novelty` are (n,), `probabilities` is (n, c). Of a single class there is no novelty.
    """
    writer = StepWriter(graph, given)
    scores = writer.write(decision.scores)
    best = graph.add("ArgMax", scores, axis=1, keepdims=1)
    away = graph.add("Sub", scores, writer.at(scores, best))
    likely = graph.add("Exp", graph.add("Mul", away, writer.number(1 / decision.temperature)))
    # What the others weigh beside the likeliest, which weighs 1: one minus a probability near 1 would be rounding.
    places = graph.constant(np.arange(len(decision.labels))[None])
    others = graph.add("Where", graph.add("Equal", places, best), writer.number(0.0), likely)
    rest = writer.row_sum(others)
    layers = {
        LABEL: graph.add("Gather", graph.constant(_names(decision.labels), exact=True), _column(graph, best)),
        PROBABILITIES: graph.add("Div", likely, graph.add("Add", rest, writer.number(1.0))),
    }
    verdict = _sure(graph, writer, rest, decision.thresholds)
    if decision.novelty is not None:
        novelty = writer.write(decision.novelty)
        layers[NOVELTY] = _column(graph, novelty)
        if np.isfinite(decision.thresholds.least_novelty):
            new = graph.add("GreaterOrEqual", novelty, writer.number(decision.thresholds.least_novelty))
            verdict = graph.add("Where", new, graph.constant(np.array(VERDICTS.index(NEW))), verdict)
    names = graph.constant(np.array(VERDICTS, dtype=object))
    return layers | {VERDICT: graph.add("Gather", names, _column(graph, verdict))}


def output_infos(decision: Decision, graph: GraphNodes) -> list[Any]:
    """Return the outputs of a whole graph, with their types and shapes."""
    types, info = graph.onnx.TensorProto, graph.onnx.helper.make_tensor_value_info
    of_labels = {"U": types.STRING, "i": types.INT64, "b": types.BOOL, "f": types.DOUBLE}
    outputs = [
        info(LABEL, of_labels[decision.labels.dtype.kind], ["n"]),
        info(PROBABILITIES, types.FLOAT, ["n", len(decision.labels)]),
        info(VERDICT, types.STRING, ["n"]),
    ]
    return outputs if decision.novelty is None else [*outputs, info(NOVELTY, types.FLOAT, ["n"])]


def _sure(graph: GraphNodes, writer: StepWriter, rest: str, thresholds: Thresholds) -> str:
    """Add the place in `VERDICTS` of "sure" or "unsure" for each row, (n, 1): odds are one to `rest`."""
    odds = thresholds.least_odds
    most = np.exp(-odds) if np.isfinite(odds) else EVERYTHING if odds < 0 else -1.0
    sure = graph.add("LessOrEqual", rest, writer.number(float(most)))
    return graph.add("Cast", sure, to=graph.onnx.TensorProto.INT64)


def _column(graph: GraphNodes, x: str) -> str:
    """Add (n,) of (n, 1)."""
    return graph.add("Squeeze", x, graph.constant(np.array([1])))


def _names(labels: Any) -> Any:
    return labels.astype(object) if labels.dtype.kind == "U" else labels
