"""A service in a thread of the test."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from i2cansay.service.client import Client
from i2cansay.service.http.server import Address, make_server
from i2cansay.service.label_studio.connection import LabelStudio
from i2cansay.service.limits import Limits
from i2cansay.service.service import Service


@dataclass
class Running:
    """A service that answers."""

    client: Client
    service: Service
    folder: Path
    stop: Callable[[], None]


class Starter:
    """Starts services in threads."""

    def __init__(self, folder: Path, encoder: str = "pixels") -> None:
        self._folder = folder
        self._encoder = encoder
        self._stops: list[Callable[[], None]] = []

    def __call__(
        self,
        *,
        limits: Limits | None = None,
        port: int = 0,
        label_studio: LabelStudio | None = None,
        **address: Any,
    ) -> Running:
        """Start a service on a port, or on a free one, and wait until it answers."""
        service = Service(self._folder, limits=limits, encoder=self._encoder)
        port = port or free_port()
        server = make_server(service, Address(port=port, **address), label_studio)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.005)
            assert thread.is_alive()
        client = Client(f"http://127.0.0.1:{port}", tries=1)

        def stop() -> None:
            client.close()
            server.should_exit = True
            thread.join(timeout=30)

        self._stops.append(stop)
        return Running(client, service, self._folder, stop)

    def stop_all(self) -> None:
        """Stop all that were started."""
        for stop in self._stops:
            stop()


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port
