"""Model files whose content was changed, with a checksum that is right again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from i2cansay.core.types import State
from i2cansay.learners.model_file import _checksum
from i2cansay.testing import small_learner

# So few that a memory is full after some of the samples.
MEMORY_SIZE = 10


def taught_file(learner: str, folder: Path, **parameters: Any) -> bytes:
    """Return the file of a small learner that was taught three classes of five features."""
    rng = np.random.default_rng(0)
    labels = np.array(["a", "b", "c"] * 8)
    X = rng.normal(size=(24, 5)) + 3 * np.eye(3, 5)[np.arange(24) % 3]
    model = small_learner(learner)
    if model.get_params().get("memory_size"):
        model.set_params(memory_size=MEMORY_SIZE)
    model.set_params(**parameters).partial_fit(X, labels)
    model.save(folder / "taught.i2cs")
    return (folder / "taught.i2cs").read_bytes()


def parts(data: bytes) -> tuple[dict[str, str], State]:
    """Return the header and the arrays of a file, copies that may be changed."""
    length = int.from_bytes(data[:8], "little")
    header: dict[str, str] = json.loads(data[8 : 8 + length])["__metadata__"]
    return header, {name: array.copy() for name, array in load_arrays(data).items()}


def joined(header: dict[str, str], state: State) -> bytes:
    """Return a file of these, with their checksum."""
    arrays = {name: np.ascontiguousarray(array) for name, array in state.items()}
    return save_arrays(arrays, metadata={**header, "checksum": _checksum(arrays, header)})


def forged(data: bytes, forge: Callable[[dict[str, str], State], None]) -> bytes:
    """Return the file after `forge` has changed its header and arrays."""
    header, state = parts(data)
    forge(header, state)
    return joined(header, state)
