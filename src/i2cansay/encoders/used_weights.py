"""Weights that note what was read of them, so that a network is not built from half of another one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.checkpoint import CheckpointError, Weights

# Parts of a checkpoint that classify; features do not depend on them.
HEADS = ("fc.", "_fc.", "head.", "head_dist.")
# Further parts that features do not depend on: what only training reads, and a layer before the head.
SPARE = (*HEADS, "mask_token", "pre_logits.")
COUNTERS = ".num_batches_tracked"


class UsedWeights(Weights):
    """A checkpoint's weights; each key that is read is noted, and refused where it holds NaN.

    Asking whether a key is there does not count as reading it.

    Examples
    --------
    >>> weights = UsedWeights({"conv.weight": np.ones(3), "gate.weight": np.ones(3), "fc.bias": np.ones(3)})
    >>> weights["conv.weight"].shape
    (3,)
    >>> weights.check("resnet18")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    i2cansay.encoders.torch_file.CheckpointError: ... of resnet18, which has no 'gate.weight'; ...
    """

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights)
        self.used: set[str] = set()

    def __getitem__(self, key: str) -> NDArray[Any]:
        array = super().__getitem__(key)
        if key not in self.used and not np.isfinite(array).all():
            raise CheckpointError(f"the weights {key!r} hold numbers that are infinite or NaN")
        self.used.add(key)
        return array

    def get(self, key: str, default: Any = None) -> Any:
        """Return the array at a key, or `default`."""
        try:
            return self[key]
        except KeyError:
            return default

    def check(self, name: str) -> None:
        """Refuse a checkpoint of which a network was built without reading all of it."""
        left = [
            key
            for key in self
            if key not in self.used and not key.startswith(SPARE) and not key.endswith(COUNTERS)
        ]
        if left:
            more = f" and {len(left) - 1} more" if len(left) > 1 else ""
            raise CheckpointError(
                f"these are not the weights of {name}, which has no {left[0]!r}{more}; "
                "export the network to ONNX instead"
            )
