"""Fetches official files: announces their size, checks them, and puts them in place only when complete."""

from __future__ import annotations

import hashlib
import http.client
import shlex
import shutil
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

from i2cansay.datasets.archive import DAMAGED, check_entries, check_members
from i2cansay.datasets.dataset import Dataset
from i2cansay.datasets.definition import Definition, Download

_PIECE = 1 << 20
_SECONDS = 30


def fetch(definition: Definition, folder: Path, *, announce: Callable[[str], None]) -> Dataset:
    """Download a data set's official files into `folder` and open it.

    `announce` is called with one sentence before each download: what is fetched, from where, and its size.
    """
    if not definition.downloads:
        raise ValueError(
            f"{definition.name} cannot be fetched. {definition.files} Source: {definition.source}"
        )
    for download in definition.downloads:
        target = folder / download.file
        if target.is_file() and _matches(target, download):
            announce(f"{target} exists already")
        else:
            _download(definition, download, target, announce)
        _unpack(download, target)
    return definition.open(folder)


def adopt(definition: Definition, file: Path, folder: Path) -> Dataset:
    """Copy an archive that was fetched by hand into `folder`, after checking its hash if that is known."""
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}. {definition.files}")
    official = next((entry for entry in definition.downloads if entry.file == file.name), None)
    if official is None:
        # Not the official file: it must be in one of the other layouts, or this raises before anything is copied.
        definition.open(file)
    else:
        _check(file, official)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / file.name
    if not (target.exists() and target.samefile(file)):
        partial = _partial(target)
        shutil.copyfile(file, partial)
        partial.replace(target)
    if official is not None:
        _unpack(official, target)
    return definition.open(folder)


def _download(
    definition: Definition, download: Download, target: Path, announce: Callable[[str], None]
) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = _partial(target)
    try:
        with urllib.request.urlopen(download.url, timeout=_SECONDS) as response:
            size = download.size or int(response.headers.get("Content-Length") or 0)
            announce(f"fetching {download.url} ({size / 1e6:.1f} MB) to {target}")
            free = shutil.disk_usage(target.parent).free
            if size > free:
                raise OSError(f"{target.parent} has {free / 1e6:.0f} MB left, {size / 1e6:.0f} MB are needed")
            with partial.open("wb") as file:
                shutil.copyfileobj(response, file, _PIECE)
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
        partial.unlink(missing_ok=True)
        reason = getattr(error, "reason", error)
        known = "" if download.size is None else f" ({download.size / 1e6:.1f} MB)"
        raise OSError(
            f"{download.url} could not be fetched ({reason}). "
            f"Fetch it{known} on a machine with a network and {_by_hand(definition, download, target)}"
        ) from error
    try:
        _check(partial, download)
    except ValueError:
        partial.unlink()
        raise
    partial.replace(target)


def _by_hand(definition: Definition, download: Download, target: Path) -> str:
    if not download.unpack:
        return f"put it into {target.parent}"
    # A packed file in that folder would not be found: only this command unpacks.
    folder = shlex.quote(str(target.parent))
    return f"install it with: i2cansay data get {definition.name} --from {download.file} --to {folder}"


def _partial(target: Path) -> Path:
    return target.with_name(target.name + ".part")


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        # MD5 is what the publishers give; it guards against damage, not against malice.
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _matches(path: Path, download: Download) -> bool:
    return download.md5 is None or _md5(path) == download.md5


def _check(path: Path, download: Download) -> None:
    if not _matches(path, download):
        raise ValueError(
            f"{download.file}: expected the MD5 {download.md5}, got {_md5(path)}; "
            f"it is damaged or incomplete: fetch it again from {download.url}"
        )


def _unpack(download: Download, archive: Path) -> None:
    """Unpack beside the archive; every member is checked first, and a bad one leaves nothing behind."""
    if not download.unpack:
        return
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                check_members(archive, [(info.filename, info.file_size) for info in packed.infolist()])
                packed.extractall(archive.parent)
        else:
            with tarfile.open(archive) as packed_tar:
                for entry in check_entries(archive, packed_tar):
                    tarfile.data_filter(
                        entry, str(archive.parent)
                    )  # raises on links out of the folder, devices
                packed_tar.extractall(archive.parent, filter="data")
    except (zipfile.BadZipFile, *DAMAGED) as error:
        raise ValueError(
            f"{archive} cannot be unpacked ({error}): fetch it again from {download.url}"
        ) from error
