"""Requests with images before one encoder."""

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
from i2cansay.service.model.image_queue import (
    SLICE_IMAGES,
    SLICE_PIXELS,
    SMALL_PIXELS,
    ImageQueue,
)
from i2cansay.service.model.image_size import MeasuredImage, measure_images
from tests.service.material import make_image

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


def images(colour: str, n: int, pixels: int = SMALL) -> list[MeasuredImage]:
    """Return images that all differ, of a made-up size."""
    rng = np.random.default_rng(list(colour.encode()))
    return [MeasuredImage(make_image(colour, rng), pixels) for _ in range(n)]


def features(asked: list[MeasuredImage]) -> np.ndarray[Any, Any]:
    return get_encoder("pixels").encode([each.data for each in asked])


def test_requests_share_a_slice_and_not_their_errors(watched: Watched) -> None:
    queue = ImageQueue(watched.encoder, Limits())
    one, two, three = images("red", 1), images("green", 2), images("blue", 3)
    first = queue.encode(one)
    watched.begun()  # it is under way alone; the others wait for it together
    good, bad, other = queue.encode(two), queue.encode([one[0], MeasuredImage(b"x", 0)]), queue.encode(three)
    watched.go()
    for future, asked in ((first, one), (good, two), (other, three)):
        np.testing.assert_array_equal(future.result(20), features(asked))
    with pytest.raises(ServiceError, match="image 2: "):
        bad.result(20)
    queue.close()
    assert [len(each) for each in watched.slices] == [1, 7]


def test_a_small_request_does_not_wait_for_all_images_of_a_large_one(watched: Watched) -> None:
    queue = ImageQueue(watched.encoder, Limits())
    many, one = images("red", 3 * SLICE_IMAGES), images("blue", 1)
    large = queue.encode(many)
    watched.begun()
    small = queue.encode(one)
    watched.go(2)  # what is under way, and the next
    np.testing.assert_array_equal(small.result(20), features(one))
    assert not large.done()
    watched.go()
    np.testing.assert_array_equal(large.result(20), features(many))
    queue.close()


def test_a_small_image_waits_for_one_large_image_however_many_there_are(watched: Watched) -> None:
    queue = ImageQueue(watched.encoder, Limits(pixels_in_flight=1000 * LARGE))
    attacks = [queue.encode(images(colour, 4, LARGE)) for colour in ("red", "green", "blue")]
    watched.begun()
    one = images("red", 1)
    small = queue.encode(one)
    watched.go(2)
    np.testing.assert_array_equal(small.result(20), features(one))
    watched.go()
    for attack in attacks:
        assert len(attack.result(20)) == 4
    queue.close()
    assert [len(each) for each in watched.slices] == [1] * 13  # a large image goes alone


