"""Where an interrupted stream goes on: what the learner knows and what was counted, written now and then."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from i2cansay.core.state_parts import add_prefix, strip_prefix
from i2cansay.core.types import State
from i2cansay.disk.atomic import write_atomically


class Place(NamedTuple):
    """How far a stream has come: the learner's state, the counts as arrays, and the counts as plain values."""

    learner: State
    arrays: State
    values: dict[str, Any]


class Bookmark:
    """A file that lets `play` go on after it was killed, with the outcome that it would have had.

    Parameters
    ----------
    path : Path
        Is written while a stream is played, and removed when it has been.
    what : mapping of plain values
        What is being played. A bookmark of something else is not followed.
    seconds : float
        How long to play before the next one is written.
    clock : callable
        Returns seconds.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> bookmark = Bookmark(Path(folder.name) / "cell.bookmark", {"seed": 0}, seconds=0)
    >>> bookmark.write(Place({"weights": np.ones(2)}, {}, {"position": 7}))
    >>> bookmark.read().values["position"], Bookmark(bookmark.path, {"seed": 1}).read()
    (7, None)
    >>> bookmark.remove()
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: Path,
        what: Mapping[str, Any],
        *,
        seconds: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self._digest = hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()
        self._seconds, self._clock = seconds, clock
        self._written = clock()

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return self._clock() - self._written >= self._seconds

    def write(self, place: Place) -> None:
        """Write where the stream is; a file that was there is replaced whole or not at all."""
        arrays = add_prefix("learner", place.learner) | add_prefix("counts", place.arrays)
        arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        header = {"what": self._digest, "values": json.dumps(place.values)}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, lambda path: save_file(arrays, path, metadata=header))
        self._written = self._clock()

    def read(self) -> Place | None:
        """Return where the stream was; None if there is no bookmark, or one of something else, or half of one."""
        try:
            with safe_open(self.path, framework="numpy") as file:
                header = file.metadata() or {}
                if header.get("what") != self._digest:
                    return None
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                values = json.loads(header["values"])
        except (OSError, SafetensorError, KeyError, ValueError):
            return None
        return Place(strip_prefix(arrays, "learner"), strip_prefix(arrays, "counts"), values)

    def remove(self) -> None:
        """Remove the file: the stream has been played."""
        self.path.unlink(missing_ok=True)
