"""Packages of others, imported when an adapter is used; where one is missing, a sentence says how to get it."""

from importlib import import_module
from typing import Any


def import_peer(module: str, install: str) -> Any:
    """Import a module that an adapter is for; `install` is what pip needs to be given.

    Examples
    --------
    >>> import_peer("a_package_nobody_has.part", '"i2cansay[tracking]"')
    Traceback (most recent call last):
    ImportError: this adapter needs the package a_package_nobody_has: pip install "i2cansay[tracking]"
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] != package:
            raise  # the package is there, and lacks something of its own
        raise ImportError(f"this adapter needs the package {package}: pip install {install}") from error
