"""Bodies as they come in: their size, their sum over all requests, and their time are limited."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

from i2cansay.service.errors import ServiceError, too_large
from i2cansay.service.limits import Limits

FREE = 2**16
"""The first bytes of a body are not counted, so that small requests come in beside any number of large ones. The
number of connections bounds what they are together."""


class Traffic:
    """Bytes of all bodies in flight, and of the samples that are parsed from them.

    Parameters
    ----------
    most : int
        Of all clients together.
    share : int, optional
        Of one client. By default it may have everything.
    """

    def __init__(self, most: int, share: int | None = None) -> None:
        self._most = most
        self._share = most if share is None else share
        self._by_client: Counter[str] = Counter()

    def check(self, n: int, client: str = "") -> None:
        """Raise ServiceError where there is no room for `n` more bytes of a client."""
        if n and (self._by_client.total() + n > self._most or self._by_client[client] + n > self._share):
            raise ServiceError(429, "busy", "too many large requests at once; try again", retry_after=1.0)

    def take(self, n: int, client: str = "") -> None:
        """Count `n` bytes of a client; raise ServiceError where there is no room for them."""
        self.check(n, client)
        self._by_client[client] += n

    def give_back(self, n: int, client: str = "") -> None:
        """Count `n` bytes as done."""
        self._by_client[client] -= n
        if not self._by_client[client]:
            del self._by_client[client]


class IncomingBody:
    """The body of one request as it comes in, counted for its `client`."""

    def __init__(self, receive: Receive, limits: Limits, traffic: Traffic) -> None:
        self._receive = receive
        self._limits = limits
        self._traffic = traffic
        self.client = ""
        self._taken = 0
        self._got = 0
        self._whole = False
        self._deadline = time.monotonic() + limits.seconds

    def expect(self, headers: Headers) -> None:
        """Check the announced length, so that a large body is refused before it is sent.

        Bytes count when they arrive: a client that announces much and sends nothing keeps nobody out.
        """
        announced = headers.get("content-length", "0")
        length = int(announced[:20]) if announced.isascii() and announced.isdecimal() else 0
        self._measure(length)
        self._traffic.check(_counted(length), self.client)

    def charge(self, n: int) -> None:
        """Count memory for parsing the body, until the request is done."""
        self._traffic.take(n, self.client)
        self._taken += n

    def _measure(self, length: int) -> None:
        largest = self._limits.body_bytes
        if length > largest:
            raise too_large(f"a request may have {largest} bytes, this one has {length} or more")

    async def receive(self) -> Message:
        """Return the next piece of the body."""
        message = await self._next()
        if message["type"] == "http.request":
            self._whole = not message.get("more_body", False)
            length = len(message.get("body", b""))
            before, self._got = self._got, self._got + length
            try:
                self._measure(self._got)
                self.charge(_counted(self._got) - _counted(before))
            except ServiceError as error:
                # The framework lets only its own kind of error through while it reads a body.
                wait = {} if error.retry_after is None else {"retry-after": f"{error.retry_after:.0f}"}
                raise HTTPException(error.status, error.sentence, wait) from error
        return message

    async def _next(self) -> Message:
        if self._whole:  # the next message says that the client has gone
            return await self._receive()
        try:
            # Not `wait_for`, which makes a task of it, for a body that nearly always is there already.
            async with asyncio.timeout(self._deadline - time.monotonic()):
                return await self._receive()
        except TimeoutError:
            sentence = f"the request did not arrive within {self._limits.seconds:g} seconds"
            raise HTTPException(408, sentence) from None

    def finish(self) -> None:
        """Count the request as done."""
        self._traffic.give_back(self._taken, self.client)


def _counted(length: int) -> int:
    return max(0, length - FREE)
