"""Tensors of a file written by torch.save, read without torch and without trusting the file.

Such a file is a pickle, and a pickle is a program. The reader here runs it with a vocabulary of tensors and
dictionaries only: a file that asks for anything else is refused before it gets it.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

STORAGES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "|i1",
    "ByteStorage": "|u1",
    "BoolStorage": "|b1",
}
# What torch.save writes for a dictionary of tensors; a pickle that needs more is not one.
# fmt: off
OPCODES = frozenset({
    "PROTO", "STOP", "MARK", "POP", "POP_MARK", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1",
    "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "BINSTRING", "SHORT_BINSTRING", "EMPTY_DICT",
    "SETITEM", "SETITEMS", "EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_TUPLE", "TUPLE", "TUPLE1",
    "TUPLE2", "TUPLE3", "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET", "GLOBAL", "REDUCE", "BUILD",
    "BINPERSID",
})
# fmt: on
LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
# How many times over tensors may show the bytes of the file: tied weights do it twice.
SHARING = 4
DEEPEST = 4
WRAPPERS = ("state_dict", "model", "teacher", "student")


class CheckpointError(ValueError):
    """A checkpoint that cannot be read, asks for more than tensors, or belongs to another network."""


def read_torch(path: Path) -> dict[str, NDArray[Any]]:
    """Read the tensors of a file in either of torch's formats; CheckpointError where it is neither."""
    try:
        if not zipfile.is_zipfile(path):
            with path.open("rb") as stream:
                return _read_legacy(stream)
        with zipfile.ZipFile(path) as archive:
            return _read_zip(archive)
    except (CheckpointError, OSError, MemoryError):
        raise
    except Exception as error:  # a damaged file can fail anywhere in zipfile, pickle and what they build
        raise CheckpointError(
            f"the file is damaged, or not one written by torch.save ({type(error).__name__}: {error})"
        ) from error


def _read_zip(archive: zipfile.ZipFile) -> dict[str, NDArray[Any]]:
    """Today's format: `<root>/data.pkl` and one raw file per storage in `<root>/data/`."""
    pickles = [name for name in archive.namelist() if name.endswith("data.pkl")]
    if len(pickles) != 1:
        raise CheckpointError(f"expected one data.pkl inside, found {len(pickles)}")
    root = pickles[0].removesuffix("data.pkl")
    byteorder = f"{root}byteorder"
    if byteorder in archive.namelist() and archive.read(byteorder).strip() != b"little":
        raise CheckpointError("the file was written on a big-endian machine")
    if any(info.compress_type != zipfile.ZIP_STORED for info in archive.infolist()):
        raise CheckpointError(
            "its parts are compressed, which torch never does; unpacked they may fill the disk"
        )
    unpickler = TensorUnpickler(io.BytesIO(archive.read(pickles[0])))
    found = unpickler.load_checked()
    for key, storage in unpickler.storages.items():
        if f"{root}data/{key}" not in archive.namelist():
            raise CheckpointError(
                f"its tensors are views of storage {key[:50]!r}, which the file does not have"
            )
        info = archive.getinfo(f"{root}data/{key}")
        if info.file_size != storage.n_bytes:
            raise CheckpointError(f"storage {key} has {info.file_size} bytes instead of {storage.n_bytes}")
        storage.data = archive.read(info)
    return _arrays(found)


def _read_legacy(stream: IO[bytes]) -> dict[str, NDArray[Any]]:
    """The format before torch 1.6: five pickles in a row, then the storages one after the other."""
    if TensorUnpickler(stream).load_checked() != LEGACY_MAGIC:
        raise CheckpointError("this is not a file written by torch.save")
    TensorUnpickler(stream).load_checked()  # the protocol version
    system = TensorUnpickler(stream).load_checked()
    if not isinstance(system, dict) or not system.get("little_endian", False):
        raise CheckpointError("the file was written on a big-endian machine")
    unpickler = TensorUnpickler(stream)
    found = unpickler.load_checked()
    start = stream.tell()
    size = stream.seek(0, io.SEEK_END)
    stream.seek(start)
    for key in TensorUnpickler(stream).load_checked():
        count = int.from_bytes(stream.read(8), "little")
        storage = unpickler.storages.get(key)
        if storage is None or storage.count != count:
            raise CheckpointError(f"storage {key!r} is not the one its tensors describe")
        # Asking for more than there is would reserve the memory first.
        storage.data = stream.read(min(storage.n_bytes, size))
    return _arrays(found)


@dataclass
class Storage:
    """A run of numbers in the file that tensors are views of; filled after the pickle was read."""

    dtype: str
    count: int
    data: bytes = b""

    @property
    def item_bytes(self) -> int:
        return 2 if self.dtype == "bfloat16" else np.dtype(self.dtype).itemsize

    @property
    def n_bytes(self) -> int:
        return self.count * self.item_bytes

    @cached_property
    def numbers(self) -> NDArray[Any]:
        return decode(self.data, self.dtype)

    def __setstate__(self, state: object) -> None:
        raise CheckpointError("the file tries to rewrite a storage")


