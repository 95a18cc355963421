"""Running an ONNX graph on ONNX Runtime."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.device import CPU, PROVIDERS, DeviceError, provider_of
from i2cansay.encoders.extra import import_extra
from i2cansay.encoders.stages import OutputStage

Features = NDArray[np.float32]
POOLS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "none": lambda output: output,
    "mean": lambda output: output.mean(axis=tuple(range(2, output.ndim))),
    "mean-tokens": lambda output: output.mean(axis=1),
    "first-token": lambda output: output[:, 0],
}


class OnnxSession:
    """A graph and the ONNX Runtime sessions that run it, made when first needed.

    One session per number of threads: many images are fastest with one thread per batch and several batches
    at once, a single image with all threads on it.

    Parameters
    ----------
    graph : Path or bytes
        An ONNX file, or its contents.
    output : str or None
        The output to read; by default the first.
    pool : {"none", "mean", "mean-tokens", "first-token"}
        How the output becomes (n, dim): as it is; averaged over the axes after the second (maps of a
        convolutional network); averaged over, or the first of, the tokens of a transformer.
    stages : sequence of OutputStage
        Further outputs to put beside it.
    device : str
        Where it runs: "cpu", "cuda", ..., or the name of an execution provider.
    """

    def __init__(
        self,
        graph: Path | bytes,
        *,
        output: str | None = None,
        pool: str = "none",
        stages: Sequence[OutputStage] = (),
        device: str = CPU,
    ) -> None:
        for each in (pool, *(stage.pool for stage in stages)):
            if each not in POOLS:
                raise ValueError(f"pool is one of {', '.join(POOLS)}, got {each!r}")
        self._graph = graph
        self._device = device
        self._lock = threading.Lock()
        self._sessions: dict[int, Any] = {}
        first = self.with_threads(1)
        entry = first.get_inputs()[0]
        outputs = [each.name for each in first.get_outputs()]
        self.input = entry.name
        self.output = output or outputs[0]
        self._reads = (OutputStage.of(self.output, pool), *stages)
        for read in self._reads:
            if read.output not in outputs:
                raise ValueError(f"the graph has no output {read.output!r}; it has {', '.join(outputs)}")
        self.type: str = entry.type
        self.batch_size = entry.shape[0] if entry.shape and isinstance(entry.shape[0], int) else None

    @property
    def reads(self) -> tuple[OutputStage, ...]:
        """What is read of the graph: its output, then the stages."""
        return self._reads

    def model(self) -> Any:
        """Return the graph as a ModelProto."""
        onnx = import_extra("onnx")
        return (
            onnx.load_from_string(self._graph) if isinstance(self._graph, bytes) else onnx.load(self._graph)
        )

    def with_threads(self, threads: int) -> Any:
        """Return the ONNX Runtime session that uses `threads` threads for one call."""
        with self._lock:
            if threads not in self._sessions:
                self._sessions[threads] = open_session(self._graph, threads, self._device)
            return self._sessions[threads]

    def run(self, batch: NDArray[Any], *, threads: int = 1) -> Features:
        """Run the graph on a batch; (n, dim) float32."""
        parts = self.parts(batch, threads=threads)
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def parts(self, batch: NDArray[Any], *, threads: int = 1) -> list[Features]:
        """Run the graph on a batch; an array (n, d) for the output and for each stage, float32."""
        n, fixed = len(batch), self.batch_size
        if fixed is not None and n != fixed:
            # The graph was exported for one batch size: fill up, or go piece by piece.
            if n > fixed:
                pieces = [
                    self.parts(batch[start : start + fixed], threads=threads) for start in range(0, n, fixed)
                ]
                return [np.concatenate(piece) for piece in zip(*pieces, strict=True)]
            batch = np.concatenate([batch, np.zeros((fixed - n, *batch.shape[1:]), batch.dtype)])
        wanted = list(dict.fromkeys(read.output for read in self._reads))
        given = self.with_threads(threads).run(wanted, {self.input: batch})
        outputs = dict(zip(wanted, given, strict=True))
        return [_pooled(outputs[read.output], read)[:n] for read in self._reads]


def _pooled(output: NDArray[Any], read: OutputStage) -> Features:
    features = np.ascontiguousarray(POOLS[read.pool](output), dtype=np.float32)
    if features.ndim != 2:
        raise ValueError(
            f"output {read.output!r} has shape {output.shape}, expected (n, dim) after pooling: "
            f"set pool to one of {', '.join(POOLS)}"
        )
    return features if read.scale == 1 else features * np.float32(read.scale)


def open_session(graph: Path | bytes, threads: int, device: str = CPU) -> Any:
    """Open an ONNX Runtime session; what a device other than the CPU cannot do is done on the CPU."""
    runtime = import_extra("onnxruntime")
    provider = provider_of(device)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Spinning workers would take the cores from the BLAS that learns between two images.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    source = graph if isinstance(graph, bytes) else str(graph)
    providers = list(dict.fromkeys([provider, PROVIDERS[CPU]]))
    session = runtime.InferenceSession(source, options, providers=providers)
    if provider not in session.get_providers():
        # A provider whose libraries or hardware are missing is left out without an error.
        raise DeviceError(
            f"the device {device!r} could not be started; its driver or libraries are missing. Use {CPU!r}"
        )
    return session
