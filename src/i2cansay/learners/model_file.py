"""A learner in one file: safetensors, with a header naming the learner, its parameters and the version."""

import hashlib
import json
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from i2cansay.core.types import State
from i2cansay.disk.atomic import write_atomically
from i2cansay.learners import LEARNERS, learner_class
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.state_checks import measure

FORMAT = "i2cansay-learner"
VERSION = 1
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
    learner._check_structural()
    parameters = {name: _plain(name, value) for name, value in learner.get_params(deep=False).items()}
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
    arrays = {name: np.ascontiguousarray(array) for name, array in state.items()}
    header["checksum"] = _checksum(arrays, header)
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to save {target.name} in")
    write_atomically(target, lambda place: save_file(arrays, place, metadata=header))


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
    if "encoder" in extra:
        # Handing out the learner alone would lose the encoder when it is saved again.
        raise ValueError(
            f"{path} holds a learner of images: open it with ImageLearner.load(path); "
            "its attribute `learner` is the one over features"
        )
    return found


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
    cls = _class_of(header, Path(path), learner)
    try:
        empty = _empty(cls, json.loads(header["parameters"]))
        extra = {str(name): str(value) for name, value in json.loads(header.get("extra", "{}")).items()}
        if allow is not None:
            allow(empty, *(measure(state) if state else (1, 1)))
        return empty.set_state(state), extra
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged or was made by another program: {error}") from error


def _empty(cls: type[OnlineClassifier], parameters: dict[str, Any]) -> OnlineClassifier:
    if unknown := sorted(set(parameters) - set(cls().get_params(deep=False))):
        raise ValueError(f"{cls.__name__} has no parameter {', '.join(unknown)[:100]}")
    # JSON has no tuples; a list that was given comes back as one too.
    return cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in parameters.items()})


def _class_of(
    header: dict[str, str], path: Path, given: type[OnlineClassifier] | None
) -> type[OnlineClassifier]:
    name = header.get("learner", "")
    known = learner_class(name) if name in LEARNERS else None
    if given is not None:
        if known is not None and not issubclass(given, known):
            raise ValueError(f"{path} holds the learner {name!r} ({known.__name__}), not {given.__name__}")
        return given
    if known is None:
        raise ValueError(
            f"{path} was written by {name!r}, which is not a learner of this i2cansay; for a class of your own use "
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
            if header.get("format") != FORMAT:
                raise ValueError(f"{path} is a safetensors file, but not a model of i2cansay")
            if not header.get("version", "").isdecimal() or int(header["version"]) < 1:
                raise ValueError(f"{path} does not say which version of the file format it is; it is damaged")
            if int(header["version"]) > VERSION:
                raise ValueError(
                    f"{path} was written by a newer i2cansay (file version {header['version']}, "
                    f"this one reads up to {VERSION}); upgrade i2cansay to open it"
                )
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, TypeError, AttributeError, OverflowError) as error:  # a type numpy does not have
        raise ValueError(
            f"{path} is not a model file of i2cansay, or not all of it: is it another file, or was it cut short?"
        ) from error
    if _checksum(state, header) != header.get("checksum"):
        raise ValueError(f"{path} is damaged: its content does not match its checksum; use a backup")
    state.pop("empty", None)
    return header, state


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
