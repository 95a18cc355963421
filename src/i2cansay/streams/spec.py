"""Streams by a short text: `step:5`, `gaussian`, `si_blurry:5,blurry=0.3`, `my_package.streams:Shuffled:3`.

The text is a name, optionally followed by `:` and parameters separated by commas. A parameter is `key=value`; the
first one may be the bare value of the stream's first parameter. A name is a key of `STREAMS`, an entry point of the
group `i2cansay.streams`, or "package.module:Class" for a class of your own, derived from `Stream`.
"""

from dataclasses import MISSING
from typing import get_type_hints

from i2cansay.core.import_by_name import find_class, is_import_name
from i2cansay.streams.stream import Labels, Stream
from i2cansay.streams.table import STREAMS

READERS = {int: int, float: float, str: str, int | None: int}


def make_stream(spec: str, y: Labels, *, batch_size: int = 50, seed: int = 0) -> Stream:
    """Build the stream that `spec` names over the labels `y`, shape (n,).

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat(np.arange(10), 30)
    >>> make_stream("step:2,epochs=3", y, seed=7)
    StepStream(classes_per_session=2, epochs=3, batch_size=50, seed=7)
    >>> make_stream("gaussian", y).n_sessions
    6
    >>> make_stream("iid:batches=3", y)
    Traceback (most recent call last):
    ...
    ValueError: the stream 'iid' has no parameter 'batches'; known: points; a bare first value is points
    """
    kind, text = _kind(spec.strip())
    return kind(y=y, batch_size=batch_size, seed=seed, **_read(kind, text))


def has_sessions(spec: str) -> bool:
    """Return whether the stream that `spec` names has sessions, without its labels.

    Examples
    --------
    >>> has_sessions("step:5"), has_sessions("gaussian")
    (True, False)
    """
    return _kind(spec.strip())[0].has_sessions


def _kind(spec: str) -> tuple[type[Stream], str]:
    """Return the class that a text names, and its parameters as text."""
    name, _, text = spec.partition(":")
    attribute, _, rest = text.partition(":")
    if name not in STREAMS and is_import_name(f"{name}:{attribute}"):
        name, text = f"{name}:{attribute}", rest
    kind = find_class(
        name,
        table=STREAMS,
        group="i2cansay.streams",
        base=Stream,  # type: ignore[type-abstract]
        noun="stream",
    )
    return kind, text


def _read(kind: type[Stream], text: str) -> dict[str, int | float | str]:
    parameters = kind.parameters()
    first = next(iter(parameters), "")
    known = f"known: {', '.join(parameters)}; a bare first value is {first}" if parameters else "it has none"
    hints = get_type_hints(kind)
    values: dict[str, int | float | str] = {}
    for position, part in enumerate(text.split(",") if text else []):
        key, equals, word = (piece.strip() for piece in part.partition("="))
        if not equals:
            if position > 0 or not key or not first:
                raise ValueError(f"expected key=value in the stream {kind.name!r}, got {part!r}; {known}")
            key, word = first, key
        if key not in parameters:
            raise ValueError(f"the stream {kind.name!r} has no parameter {key!r}; {known}")
        if key in values:
            raise ValueError(f"the parameter {key!r} of the stream {kind.name!r} is given twice")
        try:
            values[key] = READERS[hints[key]](word)
        except ValueError:
            wanted = "a whole number" if READERS[hints[key]] is int else "a number"
            raise ValueError(f"expected {wanted} for {key} of {kind.name!r}, got {word!r}") from None
    for name, parameter in parameters.items():
        if parameter.default is MISSING and name not in values:
            raise ValueError(f"the stream {kind.name!r} needs {name}: write for instance '{kind.name}:2'")
    return values
