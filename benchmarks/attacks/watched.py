"""A service in a process of its own, watched while it is attacked: memory, descriptors, and how soon it answers."""

from __future__ import annotations

import multiprocessing
import os
import resource
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

MEGABYTE = 1 << 20
PAUSE = 0.05
"""Seconds between two looks."""
PATIENCE = 60.0
"""Seconds after which a health check counts as never answered."""


@dataclass
class Observation:
    """What was seen of a service under attack.

    Attributes
    ----------
    idle_bytes, peak_bytes : int
        Resident memory before the attack, and at most during it.
    peak_descriptors : int
    latencies : list of float
        Seconds that each `/healthz` took, one after the other.
    unanswered : int
        How many of them got no answer, or another one than 200.
    """

    idle_bytes: int
    peak_bytes: int = 0
    peak_descriptors: int = 0
    latencies: list[float] = field(default_factory=list)
    unanswered: int = 0

    def __str__(self) -> str:
        grown = (self.peak_bytes - self.idle_bytes) / MEGABYTE
        return (
            f"memory {self.idle_bytes / MEGABYTE:.0f} MB, at most {grown:.0f} MB more; "
            f"/healthz at most {max(self.latencies, default=0.0):.2f} s in {len(self.latencies)} calls, "
            f"{self.unanswered} unanswered; {self.peak_descriptors} descriptors at most"
        )


@dataclass(frozen=True)
class Victim:
    """A running service: where it listens, its process and its folder."""

    port: int
    pid: int
    folder: Path

    def resident_bytes(self) -> int:
        """Return the memory the process has in use."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def descriptors(self) -> int:
        """Return how many files and sockets the process has open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def healthz(self, seconds: float = PATIENCE) -> bool:
        """Ask whether it is alive, over a connection of its own."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()

    @contextmanager
    def watched(self) -> Iterator[Observation]:
        """Watch it while the block attacks it."""
        seen = Observation(self.resident_bytes())
        ended = threading.Event()
        watchers = [
            threading.Thread(target=self._watch_process, args=(seen, ended), daemon=True),
            threading.Thread(target=self._watch_health, args=(seen, ended), daemon=True),
        ]
        for watcher in watchers:
            watcher.start()
        try:
            yield seen
        finally:
            ended.set()
            for watcher in watchers:
                watcher.join()

    def _watch_process(self, seen: Observation, ended: threading.Event) -> None:
        while not ended.wait(PAUSE):
            seen.peak_bytes = max(seen.peak_bytes, self.resident_bytes())
            seen.peak_descriptors = max(seen.peak_descriptors, self.descriptors())

    def _watch_health(self, seen: Observation, ended: threading.Event) -> None:
        while not ended.wait(PAUSE):
            started = time.perf_counter()
            seen.unanswered += not self.healthz()
            seen.latencies.append(time.perf_counter() - started)


def _serve(folder: str, port: int, options: dict[str, Any]) -> None:
    from i2cansay.service.http.server import Address, run
    from i2cansay.service.limits import Limits
    from i2cansay.service.service import Service

    encoder = options.pop("encoder", "pixels")
    need_token = options.pop("need_token", False)
    if descriptors := options.pop("descriptors", None):
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
    service = Service(Path(folder), limits=Limits(**options), encoder=encoder)
    if need_token:
        (Path(folder) / "token").write_text(service.tokens.add("attacks", "admin"))
    run(service, Address(port=port, need_token=need_token))


@contextmanager
def victim(**options: Any) -> Iterator[Victim]:
    """Start a service on a free port of loopback with an empty folder.

    `options` are its limits, `encoder`, `descriptors` (how many its process may open) and `need_token` (the file
    `token` in its folder then holds a valid one).
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        process = multiprocessing.get_context("spawn").Process(
            target=_serve, args=(folder, port, options), daemon=True
        )
        process.start()
        assert process.pid is not None
        started = Victim(port, process.pid, Path(folder))
        deadline = time.monotonic() + PATIENCE
        while not started.healthz(1.0):
            if time.monotonic() > deadline or not process.is_alive():
                raise RuntimeError("the service did not start")
            time.sleep(0.1)
        try:
            yield started
        finally:
            process.terminate()
            process.join()
