"""The queue before an encoder, in which requests with images take turns."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np

from i2cansay.core.types import Float32
from i2cansay.encoders.encoder import Encoder
from i2cansay.service.errors import busy, refused, stopping
from i2cansay.service.limits import Limits
from i2cansay.service.model.image_size import MeasuredImage

SLICE_PIXELS = 2**24
"""Pixels that are encoded together; a larger image is encoded alone."""
SLICE_IMAGES = 16
SMALL_PIXELS = 2**20
"""A request of so many pixels is queued even where many wait."""


@dataclass(eq=False)
class _Request:
    """The images of one request, and their features or errors so far, by position."""

    images: list[MeasuredImage]
    answer: Future[Float32] = field(default_factory=Future)
    begun: int = 0
    rows: dict[int, Float32] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)

    def pixels_left(self) -> int:
        return sum(image.pixels for image in self.images[self.begun :])

    def next_pixels(self) -> int:
        """Return the size of the next image."""
        return self.images[self.begun].pixels

    def finish(self) -> None:
        """Answer if all images are done and the client still waits."""
        done = len(self.rows) + len(self.reasons) == len(self.images)
        if not done or not self.answer.set_running_or_notify_cancel():
            return
        if self.reasons:
            words = [f"image {place + 1}: {reason}" for place, reason in sorted(self.reasons.items())]
            self.answer.set_exception(refused("; ".join(words)))
        else:
            self.answer.set_result(np.stack([self.rows[place] for place in range(len(self.rows))]))


class ImageQueue:
    """An encoder and the requests that wait for it.

    Requests take turns, one image each, and images that fit into a slice are encoded together; a larger image is
    encoded alone. A slice takes the smallest images, and where these were not the next in turn, the slice after it
    takes those. So a small image waits for one slice of larger ones, or two, however many there are, and the larger
    ones are not kept out by small ones. A request whose future is cancelled, because its time is up or its client
    has gone, is dropped.
    """

    def __init__(self, encoder: Encoder, limits: Limits) -> None:
        self.encoder = encoder
        self._limits = limits
        self._turns: deque[_Request] = deque()  # those with images still to encode
        self._owed = False  # whether the last slice left out the next in turn
        self._wake = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(
            target=self._run, name=f"i2cansay-encoder {encoder.name}", daemon=True
        )
        self._thread.start()

    def __len__(self) -> int:
        return len(self._turns)

    def encode(self, images: list[MeasuredImage]) -> Future[Float32]:
        """Queue images; the future gives their features, (n, dim), or an error that names every unreadable one.

        Raises ServiceError where too many requests wait, or too many pixels and this request is not small.
        """
        request = _Request(images)
        name = f"encoder {self.encoder.name}"
        with self._wake:
            if self._closed:
                raise stopping()
            self._drop()
            if len(self) >= self._limits.waiting:
                raise busy(name)
            pixels = request.pixels_left()
            waiting = sum(each.pixels_left() for each in self._turns)
            if pixels > SMALL_PIXELS and waiting + pixels > self._limits.pixels_in_flight:
                raise busy(name)
            self._turns.append(request)
            self._wake.notify()
        return request.answer

    def close(self) -> None:
        """Finish the waiting requests, and end the thread."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._wake:
                while not len(self) and not self._closed:
                    self._wake.wait()
                if not len(self):
                    return
                taken = self._take()
            if taken:
                self._serve(taken)

    def _drop(self) -> None:
        """Drop requests that were cancelled or have failed."""
        for request in [each for each in self._turns if each.answer.done()]:
            self._turns.remove(request)

    def _take(self) -> list[tuple[_Request, int]]:
        """Return the next slice: requests, and positions of images in them."""
        self._drop()
        next_in_turn = self._turns[0] if self._turns else None
        taken: list[tuple[_Request, int]] = []
        room = SLICE_PIXELS
        while self._turns and len(taken) < SLICE_IMAGES:
            # Of equal sizes `min` takes the first, so they stay in turn.
            request = self._turns[0] if self._owed else min(self._turns, key=_Request.next_pixels)
            if taken and request.next_pixels() > room:
                break
            room -= request.next_pixels()
            taken.append((request, request.begun))
            self._turns.remove(request)
            request.begun += 1
            if request.begun < len(request.images):
                self._turns.append(request)
        self._owed = bool(taken) and all(request is not next_in_turn for request, _ in taken)
        return taken

    def _serve(self, taken: list[tuple[_Request, int]]) -> None:
        try:
            encoded = self.encoder.encode_each([request.images[place].data for request, place in taken])
        except Exception as error:
            for request in {request for request, _ in taken}:
                if request.answer.set_running_or_notify_cancel():
                    request.answer.set_exception(error)
            return
        for row, index in enumerate(encoded.indices):
            request, place = taken[int(index)]
            request.rows[place] = encoded.features[row]
        for problem in encoded.errors:
            assert problem.index is not None
            request, place = taken[problem.index]
            request.reasons[place] = problem.reason
        for request in {request for request, _ in taken}:
            request.finish()
