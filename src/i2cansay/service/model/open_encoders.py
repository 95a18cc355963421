"""The encoders that the models of a service use."""

from __future__ import annotations

import threading

from i2cansay.encoders import ENCODERS, get_encoder, is_listed
from i2cansay.encoders.encoder import Encoder
from i2cansay.image_learner.identity import EncoderIdentity
from i2cansay.service.errors import ServiceError, not_found, refused
from i2cansay.service.limits import Limits
from i2cansay.service.model.image_queue import ImageQueue

__all__ = ["ImageQueue", "OpenEncoders"]


class OpenEncoders:
    """The encoders in use, each opened once, with a queue."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._queues: dict[str, ImageQueue] = {}

    def named(self, name: str) -> ImageQueue:
        """Open an encoder by its name in the table, or an added one; never by a path."""
        from i2cansay.encoders.added import added_names

        if not is_listed(name):
            raise not_found(
                f"there is no encoder {name!r}; known are {', '.join(sorted({*ENCODERS, *added_names()}))}, "
                "each also with +stages (where it has any) and +mirror"
            )
        try:
            return self._queue(get_encoder(name))
        except (ValueError, OSError, ImportError) as error:
            raise refused(f"the encoder {name!r} cannot be opened: {error}") from error

    def of(self, identity: EncoderIdentity) -> ImageQueue:
        """Return the encoder a model was made with; raise ServiceError where it cannot be opened."""
        if (known := self._queues.get(identity.fingerprint)) is not None:
            return known
        try:
            return self._queue(identity.open())
        except (ValueError, OSError, ImportError) as error:
            raise ServiceError(503, "no_encoder", f"images cannot be used: {error}") from error

    def _queue(self, encoder: Encoder) -> ImageQueue:
        with self._lock:
            if encoder.fingerprint not in self._queues:
                self._queues[encoder.fingerprint] = ImageQueue(encoder, self._limits)
            return self._queues[encoder.fingerprint]

    def waiting(self) -> int:
        """Return how many requests wait for an encoder."""
        return sum(len(queue) for queue in self._queues.values())

    def close(self) -> None:
        """Finish the waiting requests of all encoders."""
        for queue in self._queues.values():
            queue.close()
