"""What has been counted under an idempotency key, so that a repeated request counts once."""

from __future__ import annotations

from dataclasses import dataclass

from i2cansay.service.blocks import digest_of


def key_digest(key: str) -> bytes:
    """Return what stands for a key on the disk: clients make keys of anything, file names too."""
    return digest_of(b"key", key.encode())


@dataclass(frozen=True)
class Receipt:
    """Which of the `total` samples of a request are safe on the disk: a bit for each.

    Examples
    --------
    >>> receipt = Receipt.none(10).plus([0, 9])
    >>> [position for position in range(10) if position in receipt]
    [0, 9]
    """

    total: int
    held: bytes

    @classmethod
    def none(cls, total: int) -> Receipt:
        """None of them yet."""
        return cls(total, bytes(-(-total // 8)))

    @classmethod
    def from_bytes(cls, total: int, held: bytes) -> Receipt:
        """The receipt as it was written."""
        return cls(total, held)

    def __contains__(self, position: int) -> bool:
        return bool(self.held[position // 8] >> position % 8 & 1)

    def plus(self, positions: list[int]) -> Receipt:
        """Return the receipt with more of them."""
        held = bytearray(self.held)
        for position in positions:
            held[position // 8] |= 1 << position % 8
        return Receipt(self.total, bytes(held))
