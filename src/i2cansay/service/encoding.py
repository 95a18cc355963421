"""Pictures of many requests through one encoder, together."""

from __future__ import annotations

import io
import threading
from concurrent.futures import Future
from typing import Any

import numpy as np

from i2cansay.core.types import Float32
from i2cansay.encoders import ENCODERS, get_encoder
from i2cansay.encoders.encoder import Encoder
from i2cansay.encoders.extra import import_extra
from i2cansay.encoders.images import FORMATS
from i2cansay.encoders.quiet import quiet_pillow
from i2cansay.image_learner.identity import EncoderIdentity
from i2cansay.service.batcher import Batcher
from i2cansay.service.errors import ServiceError, refused
from i2cansay.service.limits import Limits


class PictureQueue:
    """An encoder and the requests that wait for it."""

    def __init__(self, encoder: Encoder, limits: Limits) -> None:
        self.encoder = encoder
        self._limits = limits
        self._batcher = Batcher[list[bytes], Float32](
            f"encoder {encoder.name}",
            self._encode,
            waiting=limits.waiting,
            together=limits.images,
            weight=len,
        )

    def __len__(self) -> int:
        return len(self._batcher)

    def encode(self, pictures: list[bytes]) -> Future[Float32]:
        """Queue pictures; their features, (n, dim), or a ServiceError that names every one that is none."""
        return self._batcher.submit(pictures)

    def _encode(self, requests: list[list[bytes]]) -> list[Float32 | Exception]:
        answers: list[Float32 | Exception] = []
        wrong = [_too_many_pixels(pictures, self._limits.pixels) for pictures in requests]
        right = [pictures for pictures, error in zip(requests, wrong, strict=True) if error is None]
        encoded = self.encoder.encode_each([picture for pictures in right for picture in pictures])
        reasons = {error.index: error.reason for error in encoded.errors}
        place = {int(index): row for row, index in enumerate(encoded.indices)}
        start = 0
        for pictures, error in zip(requests, wrong, strict=True):
            if error is not None:
                answers.append(error)
                continue
            numbers = range(start, start + len(pictures))
            start += len(pictures)
            if bad := [number for number in numbers if number in reasons]:
                sentences = [f"image {number - numbers[0] + 1}: {reasons[number]}" for number in bad]
                answers.append(refused("; ".join(sentences)))
            else:
                rows = [place[number] for number in numbers]
                answers.append(np.ascontiguousarray(encoded.features[rows]))
        return answers

    def close(self) -> None:
        """Finish what waits."""
        self._batcher.close()


class Encoders:
    """The encoders in use, each opened once."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._queues: dict[str, PictureQueue] = {}

    def named(self, name: str) -> PictureQueue:
        """Open an encoder by its name in the table, or one that was added; never by a path."""
        from i2cansay.encoders.added import added_names

        if name not in {*ENCODERS, *added_names()}:
            raise refused(
                f"there is no encoder {name!r}; known are {', '.join(sorted({*ENCODERS, *added_names()}))}"
            )
        try:
            return self._queue(get_encoder(name))
        except (ValueError, OSError, ImportError) as error:
            raise refused(f"the encoder {name!r} cannot be opened: {error}") from error

    def of(self, identity: EncoderIdentity) -> PictureQueue:
        """Return the encoder a model was made with; ServiceError where it is not to be had."""
        if (known := self._queues.get(identity.fingerprint)) is not None:
            return known
        try:
            return self._queue(identity.open())
        except (ValueError, OSError, ImportError) as error:
            raise ServiceError(503, "no_encoder", f"pictures cannot be used: {error}") from error

    def _queue(self, encoder: Encoder) -> PictureQueue:
        with self._lock:
            if encoder.fingerprint not in self._queues:
                self._queues[encoder.fingerprint] = PictureQueue(encoder, self._limits)
            return self._queues[encoder.fingerprint]

    def waiting(self) -> int:
        """Requests that wait to be encoded."""
        return sum(len(queue) for queue in self._queues.values())

    def close(self) -> None:
        """Finish what waits, in all of them."""
        for queue in self._queues.values():
            queue.close()


def _too_many_pixels(pictures: list[bytes], limit: int) -> ServiceError | None:
    """Look at the headers only; what is no picture at all is left to the encoder's own words."""
    pillow: Any = import_extra("PIL.Image")
    for number, picture in enumerate(pictures, start=1):
        try:
            with quiet_pillow(), pillow.open(io.BytesIO(picture), formats=FORMATS) as opened:
                width, height = opened.size
        except Exception:  # decoders raise anything
            continue
        if width * height > limit:
            return refused(
                f"image {number}: it has {width} x {height} pixels, more than the {limit} allowed; shrink it first"
            )
    return None
