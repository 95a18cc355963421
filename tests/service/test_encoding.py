"""Pictures of many requests through one encoder."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from i2cansay.encoders import get_encoder
from i2cansay.encoders.encoder import EncodedImages
from i2cansay.image_learner.identity import EncoderIdentity
from i2cansay.service.encoding import Encoders, PictureQueue
from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from tests.service.material import picture


def test_requests_share_a_batch_and_not_their_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    encoder = get_encoder("pixels")
    begun, go, sizes = threading.Event(), threading.Event(), list[int]()
    real = encoder.encode_each

    def encode_each(images: Iterable[Any]) -> EncodedImages:
        begun.set()
        go.wait(5)
        pictures = list(images)
        sizes.append(len(pictures))
        return real(pictures)

    monkeypatch.setattr(encoder, "encode_each", encode_each)
    queue = PictureQueue(encoder, Limits())
    requests = [[picture("red", rng) for _ in range(n)] for n in (1, 2, 3)]
    first = queue.encode(requests[0])
    assert begun.wait(5)  # it is under way alone; the others wait for it together
    good, bad, other = (
        queue.encode(requests[1]),
        queue.encode([requests[0][0], b"x"]),
        queue.encode(requests[2]),
    )
    go.set()
    np.testing.assert_array_equal(first.result(5), encoder.encode(requests[0]))
    np.testing.assert_array_equal(good.result(5), encoder.encode(requests[1]))
    np.testing.assert_array_equal(other.result(5), encoder.encode(requests[2]))
    with pytest.raises(ServiceError, match="image 2: "):
        bad.result(5)
    queue.close()
    assert max(sizes) >= 7  # two, two and three in one go


def test_encoders_are_opened_once_and_only_the_right_one() -> None:
    encoders = Encoders(Limits())
    queue = encoders.named("pixels")
    identity = EncoderIdentity.of(queue.encoder)
    assert encoders.of(identity) is queue
    with pytest.raises(ServiceError, match="taught with") as refusal:
        encoders.of(EncoderIdentity("pixels", 8, "another fingerprint"))
    assert refusal.value.status == 503
    encoders.close()
