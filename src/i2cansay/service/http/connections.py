"""Open connections: what each waits for, how long it may wait, and which is closed when room is needed."""

from __future__ import annotations

import ipaddress
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Protocol, TypeAlias

from i2cansay.service.access.client_address import client_network
from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
MARGIN = 30.0


class Stage(Enum):
    """What a connection waits for."""

    HEADERS = "the rest of a request's headers"
    IDLE = "the next request"
    BODY = "the rest of a request's body"
    READER = "the client, to read its answer"
    WORK = "the service"


class Connection(Protocol):
    """A connection as the table sees it."""

    address: str

    def overdue(self, stage: Stage) -> None:
        """Close it: it has waited too long."""

    def evict(self) -> None:
        """Close it: its place is needed."""


class Connections:
    """The connections of a service, in the order in which they came to their stage.

    A connection that waits for its client can be closed to let another in; one for which the service works cannot.
    The oldest connection of the most crowded stage goes first. However many connections an attacker leaves
    unfinished, a new client has at least the time that it takes to fill a quarter of all places again.

    Parameters
    ----------
    most : int
        Open at once.
    limits : Limits
    exempt : iterable of networks
        Addresses that are not limited, beside loopback.

    Examples
    --------
    >>> class Visitor:
    ...     address = "192.0.2.7"
    ...     def overdue(self, stage): print("overdue", stage.name)
    ...     def evict(self): print("evicted")
    >>> connections = Connections(2, Limits())
    >>> first, second = Visitor(), Visitor()
    >>> connections.add(first), connections.add(second)
    (None, None)
    >>> connections.move(first, Stage.WORK)
    >>> connections.check("192.0.2.8")
    evicted
    >>> len(connections)
    1
    """

    def __init__(
        self,
        most: int,
        limits: Limits,
        exempt: Iterable[Network] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._per_address = limits.connections_per_address
        self._exempt = tuple(exempt)
        self._clock = clock
        self._seconds = {
            Stage.HEADERS: limits.header_seconds,
            Stage.IDLE: limits.idle_seconds,
            Stage.BODY: limits.seconds + MARGIN,  # the application gives up before, and says so
            Stage.READER: limits.seconds,
        }
        self._since: dict[Stage, OrderedDict[Connection, float]] = {stage: OrderedDict() for stage in Stage}
        self._stages: dict[Connection, Stage] = {}
        self._counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._stages)

    # -- coming and going -----------------------------------------------------------------------------------

    def check(self, address: str) -> None:
        """Make room for a connection from `address`; ServiceError where there is none."""
        if self._counts[client_network(address)] >= self._per_address and not self._is_exempt(address):
            raise ServiceError(
                429,
                "too_many_connections",
                f"at most {self._per_address} connections from one address; close some, or reuse them",
                retry_after=5.0,
            )
        if len(self) >= self._most and not self.evict_one():
            raise ServiceError(
                503, "busy", f"{self._most} requests are at work; try again in a second", retry_after=1.0
            )

    def add(self, connection: Connection) -> None:
        """Add a new connection, which waits for headers."""
        self._counts[client_network(connection.address)] += 1
        self._enter(connection, Stage.HEADERS)

    def move(self, connection: Connection, stage: Stage) -> None:
        """Note what a connection waits for now; its time starts when it enters a stage."""
        if (before := self._stages.get(connection)) not in (None, stage):
            del self._since[before][connection]
            self._enter(connection, stage)

    def _enter(self, connection: Connection, stage: Stage) -> None:
        self._stages[connection] = stage
        self._since[stage][connection] = self._clock()

    def remove(self, connection: Connection) -> None:
        """Remove a connection; do nothing if it is removed already."""
        if (stage := self._stages.pop(connection, None)) is None:
            return
        del self._since[stage][connection]
        place = client_network(connection.address)
        self._counts[place] -= 1
        if not self._counts[place]:
            del self._counts[place]

    def _is_exempt(self, address: str) -> bool:
        try:
            host = ipaddress.ip_address(address)
        except ValueError:
            return False
        return host.is_loopback or any(host in network for network in self._exempt)

    # -- closing --------------------------------------------------------------------------------------------

    def evict_one(self) -> bool:
        """Close the oldest connection of the most crowded stage; return whether there was one."""
        crowd = max((self._since[stage] for stage in self._seconds), key=len)
        if not crowd:
            return False
        connection = next(iter(crowd))
        self.remove(connection)
        connection.evict()
        return True

    def sweep(self) -> None:
        """Close the connections that have waited too long."""
        now = self._clock()
        for stage, seconds in self._seconds.items():
            waiting = self._since[stage]
            while waiting:
                connection, since = next(iter(waiting.items()))
                if now - since < seconds:
                    break
                self.remove(connection)
                connection.overdue(stage)
