"""Encodes many images in parts, so that memory does not grow with their number."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from i2cansay.core.types import Rows
from i2cansay.encoders.encoder import Encoder, Features, several
from i2cansay.image_learner.answers import UnreadableImages

if TYPE_CHECKING:
    from i2cansay.encoders.images import Source

OnError: TypeAlias = Literal["raise", "skip"]
Progress: TypeAlias = Callable[[int], object]
# 5 MB of features 1280 wide; the encoder's workers are idle once per part, which is rarely enough.
PART_SIZE = 1024


@dataclass(frozen=True)
class EncodedPart:
    """Consecutive images, encoded.

    Attributes
    ----------
    features : ndarray of shape (n_read, dim), float32
    read : ndarray of shape (n_read,), int64
        Which of the part's images each row belongs to.
    skipped : dict from int to str
        Why each of the other images could not be read, by its index among all images.
    start, size : int
        Index of the first image among all, and how many there are.
    """

    features: Features
    read: Rows
    skipped: dict[int, str]
    start: int
    size: int


def check_images(images: Iterable[Source], on_error: str) -> Iterable[Source]:
    """Return the images as an iterable; raise ValueError if they are not several images in an order.

    Examples
    --------
    >>> check_images("cat.jpg", "raise")
    Traceback (most recent call last):
    ValueError: expected several images, got a single str; put it in a list
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(f'on_error is "raise" or "skip", got {on_error!r}')
    if hasattr(images, "read"):  # iterating over a file would take its lines for images
        raise ValueError("expected several images, got a single open file; put it in a list")
    if isinstance(images, set | frozenset | dict):
        raise ValueError(f"expected images in an order, as in a list, got a {type(images).__name__}")
    if isinstance(images, np.ndarray) and images.ndim == 1 and images.dtype.kind in "UO":
        paths: list[Source] = images.tolist()
        return paths
    return several(images)


def encode_in_parts(
    encoder: Encoder, images: Iterable[Source], on_error: OnError, progress: Progress | None = None
) -> Iterator[EncodedPart]:
    """Encode images and yield them part by part, in order; `progress` is told how many are done.

    With on_error="raise", nothing more is yielded after an image that cannot be read. The other images are still
    tried, and then one UnreadableImages names every image that cannot be read.
    """
    start = 0
    reasons: dict[int, str] = {}
    for piece in _pieces(images, PART_SIZE):
        encoded = encoder.encode_each(piece, progress=_counted_from(start, progress))
        skipped = {
            start + index: _named(images, start + index, error.reason)
            for error in encoded.errors
            if (index := error.index) is not None
        }
        part = EncodedPart(
            encoded.features, encoded.indices, skipped, start, len(encoded.indices) + len(skipped)
        )
        start += part.size
        if on_error == "raise":
            reasons |= skipped
        if not reasons:
            yield part
    if reasons:
        raise UnreadableImages(reasons)


def _counted_from(start: int, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda done: progress(start + done)


def _pieces(images: Iterable[Any], size: int) -> Iterator[Iterable[Any]]:
    if isinstance(images, list | tuple | np.ndarray):
        # Slices have a length, which the encoder needs to share a few images between the cores.
        yield from (images[start : start + size] for start in range(0, len(images), size))
        return
    iterator = iter(images)
    for first in iterator:  # not made into a list: the encoder takes images one by one as it needs them
        yield chain([first], islice(iterator, size - 1))


def _named(images: Iterable[Any], index: int, reason: str) -> str:
    """Add the path of an image to a reason that does not name it, if the images are paths."""
    image = images[index] if isinstance(images, list | tuple) else None
    if not isinstance(image, str | os.PathLike) or str(image) in reason:
        return reason
    return f"{image}: {reason}"
