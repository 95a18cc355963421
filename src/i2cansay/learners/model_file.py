"""A learner in one file: safetensors, with a header naming the learner, its parameters and the version."""

import hashlib
import json
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays
from safetensors.numpy import save_file

from i2cansay.core.state_parts import add_prefix, strip_prefix
from i2cansay.core.types import State
from i2cansay.disk.atomic import write_atomically
from i2cansay.learners import LEARNERS, learner_class
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.state_checks import measure

FORMAT = "i2cansay-learner"
VERSION = 1
# How messages name a model that came as bytes.
OF_BYTES = "the model in these bytes"
# Before the names of arrays that make up a parameter (`array_parameters`), not something learnt.
PARAMETER = "parameter"
# What a file raises that is none of ours, or whose arrays are of a type that numpy does not have.
UNREADABLE = (SafetensorError, TypeError, AttributeError, OverflowError)
# What a file raises whose checksum is right and whose content is not.
DAMAGED = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError, RecursionError)


def save(
    learner: OnlineClassifier, path: str | PathLike[str], *, extra: Mapping[str, str] | None = None
) -> None:
    """Write `learner` to `path`; a file that was there is replaced whole or not at all.

    Parameters
    ----------
    extra : mapping of strings, optional
        What the learner cannot be used without, as the name of its encoder; `load_with_extra` reads it back.
    """
    arrays, header = _content(learner, extra)
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to save {target.name} in")
    write_atomically(target, lambda place: save_file(arrays, place, metadata=header))


def to_bytes(learner: OnlineClassifier, *, extra: Mapping[str, str] | None = None) -> bytes:
    """Return what `save` writes, as bytes to be sent elsewhere; `from_bytes` reads it."""
    arrays, header = _content(learner, extra)
    data: bytes = save_arrays(arrays, metadata=header)
    return data


