"""Bodies on their way in: counted, limited, and not waited for without end."""

from __future__ import annotations

import asyncio
import time

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

from i2cansay.service.errors import ServiceError, too_large
from i2cansay.service.limits import Limits


class Traffic:
    """Bytes of all bodies that are at work together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._now = 0

    def take(self, n: int) -> None:
        """Count bytes that come in, or ask their sender to come back."""
        if self._now + n > self._most:
            raise ServiceError(429, "busy", "too many large requests at once; try again", retry_after=1.0)
        self._now += n

    def give_back(self, n: int) -> None:
        """Bytes are done with."""
        self._now -= n


class Body:
    """The body of one request on its way in, counted."""

    def __init__(self, receive: Receive, limits: Limits, traffic: Traffic) -> None:
        self._receive = receive
        self._limits = limits
        self._traffic = traffic
        self._promised = 0
        self._got = 0
        self._whole = False
        self._deadline = time.monotonic() + limits.seconds

    def expect(self, headers: Headers) -> None:
        """Look at the announced length, so that a large body is refused before it is sent."""
        announced = headers.get("content-length", "0")
        length = int(announced[:20]) if announced.isascii() and announced.isdecimal() else 0
        self._measure(length)
        self._traffic.take(length)
        self._promised = length

    def _measure(self, length: int) -> None:
        largest = self._limits.body_bytes
        if length > largest:
            raise too_large(f"a request may have {largest} bytes, this one has {length} or more")

    async def receive(self) -> Message:
        """Pass on a piece."""
        message = await self._next()
        if message["type"] == "http.request":
            self._whole = not message.get("more_body", False)
            self._got += len(message.get("body", b""))
            if self._got > self._promised:  # sent in chunks, with no length announced
                try:
                    self._measure(self._got)
                    self._traffic.take(self._got - self._promised)
                except ServiceError as error:
                    # The framework lets only its own kind of error through while it reads a body.
                    wait = {} if error.retry_after is None else {"retry-after": f"{error.retry_after:.0f}"}
                    raise HTTPException(error.status, error.sentence, wait) from error
                self._promised = self._got
        return message

    async def _next(self) -> Message:
        if self._whole:  # what is awaited now is the client going away
            return await self._receive()
        try:
            return await asyncio.wait_for(self._receive(), self._deadline - time.monotonic())
        except TimeoutError:
            sentence = f"the request did not arrive within {self._limits.seconds:g} seconds"
            raise HTTPException(408, sentence) from None

    def finish(self) -> None:
        """Give back what was counted."""
        self._traffic.give_back(self._promised)
