"""A Ray cluster: found by its address, or started on this machine and ended again. Ray is imported on use."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Of a cluster that is started here. Statistics are tens of megabytes; Ray itself would take a third of the memory.
OBJECT_STORE_BYTES = 512 * 1024**2
# Read by Ray when it starts: a warning of a change to come, and lines of its own processes in between ours.
QUIET = {"RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}
SECONDS_TO_ANSWER = 10.0
# Ray speaks HTTP/2. A client begins with this preface and a frame of settings, here an empty one; a server answers
# with its own settings at once. A frame has a head of nine bytes, of which the fourth is its type.
HTTP2_BEGINNING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
FRAME_HEAD, SETTINGS = 9, 4
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


def _check_answers(address: str) -> None:
    """Raise ConnectionError unless HTTP/2 is spoken at HOST:PORT: Ray itself would try for minutes in silence."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        try:
            with socket.create_connection((host, int(port)), timeout=SECONDS_TO_ANSWER) as opened:
                spoken = _encrypted() or _speaks_http2(opened)
        except OSError as error:
            raise ConnectionError(_nobody(address, error)) from error
        if not spoken:
            raise ConnectionError(_nobody(address, "what listens there is not Ray"))


def _speaks_http2(opened: socket.socket) -> bool:
    opened.sendall(HTTP2_BEGINNING)
    with opened.makefile("rb") as answer:
        head = answer.read(FRAME_HEAD)
    return len(head) == FRAME_HEAD and head[3] == SETTINGS


def _encrypted() -> bool:
    return os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true")


def _nobody(address: str, reason: object) -> str:
    start = "start one with `ray start --head` and give the address that it prints"
    port = "usually with port 6379 (8265 is the dashboard)"
    return f"there is no Ray cluster at {address} ({reason}); {start}, {port}, or leave out the address"


@contextmanager
def _silent(waiting: str) -> Iterator[None]:
    """Send the error stream nowhere, also what libraries write past Python; say `waiting` if it takes long."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    timer = threading.Timer(SECONDS_TO_ANSWER, os.write, (kept, f"{waiting}\n".encode()))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


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
    if address is not None:
        _check_answers(address)
    own = {"object_store_memory": OBJECT_STORE_BYTES, "include_dashboard": False}
    try:
        with _silent("starting Ray on this machine" if address is None else f"waiting for Ray at {address}"):
            ray.init(
                address="local" if address is None else address,
                log_to_driver=False,
                logging_level="error",
                **(own if address is None else {}),
            )
    except (ConnectionError, ValueError, RuntimeError) as error:
        if address is None:
            raise
        raise ConnectionError(_nobody(address, error)) from error
    try:
        yield ray
    finally:
        ray.shutdown()
