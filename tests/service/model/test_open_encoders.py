"""The encoders of a service."""

from __future__ import annotations

import pytest

from i2cansay.image_learner.identity import EncoderIdentity
from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from i2cansay.service.model.open_encoders import OpenEncoders


def test_encoders_are_opened_once_and_only_the_right_one() -> None:
    encoders = OpenEncoders(Limits())
    queue = encoders.named("pixels")
    identity = EncoderIdentity.of(queue.encoder)
    assert encoders.of(identity) is queue
    with pytest.raises(ServiceError, match="taught with") as refusal:
        encoders.of(EncoderIdentity("pixels", 8, "another fingerprint"))
    assert refusal.value.status == 503
    encoders.close()


def test_a_name_may_say_stages_and_views_but_no_size() -> None:
    encoders = OpenEncoders(Limits())
    queue = encoders.named("pixels+mirror")
    assert encoders.of(EncoderIdentity.of(queue.encoder)) is queue
    for name in ("pixels@4", "pixels+mirror@4096", "os:path+mirror"):
        with pytest.raises(ServiceError, match="there is no encoder") as refusal:
            encoders.named(name)
        assert refusal.value.status == 404
    with pytest.raises(ServiceError, match="pixels leaves no choice of features"):
        encoders.named("pixels+stages")
    encoders.close()
