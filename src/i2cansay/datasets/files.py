"""A split whose images are separate files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from i2cansay.datasets.contents import file_digest
from i2cansay.datasets.dataset import Labels, Rows

#: Endings of image files.
IMAGE_ENDINGS = frozenset(
    (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm", ".pgm", ".avif")
)


def is_image(path: Path) -> bool:
    """Whether a path looks like an image file that is not hidden."""
    return path.suffix.lower() in IMAGE_ENDINGS and not path.name.startswith(".")


@dataclass(frozen=True)
class FileSplit:
    """Image files below a folder.

    Parameters
    ----------
    root : the folder.
    paths : path of every row relative to `root`, with forward slashes.
    labels : int64 of shape (n,).
    read_contents : whether to hash the contents of the files, so that every edit is noticed, as in a user's own
        folder. Of an official tree only names and sizes are hashed, to avoid reading 165,000 files: a different or
        incomplete copy is noticed, a change that keeps the size of a file is not.
    """

    root: Path
    paths: tuple[str, ...]
    labels: Labels
    read_contents: bool = False

    def images(self, rows: Rows) -> Iterator[Path]:
        """Yield the files' paths."""
        for row in rows:
            yield self.root / self.paths[row]

    def digest(self) -> str:
        """Hash of names and sizes, or of names and contents (`read_contents`)."""
        digest = hashlib.sha256()
        for path in self.paths:
            file = self.root / path
            try:
                content = file_digest(file) if self.read_contents else str(file.stat().st_size)
            except FileNotFoundError:
                raise FileNotFoundError(f"{file} is missing: unpack the archive again") from None
            digest.update(f"{path}\0{content}\0".encode())
        return digest.hexdigest()
