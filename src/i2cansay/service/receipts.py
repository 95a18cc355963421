"""What has been counted under an idempotency key, so that a repeated request counts once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from i2cansay.service.blocks import digest_of


def key_digest(key: str) -> bytes:
    """Return what stands for a key on the disk: clients make keys of anything, file names too."""
    return digest_of(b"key", key.encode())


def labels_digest(labels: Sequence[str]) -> bytes:
    """Return what tells the labels of one request from those of another."""
    return digest_of(b"labels", json.dumps(list(labels)).encode())


@dataclass(frozen=True)
class Receipt:
    """Which of the `total` samples of a request are safe on the disk: a bit for each.

    `labels` is the digest of the labels the request had; empty in files that were written without.

    Examples
    --------
    >>> receipt = Receipt.none(10).plus([0, 9])
    >>> [position for position in range(10) if position in receipt]
    [0, 9]
    """

    total: int
    held: bytes
    labels: bytes = b""

    @classmethod
    def none(cls, total: int, labels: bytes = b"") -> Receipt:
        """None of them yet."""
        return cls(total, bytes(-(-total // 8)), labels)

    @classmethod
    def from_bytes(cls, total: int, written: bytes) -> Receipt:
        """The receipt as `to_bytes` wrote it."""
        bits = -(-total // 8)
        return cls(total, written[:bits], written[bits:])

    def to_bytes(self) -> bytes:
        """Return the bits, and after them the digest of the labels."""
        return self.held + self.labels

    def __contains__(self, position: int) -> bool:
        return bool(self.held[position // 8] >> position % 8 & 1)

    def plus(self, positions: list[int]) -> Receipt:
        """Return the receipt with more of them."""
        held = bytearray(self.held)
        for position in positions:
            held[position // 8] |= 1 << position % 8
        return replace(self, held=bytes(held))

    def minus(self, position: int) -> Receipt:
        """Return the receipt without one of them."""
        held = bytearray(self.held)
        held[position // 8] &= ~(1 << position % 8)
        return replace(self, held=bytes(held))
