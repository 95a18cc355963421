"""Classes by name: from a table of ours, an entry point of another package, or as "module:Class".

Modules are imported when their class is asked for, so that reading a table imports nothing.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import TypeVar

Kind = TypeVar("Kind")


def find_class(name: str, *, table: Mapping[str, str], group: str, base: type[Kind], noun: str) -> type[Kind]:
    """Return the class called `name`.

    Parameters
    ----------
    name : str
        A name of `table`, of an entry point of `group`, or "package.module:Class".
    base : type
        What the class must derive from.
    noun : str
        What such a class is called in messages.

    Examples
    --------
    >>> find_class("decimal:Decimal", table={}, group="i2cansay.numbers", base=object, noun="number")
    <class 'decimal.Decimal'>
    >>> find_class("seven", table={"one": "builtins:int"}, group="i2cansay.numbers", base=object, noun="number")
    Traceback (most recent call last):
    ...
    ValueError: there is no number 'seven'; known are one; one of your own is given as "package.module:Class"
    """
    installed = {} if name in table or ":" in name else {e.name: e.value for e in entry_points(group=group)}
    path = table.get(name) or installed.get(name) or (name if ":" in name else None)
    if path is None:
        known = ", ".join(sorted({*table, *installed}))
        raise ValueError(
            f'there is no {noun} {name!r}; known are {known}; one of your own is given as "package.module:Class"'
        )
    found = _import(path, noun)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise ValueError(
            f"expected {path!r} to be a {noun}, a class derived from {base.__module__}.{base.__qualname__}; "
            f"it is {found!r}"
        )
    return found


def _import(path: str, noun: str) -> object:
    module, _, attribute = path.partition(":")
    if not module or not attribute.isidentifier():
        raise ValueError(f'expected a {noun} as "package.module:Class", got {path!r}')
    try:
        found: object = getattr(import_module(module), attribute)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{module}.".startswith(f"{missing.name}."):
            raise  # something that the module itself imports
        raise ValueError(
            f"there is no module {missing.name!r} for the {noun} {path!r}; is its folder on PYTHONPATH?"
        ) from None
    except AttributeError:
        raise ValueError(f"the module {module!r} has no class {attribute!r}") from None
    return found
