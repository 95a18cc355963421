"""A record: the outcome of one cell, with everything needed to trust it and to repeat it."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.evaluate import Outcome
from i2cansay.experiments.declare.cell import hash_of

FORMAT = 1
# How many of the final test predictions are kept, evenly spread over the test set: few, and enough to see whether
# two variants ever predict differently.
KEPT_PREDICTIONS = 1000


@dataclass(frozen=True)
class Record:
    """One played cell.

    Attributes
    ----------
    key : str
        Hash of the cell and of the features it was played on; the record's name.
    cell : mapping
        `Cell.identity()`: what was played, with the parameters that differ from the learner's defaults.
    parameters : mapping
        All parameters of the learner, defaults included, without its seed.
    features : mapping
        Fingerprints of the data set and the encoder, and the shape of the features.
    outcome : Outcome
        Counts, times and size.
    predictions : array of shape (p,)
        Final predictions for up to 1000 test rows, as positions in `outcome.classes`.
    seconds : float
        Wall-clock time of the whole cell, reading included.
    versions : mapping
        Versions of Python and of the packages that compute.
    commit : str or None
        Commit of the source tree, if the code was run from one.
    line : str or None
        The JSON it was read from. A record is copied as it was written, not as a later version would write it.
    """

    key: str
    cell: Mapping[str, Any]
    parameters: Mapping[str, Any]
    features: Mapping[str, Any]
    outcome: Outcome
    predictions: NDArray[np.uint16]
    seconds: float
    versions: Mapping[str, str]
    commit: str | None
    line: str | None = field(default=None, compare=False, repr=False)

    @property
    def seed(self) -> int:
        """Seed of stream and learner."""
        return int(self.cell["seed"])

    @property
    def state_bytes(self) -> int:
        """Size of the learner's state at the end."""
        return self.outcome.state_bytes

    def to_json(self) -> str:
        """Return one line of JSON that carries its own checksum."""
        values = {
            "format": FORMAT,
            "key": self.key,
            "cell": dict(self.cell),
            "parameters": dict(self.parameters),
            "features": dict(self.features),
            "outcome": self.outcome.to_dict(),
            "predictions": _pack(self.predictions),
            "seconds": round(self.seconds, 4),
            "versions": dict(self.versions),
            "commit": self.commit,
        }
        return json.dumps({**values, "checksum": hash_of(values)}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Read what `to_json` wrote; raise ValueError if it is damaged."""
        try:
            values = json.loads(text)
            if not isinstance(values, dict):
                raise ValueError("it is not a JSON object")
            if values.get("format") != FORMAT:
                raise ValueError(f"it has format {values.get('format')!r}, this version reads {FORMAT}")
            checksum = values.pop("checksum", None)
            if checksum != hash_of(values):
                raise ValueError("its checksum does not fit its content")
            if (
                values["key"]
                != hash_of({**values["cell"], "features": values["features"]["fingerprint"]})[:24]
            ):
                raise ValueError("its key does not fit its cell")
            return cls(
                key=values["key"],
                cell=values["cell"],
                parameters=values["parameters"],
                features=values["features"],
                outcome=Outcome.from_dict(values["outcome"]),
                predictions=_unpack(values["predictions"]),
                seconds=values["seconds"],
                versions=values["versions"],
                commit=values["commit"],
                line=text.strip(),
            )
        except (KeyError, TypeError, json.JSONDecodeError, zlib.error) as error:
            raise ValueError(f"it is not a record ({type(error).__name__}: {error})") from error


def kept_rows(n_test: int) -> NDArray[np.int64]:
    """Return the test rows whose predictions are kept, evenly spread.

    >>> kept_rows(5).tolist(), len(kept_rows(10_000))
    ([0, 1, 2, 3, 4], 1000)
    """
    return np.unique(np.linspace(0, n_test - 1, min(n_test, KEPT_PREDICTIONS)).astype(np.int64))


def _pack(predictions: NDArray[np.uint16]) -> str:
    return base64.b64encode(zlib.compress(predictions.astype("<u2").tobytes(), 9)).decode()


def _unpack(text: str) -> NDArray[np.uint16]:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<u2").astype(np.uint16)
