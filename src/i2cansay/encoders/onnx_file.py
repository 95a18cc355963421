"""A user's own encoder: an ONNX file with a small TOML file beside it that says how to feed it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.description import read_description
from i2cansay.encoders.device import CPU, DeviceError
from i2cansay.encoders.encoder import Encoder, Features
from i2cansay.encoders.extra import import_extra
from i2cansay.encoders.graph_joining import network_on_pixels
from i2cansay.encoders.onnx_session import OnnxSession
from i2cansay.encoders.preprocessing import Pixels, Preprocessing
from i2cansay.encoders.recipe import sha256_of
from i2cansay.encoders.stages import LAST, Block, stages_fingerprint, wanted_stages

PRECISIONS = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(double)": "float64"}


def open_onnx(
    path: Path,
    *,
    name: str | None = None,
    size: int | None = None,
    threads: int | None = None,
    features: str = "last",
    device: str = CPU,
) -> Encoder:
    """Open an ONNX file described by the TOML file of the same name."""
    file_hash = sha256_of(path)
    description = read_description(path.with_suffix(".toml"))
    stages = wanted_stages(features, description.stages, of=path.with_suffix(".toml").name)
    looking = description.preprocessing.with_size(size)
    if elsewhere := weights_elsewhere(path):
        # Their values are not in this file, so neither its hash nor a copy of it would hold them.
        raise ValueError(
            f"{path.name} keeps weights in other files ({', '.join(elsewhere)}); expected one file with all of "
            f'them: import onnx; onnx.save(onnx.load("{path.name}"), "whole.onnx")'
        )
    try:
        session = OnnxSession(
            path, output=description.output, pool=description.pool, stages=stages, device=device
        )
        if session.type not in PRECISIONS:
            raise ValueError(f"its input is a {session.type}, expected {', '.join(PRECISIONS)}")
        model = OnnxModel(session, looking, description.layout)
    except (ImportError, DeviceError):
        raise
    except Exception as error:  # ONNX Runtime's own errors share no base class
        raise ValueError(f"{path.name} cannot be run at {looking.size} px: {error}") from error
    text = "\n".join(
        [file_hash, looking.fingerprint_text(), description.layout, session.output, description.pool]
    )
    last_fingerprint = hashlib.sha256(text.encode()).hexdigest()
    names = (LAST, *(stage.name for stage in stages))
    return Encoder(
        name or path.stem,
        model=model,
        preprocessing=looking,
        fingerprint=stages_fingerprint(last_fingerprint, stages),
        threads=threads,
        blocks=[Block(each, width) for each, width in zip(names, model.widths, strict=True)],
        last_fingerprint=last_fingerprint,
    )


class OnnxModel:
    """A graph that expects normalised numbers."""

    def __init__(self, session: OnnxSession, preprocessing: Preprocessing, layout: str) -> None:
        self._session = session
        self._preprocessing = preprocessing
        self._layout = layout
        self._axes = (0, 3, 1, 2) if layout == "nchw" else (0, 1, 2, 3)
        self._precision = PRECISIONS[session.type]
        side = preprocessing.size
        black = self._numbers(np.zeros((1, side, side, 3), np.uint8))
        self.widths = [part.shape[1] for part in session.parts(black)]
        self.dim = sum(self.widths)

    def __call__(self, squares: Pixels, *, threads: int) -> Features:
        return self._session.run(self._numbers(squares), threads=threads)

    def graph(self, preprocessing: Preprocessing) -> Any:
        """Return it as an ONNX model: `pixels` in, `features` out."""
        if self._session.batch_size is not None:
            raise ValueError(
                f"the encoder's graph takes {self._session.batch_size} images at a time, expected any number; "
                "export it with a batch size that is left open"
            )
        return network_on_pixels(
            self._session.model(),
            preprocessing,
            layout=self._layout,
            given=self._session.input,
            reads=self._session.reads,
            dim=self.dim,
        )

    def _numbers(self, squares: Pixels) -> NDArray[Any]:
        numbers = self._preprocessing.normalise(squares).transpose(self._axes)
        return np.ascontiguousarray(numbers, dtype=self._precision)


def weights_elsewhere(path: Path) -> list[str]:
    """Return the names of the files outside an ONNX file in which it keeps weights."""
    onnx = import_extra("onnx")
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception:  # damaged: ONNX Runtime says so, in better words
        return []
    tensors = [*_tensors_of(model.graph), *(tensor for f in model.functions for tensor in _in_nodes(f.node))]
    return sorted(
        {
            next((entry.value for entry in tensor.external_data if entry.key == "location"), "unnamed")
            for tensor in tensors
            if tensor.data_location == onnx.TensorProto.EXTERNAL
        }
    )


def _tensors_of(graph: Any) -> Iterator[Any]:
    """Every tensor of a graph, its branches and loops included."""
    yield from graph.initializer
    yield from _in_sparse(graph.sparse_initializer)
    yield from _in_nodes(graph.node)


def _in_nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    for node in nodes:
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors)
            yield from _in_sparse((attribute.sparse_tensor, *attribute.sparse_tensors))
            for graph in (attribute.g, *attribute.graphs):
                yield from _tensors_of(graph)


def _in_sparse(tensors: Iterable[Any]) -> Iterator[Any]:
    for tensor in tensors:
        yield from (tensor.values, tensor.indices)