@dataclass
class TensorView:
    """A tensor as the pickle describes it: a view of a storage."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def __setstate__(self, state: object) -> None:
        """Old parameters carry `requires_grad` and hooks as state; weights need neither."""

    def check(self) -> None:
        """Refuse a view of what its storage does not have."""
        numbers = (self.offset, *self.shape, *self.strides)
        if len(self.shape) != len(self.strides) or any(type(n) is not int or n < 0 for n in numbers):
            raise CheckpointError(f"a tensor has the impossible shape {self.shape}, strides {self.strides}")
        size = math.prod(self.shape)
        last = self.offset + sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))
        # A view larger than its storage (stride 0) is legal torch, but no weight, and could fill the memory.
        if size and (last >= self.storage.count or size > self.storage.count):
            raise CheckpointError(f"a tensor of shape {self.shape} reaches beyond its storage")
        if len(self.storage.data) != self.storage.n_bytes:
            raise CheckpointError("the file ends before its last tensor: was the download cut off?")

    def array(self) -> NDArray[Any]:
        """A copy of what the view shows, after `check`."""
        flat = self.storage.numbers
        if 0 in self.shape:
            return np.zeros(self.shape, dtype=flat.dtype)
        steps = tuple(step * flat.itemsize for step in self.strides)
        return np.lib.stride_tricks.as_strided(flat[self.offset :], self.shape, steps).copy()


class TensorUnpickler(pickle.Unpickler):
    """An unpickler whose whole vocabulary is tensors, storages and dictionaries."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream, encoding="latin-1")
        self._stream = stream
        self.storages: dict[str, Storage] = {}

    def load_checked(self) -> Any:
        """Load one pickle after looking through its opcodes."""
        start = self._stream.tell()
        for opcode, argument, position in pickletools.genops(self._stream):
            if opcode.name not in OPCODES:
                raise CheckpointError(f"the pickle uses {opcode.name}, which no dictionary of tensors needs")
            # The C unpickler allocates memo slots up to the number it is told.
            if opcode.name == "LONG_BINPUT" and isinstance(argument, int) and argument > (position or 0) + 1:
                raise CheckpointError("the pickle numbers its memo beyond its own length")
        end = self._stream.tell()
        self._stream.seek(start)
        loaded = self.load()
        self._stream.seek(end)
        return loaded

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        if (module, name) in ALLOWED:
            return ALLOWED[module, name]()
        raise CheckpointError(
            f"the file asks for {module}.{name}; only tensors are accepted. "
            "Save the model's state_dict() on its own, or as .safetensors"
        )

    def persistent_load(self, pid: Any) -> Storage:
        """Storages stand in the pickle as ("storage", type, key, device, count[, view])."""
        match pid:
            case ("storage", str(dtype), str(key), str(), int(count), *rest) if count >= 0:
                if rest not in ([], [None]):
                    raise CheckpointError("storages that are views of other storages are not supported")
                return self.storages.setdefault(key, Storage(dtype, count))
        raise CheckpointError("the file describes a tensor in an unknown way")


def _rebuild_tensor() -> Callable[..., TensorView]:
    def rebuild(storage: Storage, offset: int, shape: Any, strides: Any, *_: object) -> TensorView:
        if not isinstance(storage, Storage):
            raise CheckpointError("a tensor without a storage")
        return TensorView(storage, offset, tuple(shape), tuple(strides))

    return rebuild


def _rebuild_parameter() -> Callable[..., TensorView]:
    def rebuild(data: TensorView, *_: object) -> TensorView:
        if not isinstance(data, TensorView):
            raise CheckpointError("a parameter without a tensor")
        return data

    return rebuild


# Makers rather than the objects themselves: a pickle may write attributes on what it is given, so each load
# gets functions of its own.
ALLOWED: Mapping[tuple[str, str], Callable[[], Any]] = {
    ("collections", "OrderedDict"): lambda: OrderedDict,
    ("torch._utils", "_rebuild_tensor"): _rebuild_tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
    ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    ("torch.nn.parameter", "Parameter"): _rebuild_parameter,
}


def decode(data: bytes, dtype: str) -> NDArray[Any]:
    """Turn raw bytes into a flat array; bfloat16 becomes float32."""
    if dtype != "bfloat16":
        return np.frombuffer(data, dtype=dtype)
    # bfloat16 is the upper half of a float32
    return (np.frombuffer(data, dtype="<u2").astype(np.uint32) << 16).view(np.float32)


def _arrays(found: Any, depth: int = 0) -> dict[str, NDArray[Any]]:
    """The tensors of a loaded dictionary, or of the dictionary it wraps."""
    if not isinstance(found, dict):
        raise CheckpointError(f"expected a dictionary of tensors, found {type(found).__name__}")
    for wrapper in WRAPPERS:
        if isinstance(found.get(wrapper), dict):
            if depth == DEEPEST:
                raise CheckpointError(f"its dictionaries are nested more than {DEEPEST} deep")
            return _arrays(found[wrapper], depth + 1)
    views = {
        key: view for key, view in found.items() if isinstance(view, TensorView) and isinstance(key, str)
    }
    _check_views(views.values())
    return {key: view.array() for key, view in views.items()}


def _check_views(views: Collection[TensorView]) -> None:
    """Refuse views that share storages so often that the copies made of them could fill the memory."""
    for view in views:
        view.check()
    stored = sum({id(view.storage): view.storage.n_bytes for view in views}.values())
    shown = sum(math.prod(view.shape) * view.storage.item_bytes for view in views)
    if shown > SHARING * stored:
        raise CheckpointError(
            f"its tensors show {shown} bytes, of which only {stored} are in the file; "
            "save copies of those that share their memory"
        )
