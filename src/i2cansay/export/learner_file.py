"""A taught learner as an ONNX file: a snapshot that says what it is of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import i2cansay
from i2cansay.disk.atomic import write_bytes_atomically
from i2cansay.encoders.extra import import_extra
from i2cansay.encoders.graph_nodes import OPSET, GraphNodes
from i2cansay.export.decision_graph import FEATURES, write_decision
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.decision.decision import Decision
from i2cansay.learners.model_file import header_of
from i2cansay.learners.predicting import Predictor

# Protocol buffers end here.
LARGEST = 2**31 - 1


def write_learner(
    learner: Predictor, path: str | PathLike[str], *, error: float = 0.05, new_error: float = 0.05
) -> None:
    """Write what a taught learner decides to an ONNX file, whole or not at all; `error` as for `verdicts`."""
    target = check_target(path)
    write_model(learner_model(learner, error=error, new_error=new_error), target)


def learner_model(
    learner: Predictor,
    *,
    error: float = 0.05,
    new_error: float = 0.05,
    extra: Mapping[str, str] | None = None,
    opset: int = OPSET,
) -> Any:
    """Return a taught learner as a ModelProto: features in; label, probabilities, verdict and novelty out.

    Parameters
    ----------
    extra : mapping of strings, optional
        What its model file has beside it, as the name of its encoder.
    opset : int
        At least 13.

    Examples
    --------
    >>> from i2cansay import I2CANSAY
    >>> model = learner_model(I2CANSAY().partial_fit([[0.0, 1.0], [8.0, 9.0]], ["low", "high"]))
    >>> [output.name for output in model.graph.output]
    ['label', 'probabilities', 'verdict', 'novelty']
    >>> {entry.key: entry.value for entry in model.metadata_props}["labels"]
    '["high", "low"]'
    """
    import_onnx()
    if isinstance(learner, OnlineClassifier):
        learner._check_structural()
    decision = learner.decision(error, new_error)
    model = decision_model(decision, opset=opset)
    add_metadata(model, metadata_of(learner, decision, extra))
    return model


def decision_model(decision: Decision, *, opset: int = OPSET) -> Any:
    """Return a decision as a ModelProto without metadata."""
    graph = GraphNodes("decision_")
    outputs = write_decision(decision, graph)
    types, info = graph.onnx.TensorProto, graph.onnx.helper.make_tensor_value_info
    inputs = [info(FEATURES, types.FLOAT, ["n", decision.n_features])]
    return graph.finished(inputs, outputs, name="decision", opset=opset)


def metadata_of(
    learner: Predictor, decision: Decision, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return what a file says of itself: where it comes from, its labels, and what its verdicts promise."""
    thresholds = decision.thresholds
    about = {
        "labels": json.dumps(decision.labels.tolist(), ensure_ascii=False),
        "error": repr(float(thresholds.error)),
        "new_error": repr(float(thresholds.new_error)),
        "input": f"{FEATURES}: float32, n x {decision.n_features}",
        "i2cansay": i2cansay.__version__,
    }
    if isinstance(learner, OnlineClassifier):
        header = header_of(learner, extra=extra)
        about |= {name: header[name] for name in ("learner", "parameters", "checksum")}
        about["samples"] = str(learner._n_seen)
    return about | dict(extra or {})


def add_metadata(model: Any, about: Mapping[str, str]) -> None:
    """Write keys and values into a model."""
    model.producer_name, model.producer_version = "i2cansay", i2cansay.__version__
    for key, value in about.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value


def write_model(model: Any, target: Path) -> None:
    """Check a model and write it, whole or not at all."""
    onnx = import_onnx()
    if (size := model.ByteSize()) > LARGEST:
        raise ValueError(
            f"the exported model would take {size / 1e9:.1f} GB, and an ONNX file ends at 2.1; a smaller lift or "
            "width makes it smaller"
        )
    onnx.checker.check_model(model)
    write_bytes_atomically(target, model.SerializeToString(deterministic=True))


def check_target(path: str | PathLike[str]) -> Path:
    """Return the path of a file to write; raise where there is no folder for it, or a folder in its place."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(
            f"{target} is a folder; expected the path of a file, as {target / 'model.onnx'}"
        )
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} to")
    return target


def import_onnx() -> Any:
    """Import onnx, or say how to install it."""
    return import_extra("onnx", install='"i2cansay[export]"', who="exporting needs")
