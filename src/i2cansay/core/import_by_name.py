"""Finds classes by name: in a table of ours, by an entry point of another package, or as "package.module:Class"."""

import os
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any, TypeVar

Kind = TypeVar("Kind")
NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def is_import_name(name: str) -> bool:
    """Whether a name has the form "package.module:Class".

    >>> is_import_name("my_methods.median:Median"), is_import_name("ncm"), is_import_name("step:5")
    (True, False, False)
    """
    return NAME.fullmatch(name) is not None


def import_by_name(name: str) -> Any:
    """Import what "package.module:Class" names; the module may also be in the current folder.

    Only for names that a user types: importing a module runs it.

    Examples
    --------
    >>> import_by_name("fractions:Fraction")(1, 2)
    Fraction(1, 2)
    >>> import_by_name("sys:Half")
    Traceback (most recent call last):
    ValueError: the module sys (built-in) has no Half
    """
    if not is_import_name(name):
        raise ValueError(f'expected a name like "package.module:Class", got {name!r}')
    module, _, attribute = name.partition(":")
    top = module.partition(".")[0]
    if top not in sys.modules and find_spec(top) is None and os.getcwd() not in sys.path:
        # A console script does not search the current folder. It comes last, so that it hides nothing installed.
        sys.path.append(os.getcwd())
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module exists, but imports one that does not
        raise ValueError(
            f"there is no module {error.name} for {name!r}; install it, or run this in the folder that it is in"
        ) from None
    if not hasattr(found, attribute):
        # With its file: a module of the same name in the standard library hides one in the current folder.
        raise ValueError(
            f"the module {module} ({getattr(found, '__file__', None) or 'built-in'}) has no {attribute}"
        )
    return getattr(found, attribute)


def find_class(name: str, *, table: Mapping[str, str], group: str, base: type[Kind], noun: str) -> type[Kind]:
    """Return the class called `name`, importing its module.

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
    found = import_by_name(path)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise ValueError(
            f"expected {path!r} to be a {noun}, a class derived from {base.__module__}.{base.__qualname__}; "
            f"it is {found!r}"
        )
    return found
