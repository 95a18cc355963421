"""Packages that images need, imported when they are first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_extra(module: str, *, install: str = '"i2cansay[images]"', who: str = "images need") -> Any:
    """Import a module of the extra [images], or say how to install it and `who` needs it.

    `install` is what pip needs where it is not that extra.

    Examples
    --------
    >>> import_extra("a_package_nobody_has")
    Traceback (most recent call last):
    ImportError: images need the package a_package_nobody_has: pip install "i2cansay[images]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{who} the package {package}: pip install {install}") from error
