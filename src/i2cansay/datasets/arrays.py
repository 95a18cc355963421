"""A split whose pixels fit in memory: small images from one archive."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from i2cansay.datasets.dataset import Labels, Pixels, Rows


@dataclass(frozen=True)
class ArraySplit:
    """Images in one array, loaded when first needed.

    Parameters
    ----------
    load : returns pixels, uint8 of shape (n, height, width) or (n, height, width, 3), and labels (n,).

    Examples
    --------
    >>> grey = np.array([[[0, 255]], [[7, 9]]], dtype=np.uint8)
    >>> split = ArraySplit(lambda: (grey, np.array([1, 0])))
    >>> [image.tolist() for image in split.images([1])]
    [[[[7, 7, 7], [9, 9, 9]]]]
    """

    load: Callable[[], tuple[Pixels, Labels]]

    @cached_property
    def _loaded(self) -> tuple[Pixels, Labels]:
        pixels, labels = self.load()
        if len(pixels) != len(labels):
            raise ValueError(
                f"expected one label per image, got {len(pixels)} images and {len(labels)} labels"
            )
        return pixels, labels.astype(np.int64)

    @property
    def labels(self) -> Labels:
        """Label of every row, shape (n,)."""
        return self._loaded[1]

    def images(self, rows: Rows) -> Iterator[Pixels]:
        """Yield arrays of shape (height, width, 3); grey images repeat their one channel."""
        pixels = self._loaded[0]
        for row in rows:
            image = pixels[row]
            yield image if image.ndim == 3 else np.repeat(image[:, :, None], 3, axis=2)

    def digest(self) -> str:
        """Hash of the pixels; it does not depend on the format of the archive."""
        pixels = self._loaded[0]
        digest = hashlib.sha256(repr(pixels.shape).encode())
        for start in range(0, len(pixels), 1024):
            digest.update(pixels[start : start + 1024].tobytes())
        return digest.hexdigest()
