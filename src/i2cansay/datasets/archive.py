"""Members of an archive, read in memory whether it is packed or unpacked; nothing is written to disk."""

from __future__ import annotations

import gzip
import lzma
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

#: What the standard library raises where a compressed tar is damaged or cut short.
DAMAGED = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)
_PIECE = 1 << 20


def find_archive(folder: Path, *, unpacked: str, packed: str, members: Sequence[str]) -> Path | None:
    """Find an archive in a folder: the unpacked folder first, then the packed file.

    Parameters
    ----------
    folder : where to look; the unpacked folder or the packed file itself will do as well.
    unpacked : name of the folder that unpacking gives.
    packed : pattern of the packed file's name.
    members : files that an unpacked folder must hold to be recognised.
    """
    for candidate in (folder, folder / unpacked):
        if all((candidate / member).is_file() for member in members):
            return candidate
    if folder.is_file():
        return folder if folder.match(packed) else None
    return next((path for path in sorted(folder.glob(packed)) if path.is_file()), None)


def read_members(path: Path, members: Sequence[str]) -> list[bytes]:
    """Contents of these members, by file name, in the order asked for.

    A compressed tar can only be read from its start, so one pass collects them all. It goes on to the very
    end, where the compressor's checksum is: a flipped bit would otherwise pass for a pixel.
    """
    if path.is_dir():
        return [(path / member).read_bytes() for member in members]
    contents: dict[str, bytes] = {}
    try:
        with tarfile.open(path) as archive:
            for entry in archive:
                name = PurePosixPath(entry.name).name
                if entry.isfile() and name in members:
                    file = archive.extractfile(entry)
                    contents[name] = b"" if file is None else file.read()
            # The list ends before the file does, or at a header that is no longer one.
            while archive.fileobj is not None and archive.fileobj.read(_PIECE):
                pass
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged or not complete ({error}): fetch it again") from error
    missing = [member for member in members if member not in contents]
    if missing:
        raise ValueError(f"{path} does not hold {', '.join(missing)}: fetch it again")
    return [contents[member] for member in members]
