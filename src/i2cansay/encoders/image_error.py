"""The error of an image that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence


class ImageError(ValueError):
    """An image that cannot be used.

    Attributes
    ----------
    index : int or None
        Its place among the images that were given, where there were several.
    """

    def __init__(self, reason: str, index: int | None = None) -> None:
        super().__init__(reason if index is None else f"image {index}: {reason}")
        self.reason = reason
        self.index = index

    def at(self, index: int) -> ImageError:
        """Return the same error for the image at `index`."""
        return ImageError(self.reason, index)


def summary_of(errors: Sequence[ImageError]) -> ImageError:
    """One error that names every image that could not be read.

    Examples
    --------
    >>> str(summary_of((ImageError("empty", 3), ImageError("damaged", 7))))
    '2 images cannot be read: image 3: empty; image 7: damaged'
    """
    if len(errors) == 1:
        return errors[0]
    return ImageError(f"{len(errors)} images cannot be read: " + "; ".join(map(str, errors)))