@pytest.mark.parametrize("pixels", [LARGE, SLICE_PIXELS, SLICE_PIXELS // 3])
def test_nor_for_more_than_one_slice_of_any_others(watched: Watched, pixels: int) -> None:
    queue = ImageQueue(watched.encoder, Limits(pixels_in_flight=1000 * LARGE))
    attacks = [queue.encode(images("red", 1, pixels)) for _ in range(50)]
    watched.begun()  # the first slice is under way
    smallest = queue.encode(images("blue", 1))
    small = queue.encode(images("green", 1, pixels - 1))
    watched.go(2)  # it, and that of the smallest
    assert len(smallest.result(20)) == 1
    watched.go(2)  # one of the others, which were passed over
    assert len(small.result(20)) == 1
    assert not attacks[-1].done()
    watched.go()
    assert all(len(attack.result(20)) == 1 for attack in attacks)
    queue.close()


def test_small_images_without_end_do_not_keep_a_large_one_out(watched: Watched) -> None:
    queue = ImageQueue(watched.encoder, Limits())
    first = queue.encode(images("red", SLICE_IMAGES))
    watched.begun()
    large = queue.encode(images("blue", 1, LARGE))
    others = [queue.encode(images("red", SLICE_IMAGES)) for _ in range(3)]
    watched.go(3)
    assert len(large.result(20)) == 1
    assert not all(other.done() for other in others)
    watched.go()
    assert all(len(each.result(20)) == SLICE_IMAGES for each in (first, *others))
    queue.close()


def test_large_requests_take_turns(watched: Watched) -> None:
    queue = ImageQueue(watched.encoder, Limits())
    first, second = images("red", 3, LARGE), images("blue", 3, LARGE)
    answers = [queue.encode(first)]
    watched.begun()
    answers.append(queue.encode(second))
    watched.go()
    for answer in answers:
        answer.result(20)
    queue.close()
    order = [each[0] for each in watched.slices]
    # The second request comes while the first image of the first one is under way.
    expected = [first[0], first[1], second[0], first[2], second[1], second[2]]
    assert order == [each.data for each in expected]


def test_what_was_given_up_is_not_gone_on_with(watched: Watched) -> None:
    queue = ImageQueue(watched.encoder, Limits())
    given_up = queue.encode(images("red", 10 * SLICE_IMAGES))
    watched.begun()
    assert given_up.cancel()  # while its first images are under way
    watched.go()
    one = images("blue", 1)
    np.testing.assert_array_equal(queue.encode(one).result(20), features(one))
    queue.close()
    assert [len(each) for each in watched.slices] == [SLICE_IMAGES, 1]


def test_too_many_pixels_are_asked_to_come_back_and_a_small_request_is_not(watched: Watched) -> None:
    queue = ImageQueue(watched.encoder, Limits(pixels_in_flight=4 * LARGE))
    under_way = queue.encode(images("red", 1, LARGE))
    watched.begun()  # what is under way waits no more
    waits = queue.encode(images("red", 3, LARGE))
    almost = queue.encode(images("green", 1, LARGE - SMALL_PIXELS))
    for many in (
        images("green", 1, LARGE),
        images("green", 1, SLICE_PIXELS),
        images("green", 2, SMALL_PIXELS),
    ):
        with pytest.raises(ServiceError, match="busy") as refusal:
            queue.encode(many)
        assert refusal.value.status == 429
    small = queue.encode(images("blue", 1))
    assert waits.cancel()
    room = queue.encode(images("green", 3, LARGE))  # what was given up leaves room
    watched.go()
    assert [len(each.result(20)) for each in (under_way, almost, small, room)] == [1, 1, 1, 3]
    queue.close()


def test_a_full_queue_and_a_closed_one(watched: Watched) -> None:
    queue = ImageQueue(watched.encoder, Limits(waiting=2))
    queue.encode(images("red", 1))
    watched.begun()
    waiting = [queue.encode(images("red", 1)) for _ in range(2)]
    assert len(queue) == 2
    with pytest.raises(ServiceError) as refusal:
        queue.encode(images("red", 1))
    assert refusal.value.status == 429
    watched.go()
    queue.close()
    assert all(future.done() for future in waiting)
    with pytest.raises(ServiceError) as refusal:
        queue.encode(images("red", 1))
    assert refusal.value.status == 503


def test_an_encoder_that_fails_fails_those_it_was_at_work_for(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> EncodedImages:
        raise RuntimeError("out of order")

    queue = ImageQueue(watched.encoder, Limits())
    monkeypatch.setattr(watched.encoder, "encode_each", broken)
    with pytest.raises(RuntimeError, match="out of order"):
        queue.encode(images("red", 2 * SLICE_IMAGES)).result(20)
    monkeypatch.setattr(watched.encoder, "encode_each", watched.encode_each)
    watched.go()
    assert len(queue.encode(images("red", 1)).result(20)) == 1
    queue.close()


def test_real_images_are_measured_and_encoded(watched: Watched) -> None:
    watched.go()
    queue = ImageQueue(watched.encoder, Limits())
    asked = measure_images([each.data for each in images("red", 3)], Limits())
    assert [each.pixels for each in asked] == [24 * 24] * 3
    np.testing.assert_array_equal(queue.encode(asked).result(20), features(asked))
    queue.close()
