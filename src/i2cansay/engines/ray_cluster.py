"""A Ray cluster: found by its address, or started on this machine and ended again. Ray is imported on use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Of a cluster that is started here. Statistics are tens of megabytes; Ray itself would take a third of the memory.
OBJECT_STORE_BYTES = 512 * 1024**2
# Read by Ray when it starts: a warning of a change to come, and lines of its own processes in between ours.
QUIET = {"RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}
MISSING = "the engine ray needs the package ray: pip install 'i2cansay[ray]'"


def import_ray(module: str = "ray") -> Any:
    """Return Ray, or a module of it; where it is missing, a sentence says how to get it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(MISSING) from error


def find_ray() -> None:
    """Raise ImportError unless Ray is installed, without the seconds that importing it takes."""
    if find_spec("ray") is None:
        raise ImportError(MISSING)


@contextmanager
def connected(address: str | None = None) -> Iterator[Any]:
    """Lend Ray, connected to the cluster at `address`, or to one of this machine that ends with the block.

    Where this process is connected already, that connection is lent, and stays.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    ray = import_ray()
    if ray.is_initialized():
        yield ray
        return
    own = {"object_store_memory": OBJECT_STORE_BYTES, "include_dashboard": False}
    try:
        ray.init(
            address="local" if address is None else address,
            log_to_driver=False,
            logging_level="error",
            **(own if address is None else {}),
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        if address is None:
            raise
        raise ConnectionError(
            f"there is no Ray cluster at {address} ({error}); start one with `ray start --head`, or leave out the "
            "address"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()
