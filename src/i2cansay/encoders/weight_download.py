"""Fetching an official file of weights."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.error import URLError
from urllib.request import urlopen

from i2cansay.encoders.recipe import OfficialFile, Recipe

CHUNK = 2**20
SECONDS = 30


def choose_file(recipe: Recipe, name: str | None = None) -> OfficialFile:
    """Return the official file called `name`, or the recommended one."""
    offered = [file for file in recipe.files if file.url]
    if not offered:
        raise ValueError(f"there is no address to download {recipe.name} from; {recipe.how_to_get()}")
    for file in offered:
        if name in (None, file.name):
            return file
    raise ValueError(f"{recipe.name} has the files {', '.join(file.name for file in offered)}, got {name!r}")


@contextmanager
def downloaded(
    recipe: Recipe,
    file: OfficialFile,
    say: Callable[[str], object],
    open_url: Callable[..., Any] = urlopen,
) -> Iterator[Path]:
    """Download a file and check its hash; it exists as long as the block runs.

    Parameters
    ----------
    recipe : Recipe
        Whose file it is; it says what to do where there is no network.
    file : OfficialFile
    say : callable
        Called with a sentence: name and size before the download, and a warning after it if the publisher names no
        checksum.
    open_url : callable
        (url, timeout=) to a response, as `urllib.request.urlopen`.
    """
    with tempfile.TemporaryDirectory(prefix="i2cansay-") as folder:
        path = Path(folder) / file.name
        try:
            with open_url(file.url, timeout=SECONDS) as response, path.open("wb") as stream:
                length = response.headers.get("Content-Length")
                size = f"{int(length) / 1e6:.1f} MB" if length else "size unknown"
                say(f"downloading {file.name} ({size}) from {file.url}")
                digest, n_bytes = _copy(response, stream)
        except (URLError, TimeoutError, ConnectionError) as error:
            raise ConnectionError(f"cannot reach {file.url}: {recipe.how_to_get()}") from error
        if length and n_bytes != int(length):
            raise ConnectionError(
                f"the download of {file.name} stopped after {n_bytes} of {length} bytes; try again"
            )
        if not digest.startswith(file.sha256):
            raise ValueError(
                f"{file.name} has the sha256 {digest[:8]}..., expected {file.sha256}...; it was not used"
            )
        if not file.sha256:
            say(
                f"warning: the publisher of {file.name} names no checksum, so only its address tells that "
                f"this is the right file; its sha256 is {digest}"
            )
        yield path


def _copy(source: Any, target: IO[bytes]) -> tuple[str, int]:
    """Copy a stream; return the sha256 and the length of what came."""
    digest, n_bytes = hashlib.sha256(), 0
    while chunk := source.read(CHUNK):
        target.write(chunk)
        digest.update(chunk)
        n_bytes += len(chunk)
    return digest.hexdigest(), n_bytes
