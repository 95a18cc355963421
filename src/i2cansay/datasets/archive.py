"""Reads members of an archive, packed or unpacked, into memory; nothing is written to disk."""

from __future__ import annotations

import gzip
import lzma
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

#: What the standard library raises if a compressed tar is damaged or cut short.
DAMAGED = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)
_PIECE = 1 << 20
#: The largest data set here has some 165,000 files, and 12 GB.
MOST_MEMBERS = 1_000_000
MOST_BYTES = 100 * 2**30
LARGEST_MEMBER = 2**30
TOO_MUCH = f"it would unpack to more than {MOST_MEMBERS} files or {MOST_BYTES >> 30} GB"


def check_entries(path: Path, archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the entries of a tar; raise ValueError at an entry that no archive of a data set has."""
    size = 0
    for number, entry in enumerate(archive, start=1):
        size += entry.size
        check_members(path, [(entry.name, entry.size)])
        if entry.issparse() or not (entry.isfile() or entry.isdir() or entry.issym() or entry.islnk()):
            raise ValueError(
                f"{path} is refused: {entry.name[:100]!r} is neither a file, a folder nor a link"
            )
        if number > MOST_MEMBERS or size > MOST_BYTES:
            raise ValueError(f"{path} is refused: {TOO_MUCH}")
        yield entry


def check_members(path: Path, members: Sequence[tuple[str, int]]) -> None:
    """Raise ValueError if a member, a name and a size, would leave the folder, or if there are too many."""
    for name, _ in members:
        parts = name.replace("\\", "/")
        if parts.startswith("/") or ".." in parts.split("/") or parts[1:2] == ":":
            raise ValueError(f"{path} is refused: {name[:100]!r} would be written outside its folder")
    if len(members) > MOST_MEMBERS or sum(size for _, size in members) > MOST_BYTES:
        raise ValueError(f"{path} is refused: {TOO_MUCH}")


def find_archive(folder: Path, *, unpacked: str, packed: str, members: Sequence[str]) -> Path | None:
    """Find an archive in a folder: the unpacked folder first, then the packed file.

    Parameters
    ----------
    folder : where to look; may be the unpacked folder or the packed file itself.
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
    """Return the contents of members, given by file name, in the given order.

    A compressed tar can only be read from its start, so one pass collects all members. It reads to the very end,
    where the checksum of the compression is; otherwise a flipped bit could pass for a pixel.
    """
    if path.is_dir():
        return [(path / member).read_bytes() for member in members]
    contents: dict[str, bytes] = {}
    try:
        with tarfile.open(path) as archive:
            for entry in check_entries(path, archive):
                name = PurePosixPath(entry.name).name
                if entry.isfile() and name in members:
                    if entry.size > LARGEST_MEMBER:
                        raise ValueError(f"{path} is refused: {name} would take {entry.size} bytes of memory")
                    file = archive.extractfile(entry)
                    contents[name] = b"" if file is None else file.read()
            # The entries end before the file does, or at a damaged header.
            while archive.fileobj is not None and archive.fileobj.read(_PIECE):
                pass
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged or incomplete ({error}): fetch it again") from error
    missing = [member for member in members if member not in contents]
    if missing:
        raise ValueError(f"{path} does not hold {', '.join(missing)}: fetch it again")
    return [contents[member] for member in members]
