"""Accepting connections: one at a time, and never more than there is room for."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from typing import Any

from i2cansay.service.errors import ServiceError
from i2cansay.service.http.connections import Connections
from i2cansay.service.http.protocol import HttpProtocol, plain_answer
from i2cansay.service.service_metrics import ServiceMetrics

log = logging.getLogger("i2cansay.service")
BACKLOG = 512
PAUSE = 0.1
"""Seconds to wait when the system has no more descriptors."""
SWEEP = 0.25
"""Seconds between two searches for overdue connections."""
FAREWELL = 1.0
"""Seconds in which a refused client can read why."""
FAREWELLS = 64
"""How many of these at once."""


def bind(host: str, port: int) -> list[socket.socket]:
    """Listen on every address of a host."""
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    bound: list[socket.socket] = []
    try:
        for family, address in dict.fromkeys((line[0], line[4]) for line in found):
            listening = socket.create_server(
                (str(address[0]), int(address[1])), family=family, backlog=BACKLOG
            )
            listening.setblocking(False)
            bound.append(listening)
    except OSError as error:
        for listening in bound:
            listening.close()
        raise OSError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    return bound


class Listener:
    """A listening socket, in the place of uvicorn's asyncio servers.

    Parameters
    ----------
    listening : socket
    connections : Connections
    metrics : ServiceMetrics
    make : callable
        Makes the protocol of a connection from the address of its client.
    context : ssl.SSLContext or None
    seconds : float
        For a TLS handshake.
    """

    def __init__(
        self,
        listening: socket.socket,
        connections: Connections,
        metrics: ServiceMetrics,
        make: Callable[[str], HttpProtocol],
        *,
        context: ssl.SSLContext | None,
        seconds: float,
    ) -> None:
        self._listening = listening
        self._connections = connections
        self._metrics = metrics
        self._make = make
        self._tls: dict[str, Any] = {"ssl": context, "ssl_handshake_timeout": seconds} if context else {}
        self._loop = asyncio.get_running_loop()
        self._farewells: set[socket.socket] = set()
        accepting = self._loop.create_task(self._accept())
        accepting.add_done_callback(lambda _: listening.close())  # not before the loop has let go of it
        self._tasks = (accepting, self._loop.create_task(self._sweep()))

    async def _accept(self) -> None:
        while True:
            try:
                connection, address = await self._loop.sock_accept(self._listening)
            except ConnectionError:
                continue  # it left while it waited
            except OSError as error:
                log.warning("cannot accept connections: %s", error)
                self._connections.evict_one()
                await asyncio.sleep(PAUSE)
                continue
            try:
                self._admit(connection, str(address[0]))
            except Exception as error:  # one connection must not end the acceptance of all others
                connection.close()
                log.error("a connection could not be admitted: %s", error)
            await asyncio.sleep(0)  # when many come at once, others must have their turn in between

    def _admit(self, connection: socket.socket, address: str) -> None:
        try:
            self._connections.check(address)
        except ServiceError as error:
            self._metrics.happened("connections_refused")
            log.warning("a connection from %s is refused: %s", address, error)
            self._refuse(connection, error)
            return
        # asyncio does this only where a socket was made with the number of TCP, and these were not. Without it the
        # second half of an answer waits 40 ms for the client's word that the first has arrived.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        protocol = self._make(address)
        self._connections.add(protocol)
        opening = self._loop.create_task(
            self._loop.connect_accepted_socket(lambda: protocol, connection, **self._tls)
        )
        opening.add_done_callback(lambda task: self._opened(task, connection, protocol))
        protocol.opening = opening

    def _opened(self, task: asyncio.Task[Any], connection: socket.socket, protocol: HttpProtocol) -> None:
        if protocol.transport is None:  # a failed handshake, or its place was needed
            self._connections.remove(protocol)
            connection.close()
        if not task.cancelled() and not isinstance(error := task.exception(), OSError | None):
            log.error("a connection could not be opened", exc_info=error)

    def _refuse(self, connection: socket.socket, error: ServiceError) -> None:
        """Send the reason, and close a moment later: a connection closed at once may lose it."""
        if self._tls or len(self._farewells) >= FAREWELLS:
            connection.close()
            return
        try:
            connection.setblocking(False)
            connection.send(plain_answer(error))
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            connection.close()
            return
        self._farewells.add(connection)
        self._loop.call_later(FAREWELL, self._hang_up, connection)

    def _hang_up(self, connection: socket.socket) -> None:
        self._farewells.discard(connection)
        connection.close()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            self._connections.sweep()

    def close(self) -> None:
        """Accept no more connections."""
        for task in self._tasks:
            task.cancel()
        for connection in list(self._farewells):
            self._hang_up(connection)

    async def wait_closed(self) -> None:
        """Return once the listener is closed."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
