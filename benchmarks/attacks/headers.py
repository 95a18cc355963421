"""Connections that never finish their headers, without a token: can others still come in?

    python benchmarks/attacks/headers.py
    python benchmarks/attacks/headers.py --descriptors 1024

Opens connections, sends half of a request's headers on each, drips a byte into all of them every second, and opens
those anew that were closed. Meanwhile `/healthz` is asked over connections of its own.
"""

from __future__ import annotations

import argparse
import os
import resource
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from watched import victim

HALF = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


@contextmanager
def log_kept() -> Iterator[list[int]]:
    """Send what this process and its children print as errors to a file; give its size at the end."""
    sizes: list[int] = []
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield sizes
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            sizes.append(os.fstat(file.fileno()).st_size)


def open_half(port: int) -> socket.socket | None:
    """Connect and send half of the headers."""
    half_open = socket.socket()
    half_open.settimeout(2.0)
    try:
        half_open.connect(("127.0.0.1", port))
        half_open.sendall(HALF)
    except OSError:
        half_open.close()
        return None
    half_open.setblocking(False)
    return half_open


def alive(half_open: socket.socket) -> bool:
    """Send one more byte; tell whether the other side still waits for it."""
    try:
        half_open.send(b"x")
        return bool(half_open.recv(1000))
    except BlockingIOError:
        return True
    except OSError:
        return False


def hold(port: int, connections: int, seconds: float) -> tuple[int, int]:
    """Keep `connections` half-open for a time; return how many were open at most and how many had to be anew."""
    held: list[socket.socket] = []
    most = renewed = 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        before = len(held)
        left = []
        for half_open in held:
            if alive(half_open):
                left.append(half_open)
            else:
                half_open.close()
        held = left
        renewed += before - len(held)
        while len(held) < connections and time.monotonic() < until:
            if (new := open_half(port)) is None:
                break
            held.append(new)
        most = max(most, len(held))
        time.sleep(1.0)
    for half_open in held:
        half_open.close()
    return most, renewed


def main() -> None:
    """Attack and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--connections", type=int, default=1030)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--descriptors", type=int, help="what the service's process may open (hard limit)")
    chosen = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    options = {"descriptors": chosen.descriptors} if chosen.descriptors else {}
    with log_kept() as log, victim(**options) as service, service.watched() as seen:
        most, renewed = hold(service.port, chosen.connections, chosen.seconds)
    print(f"{most} half-open connections at most, {renewed} closed by the service and opened anew")
    print(f"{seen}; log {log[0] / chosen.seconds / 1000:.1f} kB/s")


if __name__ == "__main__":
    main()
