"""Torch, which only some methods need, imported when one of them is used."""

from importlib import import_module
from typing import Any


def import_torch() -> Any:
    """Return the module torch, or say how to get it."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise ImportError(
            "this method needs torch, which is not installed: pip install 'i2cansay[torch]'"
        ) from error
