"""A decision as ONNX operators: features in; label, probabilities, verdict and novelty out."""

from __future__ import annotations

from typing import Any

import numpy as np

from i2cansay.encoders.graph_nodes import GraphNodes
from i2cansay.export.step_writer import StepWriter
from i2cansay.learners.decision.decision import Decision
from i2cansay.learners.verdicts.evidence import NEW, SURE, UNSURE

FEATURES = "features"
LABEL, PROBABILITIES, VERDICT, NOVELTY = "label", "probabilities", "verdict", "novelty"
VERDICTS = (UNSURE, SURE, NEW)
# Largest of float32; above every sum of exponentials that it can hold.
EVERYTHING = float(np.finfo(np.float32).max)


class DecisionWriter:
    """Adds a decision on features, (n, d) float32, to a graph.

    Parameters
    ----------
    decision : Decision
    graph : GraphNodes
    given : str
        Name of the features in it.
    """

    def __init__(self, decision: Decision, graph: GraphNodes, given: str = FEATURES) -> None:
        self._decision, self._graph = decision, graph
        self._writer = StepWriter(graph, given)
        writer = self._writer
        scores = writer.write(decision.scores)
        self._best = graph.add("ArgMax", scores, axis=1, keepdims=1)
        away = graph.add("Sub", scores, writer.at(scores, self._best))
        self._likely = graph.add("Exp", graph.add("Mul", away, writer.number(1 / decision.temperature)))
        # What the others weigh where the likeliest weighs 1: one less a probability near one would be rounding.
        places = graph.constant(np.arange(len(decision.labels))[None])
        best = graph.add("Equal", places, self._best)
        self._rest = writer.row_sum(graph.add("Where", best, writer.number(0.0), self._likely))

    def label(self) -> str:
        """Add the label of the highest score, (n,)."""
        labels = self._decision.labels
        names = labels.astype(object) if labels.dtype.kind == "U" else labels
        return self._graph.add("Gather", self._graph.constant(names, exact=True), self._column(self._best))

    def probabilities(self) -> str:
        """Add the probability of each class, (n, c)."""
        total = self._graph.add("Add", self._rest, self._writer.number(1.0))
        return self._graph.add("Div", self._likely, total)

    def novelty(self) -> str | None:
        """Add the novelty, (n,); None where there is none."""
        novelty = self._decision.novelty
        return None if novelty is None else self._column(self._writer.write(novelty))

    def verdict(self) -> str:
        """Add "sure", "unsure" or "new" for each row, (n,)."""
        graph, number, limits = self._graph, self._writer.number, self._decision.thresholds
        odds = limits.least_odds  # of the likeliest: one to what the others weigh
        most = float(np.exp(-odds)) if np.isfinite(odds) else EVERYTHING if odds < 0 else -1.0
        sure = graph.add("LessOrEqual", self._rest, number(most))
        place = graph.add("Cast", sure, to=graph.onnx.TensorProto.INT64)
        if self._decision.novelty is not None and np.isfinite(limits.least_novelty):
            novelty = self._writer.write(self._decision.novelty)
            new = graph.add("GreaterOrEqual", novelty, number(limits.least_novelty))
            place = graph.add("Where", new, graph.constant(np.array(VERDICTS.index(NEW))), place)
        names = graph.constant(np.array(VERDICTS, dtype=object))
        return graph.add("Gather", names, self._column(place))

    def _column(self, x: str) -> str:
        """Add (n,) of (n, 1)."""
        return self._graph.add("Squeeze", x, self._graph.constant(np.array([1])))


def write_decision(decision: Decision, graph: GraphNodes, given: str = FEATURES) -> list[Any]:
    """Add a decision on the features `given`, (n, d) float32, to a graph, and return its outputs.

    `label`, `verdict` and `novelty` are (n,), `probabilities` is (n, c). Of a single class there is no novelty.
    """
    writer, types = DecisionWriter(decision, graph, given), graph.onnx.TensorProto
    of_labels = {"U": types.STRING, "i": types.INT64, "b": types.BOOL, "f": types.DOUBLE}
    layers = [
        (LABEL, writer.label(), of_labels[decision.labels.dtype.kind], ["n"]),
        (PROBABILITIES, writer.probabilities(), types.FLOAT, ["n", len(decision.labels)]),
        (VERDICT, writer.verdict(), types.STRING, ["n"]),
    ]
    if (novelty := writer.novelty()) is not None:
        layers.append((NOVELTY, novelty, types.FLOAT, ["n"]))
    for name, layer, _, _ in layers:
        graph.add("Identity", layer, output=name)
    return [graph.onnx.helper.make_tensor_value_info(name, kind, shape) for name, _, kind, shape in layers]
