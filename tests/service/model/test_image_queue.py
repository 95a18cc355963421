"""Requests with pictures before one encoder."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from i2cansay.encoders import get_encoder
from i2cansay.encoders.encoder import EncodedImages
from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from i2cansay.service.model.image_queue import SLICE_PICTURES, SLICE_PIXELS, PictureQueue
from i2cansay.service.model.image_size import Picture, measured
from tests.service.material import picture

SMALL, LARGE = 100, SLICE_PIXELS + 1


class Watched:
    """An encoder that stops before every slice until it is let go, and notes what the slices are of."""

    def __init__(self) -> None:
        self.encoder = get_encoder("pixels")
        self.slices: list[list[bytes]] = []
        self._real = self.encoder.encode_each
        self._begun, self._go = threading.Semaphore(0), threading.Semaphore(0)

    def encode_each(self, images: Iterable[Any]) -> EncodedImages:
        given = list(images)
        self.slices.append(given)
        self._begun.release()
        assert self._go.acquire(timeout=20)
        return self._real(given)

    def begun(self) -> None:
        """Wait until a slice is under way."""
        assert self._begun.acquire(timeout=20)

    def go(self, slices: int = 1000) -> None:
        """Let slices go on."""
        self._go.release(slices)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    made = Watched()
    monkeypatch.setattr(made.encoder, "encode_each", made.encode_each)
    yield made
    made.go()


def pictures(colour: str, n: int, pixels: int = SMALL) -> list[Picture]:
    """Return pictures that all differ, of a made-up size."""
    rng = np.random.default_rng(list(colour.encode()))
    return [Picture(picture(colour, rng), pixels) for _ in range(n)]


def features(asked: list[Picture]) -> np.ndarray[Any, Any]:
    return get_encoder("pixels").encode([each.data for each in asked])


def test_requests_share_a_slice_and_not_their_errors(watched: Watched) -> None:
    queue = PictureQueue(watched.encoder, Limits())
    one, two, three = pictures("red", 1), pictures("green", 2), pictures("blue", 3)
    first = queue.encode(one)
    watched.begun()  # it is under way alone; the others wait for it together
    good, bad, other = queue.encode(two), queue.encode([one[0], Picture(b"x", 0)]), queue.encode(three)
    watched.go()
    for future, asked in ((first, one), (good, two), (other, three)):
        np.testing.assert_array_equal(future.result(20), features(asked))
    with pytest.raises(ServiceError, match="image 2: "):
        bad.result(20)
    queue.close()
    assert [len(each) for each in watched.slices] == [1, 7]


def test_a_small_request_does_not_wait_for_all_pictures_of_a_large_one(watched: Watched) -> None:
    queue = PictureQueue(watched.encoder, Limits())
    many, one = pictures("red", 3 * SLICE_PICTURES), pictures("blue", 1)
    large = queue.encode(many)
    watched.begun()
    small = queue.encode(one)
    watched.go(2)  # what is under way, and the next
    np.testing.assert_array_equal(small.result(20), features(one))
    assert not large.done()
    watched.go()
    np.testing.assert_array_equal(large.result(20), features(many))
    queue.close()


def test_a_small_picture_waits_for_one_large_picture_however_many_there_are(watched: Watched) -> None:
    queue = PictureQueue(watched.encoder, Limits(pixels_in_flight=1000 * LARGE))
    attacks = [queue.encode(pictures(colour, 4, LARGE)) for colour in ("red", "green", "blue")]
    watched.begun()
    one = pictures("red", 1)
    small = queue.encode(one)
    watched.go(2)
    np.testing.assert_array_equal(small.result(20), features(one))
    watched.go()
    for attack in attacks:
        assert len(attack.result(20)) == 4
    queue.close()
    assert [len(each) for each in watched.slices] == [1] * 13  # a large picture goes alone


def test_large_requests_take_turns(watched: Watched) -> None:
    queue = PictureQueue(watched.encoder, Limits())
    first, second = pictures("red", 3, LARGE), pictures("blue", 3, LARGE)
    answers = [queue.encode(first)]
    watched.begun()
    answers.append(queue.encode(second))
    watched.go()
    for answer in answers:
        answer.result(20)
    queue.close()
    order = [each[0] for each in watched.slices]
    # The second request comes while the first picture of the first one is under way.
    expected = [first[0], first[1], second[0], first[2], second[1], second[2]]
    assert order == [each.data for each in expected]


def test_what_was_given_up_is_not_gone_on_with(watched: Watched) -> None:
    queue = PictureQueue(watched.encoder, Limits())
    given_up = queue.encode(pictures("red", 10 * SLICE_PICTURES))
    watched.begun()
    assert given_up.cancel()  # while its first pictures are under way
    watched.go()
    one = pictures("blue", 1)
    np.testing.assert_array_equal(queue.encode(one).result(20), features(one))
    queue.close()
    assert [len(each) for each in watched.slices] == [SLICE_PICTURES, 1]


def test_too_many_pixels_are_asked_to_come_back_and_a_small_request_is_not(watched: Watched) -> None:
    queue = PictureQueue(watched.encoder, Limits(pixels_in_flight=4 * LARGE))
    under_way = queue.encode(pictures("red", 1, LARGE))
    watched.begun()  # what is under way waits no more
    waits = queue.encode(pictures("red", 3, LARGE))
    with pytest.raises(ServiceError, match="busy") as refusal:
        queue.encode(pictures("green", 2, LARGE))
    assert refusal.value.status == 429
    small = queue.encode(pictures("blue", 1))
    assert waits.cancel()
    room = queue.encode(pictures("green", 3, LARGE))  # what was given up leaves room
    watched.go()
    assert [len(each.result(20)) for each in (under_way, small, room)] == [1, 1, 3]
    queue.close()


def test_a_full_queue_and_a_closed_one(watched: Watched) -> None:
    queue = PictureQueue(watched.encoder, Limits(waiting=2))
    queue.encode(pictures("red", 1))
    watched.begun()
    waiting = [queue.encode(pictures("red", 1)) for _ in range(2)]
    assert len(queue) == 2
    with pytest.raises(ServiceError) as refusal:
        queue.encode(pictures("red", 1))
    assert refusal.value.status == 429
    watched.go()
    queue.close()
    assert all(future.done() for future in waiting)
    with pytest.raises(ServiceError) as refusal:
        queue.encode(pictures("red", 1))
    assert refusal.value.status == 503


def test_an_encoder_that_fails_fails_those_it_was_at_work_for(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> EncodedImages:
        raise RuntimeError("out of order")

    queue = PictureQueue(watched.encoder, Limits())
    monkeypatch.setattr(watched.encoder, "encode_each", broken)
    with pytest.raises(RuntimeError, match="out of order"):
        queue.encode(pictures("red", 2 * SLICE_PICTURES)).result(20)
    monkeypatch.setattr(watched.encoder, "encode_each", watched.encode_each)
    watched.go()
    assert len(queue.encode(pictures("red", 1)).result(20)) == 1
    queue.close()


def test_real_pictures_are_measured_and_encoded(watched: Watched) -> None:
    watched.go()
    queue = PictureQueue(watched.encoder, Limits())
    asked = measured([each.data for each in pictures("red", 3)], Limits())
    assert [each.pixels for each in asked] == [24 * 24] * 3
    np.testing.assert_array_equal(queue.encode(asked).result(20), features(asked))
    queue.close()
