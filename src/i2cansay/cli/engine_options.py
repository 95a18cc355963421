"""The options of commands that can work on a Ray cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EngineName = Annotated[
    str, typer.Option(help="Where the work is done: local, on this machine, or ray, on a Ray cluster.")
]
Address = Annotated[
    str | None,
    typer.Option(
        help="With --engine ray: the cluster, as 10.0.0.1:6379, or auto for that of this machine; by default Ray "
        "starts on this machine alone."
    ),
]


def absolute_file(name: str) -> str:
    """Return a name as it is, the path of a file from the root: other processes may run in another folder.

    Examples
    --------
    >>> absolute_file("efficientnet-lite0+stages")
    'efficientnet-lite0+stages'
    """
    return str(Path(name).absolute()) if Path(name).is_file() else name


def check_engine(engine: str, address: str | None) -> None:
    """Raise where an engine is not known or not installed: told at once, not after a data set is read.

    Examples
    --------
    >>> check_engine("local", None)
    >>> check_engine("local", "10.0.0.1:6379")
    Traceback (most recent call last):
    ...
    ValueError: the address 10.0.0.1:6379 is that of a Ray cluster; add --engine ray
    """
    from i2cansay.engines import open_engine

    open_engine(engine, address)
    if engine == "ray":
        from i2cansay.engines.ray_cluster import find_ray

        find_ray()