def header_of(learner: OnlineClassifier, *, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the header of the file that `save` would write: learner, parameters, checksum."""
    return _content(learner, extra)[1]


def _content(learner: OnlineClassifier, extra: Mapping[str, str] | None) -> tuple[State, dict[str, str]]:
    """Return the arrays of a file and its header."""
    learner._check_structural()
    of_arrays = learner.array_parameters
    parameters = {
        name: None if name in of_arrays else _plain(name, value)
        for name, value in learner.get_params(deep=False).items()
    }
    header = {
        "format": FORMAT,
        "version": str(VERSION),
        "learner": _name_of(learner),
        "parameters": json.dumps(parameters),
    }
    if extra:
        header["extra"] = json.dumps(dict(extra))
    # A file must hold at least one tensor; a learner that has seen nothing has none.
    state = learner._whole_state() or {"empty": np.zeros(0)}
    for name in of_arrays:
        if (value := getattr(learner, name)) is not None:
            state = state | add_prefix(f"{PARAMETER}.{name}", value.to_arrays())
    arrays = {name: np.ascontiguousarray(array) for name, array in state.items()}
    header["checksum"] = _checksum(arrays, header)
    return arrays, header


def load(path: str | PathLike[str], learner: type[OnlineClassifier] | None = None) -> OnlineClassifier:
    """Return the learner that `save` wrote, ready to go on learning bit for bit.

    Parameters
    ----------
    learner : class, optional
        Your own class, where the file was written by a learner that is not in `LEARNERS`.

    Examples
    --------
    >>> import tempfile, i2cansay
    >>> folder = tempfile.TemporaryDirectory()
    >>> model = i2cansay.I2CANSAY().partial_fit([[0.0], [1.0]], ["low", "high"])
    >>> model.save(f"{folder.name}/model.i2cs")
    >>> i2cansay.load(f"{folder.name}/model.i2cs").predict([[0.9]])
    array(['high'], dtype='<U4')
    >>> folder.cleanup()
    """
    found, extra = load_with_extra(path, learner)
    _check_plain(extra, str(path), "ImageLearner.load(path)")
    return found


def from_bytes(data: bytes, learner: type[OnlineClassifier] | None = None) -> OnlineClassifier:
    """Return the learner that `to_bytes` gave, or whose file was read; ready to go on learning bit for bit.

    Parameters
    ----------
    learner : class, optional
        Your own class, as in `load`.

    Examples
    --------
    >>> import i2cansay
    >>> data = i2cansay.I2CANSAY().partial_fit([[0.0], [1.0]], ["low", "high"]).to_bytes()
    >>> i2cansay.from_bytes(data).predict([[0.9]])
    array(['high'], dtype='<U4')
    """
    header, state = _parse(data)
    found, extra = _open(header, state, OF_BYTES, learner)
    _check_plain(extra, OF_BYTES, "ImageLearner.load, from a file")
    return found


def _check_plain(extra: Mapping[str, str], where: str, how: str) -> None:
    if "encoder" in extra:
        # Handing out the learner alone would lose the encoder when it is saved again.
        raise ValueError(
            f"{where} holds a learner of images: open it with {how}; "
            "its attribute `learner` is the one over features"
        )


def load_with_extra(
    path: str | PathLike[str],
    learner: type[OnlineClassifier] | None = None,
    *,
    allow: Callable[[OnlineClassifier, int, int], None] | None = None,
) -> tuple[OnlineClassifier, dict[str, str]]:
    """Return the learner that `save` wrote and the `extra` it was given, {} for none.

    Parameters
    ----------
    allow : function, optional
        Called with the untaught learner, the width of its features and the number of its classes (1 and 1 where
        the file holds nothing learnt), before anything of that size is made; raises where it is not wanted.
    """
    header, state = _read(Path(path))
    return _open(header, state, str(path), learner, allow)


def _open(
    header: dict[str, str],
    state: State,
    where: str,
    learner: type[OnlineClassifier] | None,
    allow: Callable[[OnlineClassifier, int, int], None] | None = None,
) -> tuple[OnlineClassifier, dict[str, str]]:
    cls = _class_of(header, where, learner)
    try:
        state, made = _split_parameters(cls, state)
        empty = _empty(cls, {**json.loads(header["parameters"]), **made})
        extra = {str(name): str(value) for name, value in json.loads(header.get("extra", "{}")).items()}
        if allow is not None:
            allow(empty, *(measure(state) if state else (1, 1)))
        return empty.set_state(state), extra
    except DAMAGED as error:
        raise ValueError(f"{where} is damaged or was made by another program: {error}") from error


def _split_parameters(cls: type[OnlineClassifier], state: State) -> tuple[State, dict[str, Any]]:
    """Return the arrays that were learnt, and the parameters that the other arrays make up."""
    learnt = {name: array for name, array in state.items() if not name.startswith(f"{PARAMETER}.")}
    made = {}
    for name, kind in cls.array_parameters.items():
        if arrays := strip_prefix(state, f"{PARAMETER}.{name}"):
            made[name] = kind.from_arrays(arrays)
    return learnt, made


def _empty(cls: type[OnlineClassifier], parameters: dict[str, Any]) -> OnlineClassifier:
    if unknown := sorted(set(parameters) - set(cls().get_params(deep=False))):
        raise ValueError(f"{cls.__name__} has no parameter {', '.join(unknown)[:100]}")
    # JSON has no tuples; a list that was given comes back as one too.
    return cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in parameters.items()})


def _class_of(
    header: dict[str, str], where: str, given: type[OnlineClassifier] | None
) -> type[OnlineClassifier]:
    name = header.get("learner", "")
    known = learner_class(name) if name in LEARNERS else None
    if given is not None:
        if known is not None and not issubclass(given, known):
            raise ValueError(f"{where} holds the learner {name!r} ({known.__name__}), not {given.__name__}")
        return given
    if known is None:
        raise ValueError(
            f"{where} was written by {name!r}, which is not a learner of this i2cansay; for a class of your own use "
            f"load(path, learner=YourClass), or on the command line --learner {name}"
        )
    return known


def _read(path: Path) -> tuple[dict[str, str], State]:
    if not path.exists():
        raise FileNotFoundError(f"there is no model file {path}")
    if not path.is_file():
        raise ValueError(f"{path} is not a file; give the path of a saved model")
    try:
        with safe_open(path, framework="numpy") as file:
            header: dict[str, str] = file.metadata() or {}
            _check_version(header, str(path))
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except UNREADABLE as error:
        raise _unreadable(str(path)) from error
    return header, _checked(header, state, str(path))


def _parse(data: bytes) -> tuple[dict[str, str], State]:
    try:
        arrays = load_arrays(bytes(data))  # checks the layout, and with it the length of the header
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size]).get("__metadata__") or {}
    except (*UNREADABLE, KeyError) as error:
        raise _unreadable(OF_BYTES) from error
    _check_version(header, OF_BYTES)
    return header, _checked(header, arrays, OF_BYTES)


def _unreadable(where: str) -> ValueError:
    return ValueError(
        f"{where} is not a model file of i2cansay, or not all of it: is it another file, or was it cut short?"
    )


def _check_version(header: Mapping[str, str], where: str) -> None:
    if header.get("format") != FORMAT:
        raise ValueError(f"{where} is a safetensors file, but not a model of i2cansay")
    if not header.get("version", "").isdecimal() or int(header["version"]) < 1:
        raise ValueError(f"{where} does not say which version of the file format it is; it is damaged")
    if int(header["version"]) > VERSION:
        raise ValueError(
            f"{where} was written by a newer i2cansay (file version {header['version']}, "
            f"this one reads up to {VERSION}); upgrade i2cansay to open it"
        )


def _checked(header: Mapping[str, str], state: State, where: str) -> State:
    if _checksum(state, header) != header.get("checksum"):
        raise ValueError(f"{where} is damaged: its content does not match its checksum; use a backup")
    state.pop("empty", None)
    return state


def _checksum(arrays: State, header: Mapping[str, str]) -> str:
    """Return a hash of the header and of all arrays: names, types, shapes and every byte."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps({**header, "checksum": ""}, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _name_of(learner: OnlineClassifier) -> str:
    path = f"{type(learner).__module__}:{type(learner).__qualname__}"
    return next((name for name, known in LEARNERS.items() if known == path), path)


def _plain(name: str, value: Any) -> Any:
    """Return a parameter as JSON has it; the state of a generator given as seed is in the arrays."""
    if name == "random_state" and not isinstance(value, int | np.integer):
        return None
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple) and all(isinstance(entry, int | np.integer) for entry in value):
        return [int(entry) for entry in value]
    raise ValueError(
        f"the parameter {name}={value!r} cannot be written to a file; use a number, a string or whole numbers"
    )
