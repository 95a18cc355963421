"""A taught learner behind its encoder as one ONNX file: squares of pixels in, labels out."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from i2cansay.encoders.encoder import Encoder
from i2cansay.encoders.graph_joining import FEATURES, PIXELS, joined, pixels_info
from i2cansay.encoders.graph_nodes import GraphNodes
from i2cansay.export.decision_graph import write_decision
from i2cansay.export.learner_file import (
    add_metadata,
    check_target,
    import_onnx,
    learner_model,
    metadata_of,
    write_model,
)
from i2cansay.learners.base import OnlineClassifier


def write_image_learner(
    encoder: Encoder,
    learner: OnlineClassifier,
    path: str | PathLike[str],
    *,
    with_encoder: bool = True,
    identity: Mapping[str, str],
    error: float = 0.05,
    new_error: float = 0.05,
) -> None:
    """Write an encoder and a learner of its features to one ONNX file, whole or not at all.

    Parameters
    ----------
    with_encoder : bool
        False leaves the encoder out: the file then takes features.
    identity : mapping of strings
        What names the encoder in a model file.
    error, new_error : float
        As for `verdicts`.
    """
    target = check_target(path)
    write_model(
        image_model(encoder, learner, identity=identity, error=error, new_error=new_error)
        if with_encoder
        else learner_model(learner, error=error, new_error=new_error, extra=identity),
        target,
    )


def image_model(
    encoder: Encoder,
    learner: OnlineClassifier,
    *,
    identity: Mapping[str, str],
    error: float = 0.05,
    new_error: float = 0.05,
) -> Any:
    """Return an encoder and a learner as one ModelProto: pixels in; label, probabilities, verdict, novelty out."""
    import_onnx()
    learner._check_structural()
    decision = learner.decision(error, new_error)
    nothing, after = GraphNodes(), GraphNodes("decision_")
    outputs = write_decision(decision, after, FEATURES)
    size = encoder.preprocessing.size
    model = joined(encoder.graph(), nothing, after, inputs=[pixels_info(size)], outputs=outputs)
    del model.metadata_props[:]
    about = metadata_of(learner, decision, identity)
    add_metadata(model, about | {"input": input_sentence(size), "preprocessing": looks(encoder)})
    return model


def input_sentence(size: int) -> str:
    """Say what the file takes."""
    return f"{PIXELS}: uint8, n x {size} x {size} x 3, red green blue, resized and cropped as `preprocessing` says"


def looks(encoder: Encoder) -> str:
    """Return how an image becomes a square, as JSON: size, resize and interpolation; the rest is in the graph."""
    return encoder.preprocessing.fingerprint_text()
