"""Torch, which only some methods need, imported when one of them is used."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def import_torch() -> Any:
    """Return the module torch, or say how to get it."""
    try:
        return import_module("torch")
    except ModuleNotFoundError as error:
        if error.name != "torch":  # it is there, and broken
            raise
        raise ImportError(f"this method needs {_how_to_get('torch')}") from error


def lacking_extra(extra: str | None) -> str:
    """Return what a learner's `extra` is and how to get it, if it is not installed; else nothing.

    Examples
    --------
    >>> lacking_extra(None)
    ''
    """
    return "" if extra is None or find_spec(extra) is not None else _how_to_get(extra)


def _how_to_get(extra: str) -> str:
    return f"{extra}, which is not installed: pip install 'i2cansay[{extra}]'"
