"""Graphs that were built once, kept in the cache folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress

from i2cansay.disk.atomic import write_atomically
from i2cansay.disk.places import cache_folder
from i2cansay.encoders.device import CPU, provider_of
from i2cansay.encoders.onnx_session import OnnxSession


def cached_session(name: str, key: str, build: Callable[[], bytes], *, device: str = CPU) -> OnnxSession:
    """Open the graph that was kept for a key, or build it and keep it.

    A graph's file name ends in the hash of its bytes, so that one that was damaged on the disk is not used but
    built anew.

    Parameters
    ----------
    name : str
        How the file's name begins, for people who look into the folder.
    key : str
        Everything the graph depends on.
    build : callable
        Makes the graph; what it raises comes through, and nothing is kept.
    device : str
        Where it runs.
    """
    provider_of(device)  # before anything is built, and before a kept graph is taken for damaged
    folder = cache_folder() / "graphs"
    stem = f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    for kept in folder.glob(f"{stem}-*.onnx"):
        with suppress(Exception):  # whatever is wrong with it, another can be built
            with kept.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            if kept.stem == f"{stem}-{digest}":
                return OnnxSession(kept, device=device)
    graph = build()
    built = folder / f"{stem}-{hashlib.sha256(graph).hexdigest()}.onnx"
    try:
        write_atomically(built, lambda temporary: temporary.write_bytes(graph))
    except OSError:  # a read-only or full disk costs time, not the result
        return OnnxSession(graph, device=device)
    return OnnxSession(built, device=device)
