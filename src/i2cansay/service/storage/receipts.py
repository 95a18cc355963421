"""Receipts: where the samples sent under an idempotency key are, so that a repeated request counts once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from i2cansay.service.storage.blocks import digest_of

NOT_HELD, TAKEN_BACK = -2, -1
"""Places of a sample that is not on the disk, and of one that undo or forget took out."""
PLACE = np.dtype("<i4")
"""How a place is stored."""


def key_digest(key: str, who: str) -> bytes:
    """Return the digest that stands for a key on the disk. The same key of another token is another key.

    A digest, because clients make keys of anything, even of file names.
    """
    return digest_of(b"key", who.encode(), key.encode())


def lesson_digest(
    key: str, labels: Sequence[str], images: Sequence[bytes] | None, features: NDArray[Any] | None
) -> bytes:
    """Return a digest of the labels, and of the samples as they were sent, to tell lessons under one key apart.

    As sent, not as encoded: an encoder may round differently in another batch. The key is part of it, so that nobody
    with the file and an image, but without the key, can find out whether the image was taught.
    """
    sent = images if features is None else [str(features.shape).encode(), features.tobytes()]
    return digest_of(b"lesson", key.encode(), json.dumps(list(labels)).encode(), *(sent or ()))


def labels_digest(labels: Sequence[str]) -> bytes:
    """Return a digest of the labels, for lessons whose samples are not known as they were sent."""
    return digest_of(b"labels", json.dumps(list(labels)).encode())


@dataclass(frozen=True)
class Receipt:
    """Where each sample of a request is: the number of its class, or one of the two places above.

    `content` is the digest of what was sent.

    Examples
    --------
    >>> receipt = Receipt.none(3, b"digest").put([0, 2], [7, TAKEN_BACK])
    >>> receipt.all_places()
    array([ 7, -2, -1], dtype=int32)
    """

    content: bytes
    places: bytes

    @classmethod
    def none(cls, n_rows: int, content: bytes) -> Receipt:
        """Return a receipt on which no sample is on the disk yet."""
        return cls(content, np.full(n_rows, NOT_HELD, dtype=PLACE).tobytes())

    def all_places(self) -> NDArray[np.int32]:
        """Return where each sample is, (n,)."""
        return np.frombuffer(self.places, dtype=PLACE)

    def put(self, positions: ArrayLike, places: ArrayLike) -> Receipt:
        """Return the receipt with the samples at `positions` in other places."""
        changed = self.all_places().copy()
        changed[np.asarray(positions)] = places
        return replace(self, places=changed.tobytes())
