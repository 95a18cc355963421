"""Pixels as features: the encoder that needs no weights, for tests and for digits."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from i2cansay.encoders.encoder import Encoder, Features
from i2cansay.encoders.graph_joining import FEATURES, features_info, pixels_info
from i2cansay.encoders.graph_joining import PIXELS as GIVEN
from i2cansay.encoders.graph_nodes import GraphNodes
from i2cansay.encoders.preprocessing import Pixels, Preprocessing


@dataclass(frozen=True)
class PixelModel:
    """Squares of pixels, flattened and scaled to 0..1."""

    dim: int

    def __call__(self, squares: Pixels, *, threads: int) -> Features:
        return squares.reshape(len(squares), -1).astype(np.float32) / np.float32(255)

    def graph(self, preprocessing: Preprocessing) -> Any:
        """Return it as an ONNX model: `pixels` in, `features` out."""
        graph = GraphNodes()
        numbers = graph.add("Cast", graph.add("Flatten", GIVEN, axis=1), to=graph.onnx.TensorProto.FLOAT)
        graph.add("Div", numbers, graph.constant(255.0), output=FEATURES)
        return graph.finished([pixels_info(preprocessing.size)], [features_info(self.dim)], name="pixels")


@dataclass(frozen=True)
class PixelRecipe:
    """The table's entry for `pixels`."""

    name: str = "pixels"
    summary: str = "the pixels themselves, for tests; no weights"

    def open(
        self,
        *,
        name: str | None = None,
        size: int | None = None,
        threads: int | None = None,
        weights: str | Path | None = None,
    ) -> Encoder:
        """Return the encoder; 8 x 8 pixels unless told otherwise."""
        if weights is not None:
            raise ValueError("the encoder pixels has no weights")
        side = 8 if size is None else size
        looking = Preprocessing(
            size=side, resize=side, interpolation="bilinear", mean=(0.0,) * 3, std=(1.0,) * 3
        )
        fingerprint = hashlib.sha256(f"pixels\n{looking.fingerprint_text()}".encode()).hexdigest()
        model = PixelModel(3 * side * side)
        return Encoder(
            name or self.name, model=model, preprocessing=looking, fingerprint=fingerprint, threads=threads
        )


PIXELS = PixelRecipe()
