"""The way from images to features: in order, in parallel, independent of batches, errors by index."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from i2cansay.encoders import get_encoder
from i2cansay.encoders.encoder import Encoder, usable_cores
from i2cansay.encoders.images import ImageError
from i2cansay.encoders.preprocessing import Pixels, Preprocessing


def small_images(n: int) -> list[NDArray[np.uint8]]:
    return list(np.random.default_rng(0).integers(0, 256, (n, 40, 50, 3), dtype=np.uint8))


def png(array: NDArray[np.uint8]) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(array).save(stream, "PNG")
    return stream.getvalue()


@pytest.mark.parametrize("name", ["pixels", "efficientnet-lite0"])
def test_features_do_not_depend_on_batches_threads_or_company(name: str) -> None:
    """To the last bit: a store that is resumed at another place must be the same store."""
    images = small_images(7)
    alone = get_encoder(name, size=64, threads=1)
    expected = np.concatenate([alone.encode([image]) for image in images])
    for threads in (1, 2, 3):
        encoder = get_encoder(name, size=64, threads=threads)
        assert np.array_equal(encoder.encode(images), expected)
        for batch_size in (1, 2, 5, 7, 20):
            batches = list(encoder.encode_batches(iter(images), batch_size=batch_size))
            assert [len(batch) for batch in batches[:-1]] == [batch_size] * (len(batches) - 1)
            assert np.array_equal(np.concatenate(batches), expected)
        assert np.array_equal(encoder.infer(np.stack([encoder.prepare(image) for image in images])), expected)


def test_no_images_give_no_features() -> None:
    encoder = get_encoder("pixels")
    assert encoder.encode([]).shape == (0, 192)
    assert list(encoder.encode_batches(iter([]))) == []


def test_every_bad_image_is_named() -> None:
    encoder = get_encoder("pixels", threads=2)
    images: list[Any] = [*map(png, small_images(3)), b"junk", png(small_images(1)[0]), "/nowhere.png"]
    with pytest.raises(ImageError, match=r"2 images cannot be read: image 3: .*; image 5: .*nowhere"):
        encoder.encode(images)
    with pytest.raises(ImageError, match=r"^image 3: "):
        list(encoder.encode_batches(images, batch_size=2))
    encoded = encoder.encode_each(images, batch_size=2)
    assert encoded.indices.tolist() == [0, 1, 2, 4]
    assert [error.index for error in encoded.errors] == [3, 5]
    good = [image for i, image in enumerate(images) if i not in (3, 5)]
    assert np.array_equal(encoded.features, encoder.encode(good))
    assert np.array_equal(encoder.encode(images, on_error="skip"), encoder.encode(good))


@pytest.mark.parametrize(
    "single",
    [
        "a.png",
        b"bytes",
        Path("a.png"),
        small_images(1)[0],
        small_images(1)[0][:, :, 0],
        Image.new("RGB", (4, 4)),
        None,
    ],
)
def test_a_single_image_is_not_taken_for_several(single: Any) -> None:
    with pytest.raises(ValueError, match="put it in a list"):
        get_encoder("pixels").encode(single)


def test_arrays_of_several_images() -> None:
    colour = np.stack(small_images(3))
    assert get_encoder("pixels").encode(colour).shape == (3, 192)
    assert get_encoder("pixels").encode(colour[:, :, :, 0]).shape == (3, 192)


def test_only_bad_images() -> None:
    encoded = get_encoder("pixels").encode_each([b"junk"] * 20)
    assert encoded.features.shape == (0, 192)
    assert [error.index for error in encoded.errors] == list(range(20))


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="batch size"):
        list(get_encoder("pixels").encode_batches([], batch_size=0))
    with pytest.raises(ValueError, match='"raise" or "skip"'):
        get_encoder("pixels").encode([], on_error="ignore")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1 thread"):
        get_encoder("pixels", threads=0)


class Counting:
    """A model that notes how many of its calls run at the same time."""

    dim = 1

    def __init__(self) -> None:
        self.running = self.most = 0
        self.lock = threading.Lock()

    def __call__(self, squares: Pixels, *, threads: int) -> NDArray[np.float32]:
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        time.sleep(0.01)
        with self.lock:
            self.running -= 1
        return np.asarray(squares.reshape(len(squares), -1).mean(axis=1, keepdims=True), np.float32)


def counting_encoder(model: Counting, threads: int) -> Encoder:
    return Encoder(
        "counting", model=model, preprocessing=Preprocessing(8, 8), fingerprint="", threads=threads
    )


def test_batches_run_at_the_same_time_on_all_threads_and_no_more() -> None:
    model = Counting()
    list(counting_encoder(model, 3).encode_batches(small_images(30), batch_size=2))
    assert model.most == 3


def test_a_long_stream_is_read_only_a_few_batches_ahead() -> None:
    taken = 0

    def stream() -> Iterator[NDArray[np.uint8]]:
        nonlocal taken
        for image in small_images(200):
            taken += 1
            yield image

    batches = counting_encoder(Counting(), 2).encode_batches(stream(), batch_size=4)
    next(batches)
    assert taken <= 4 * 6
    threads = threading.active_count()
    batches.close()  # type: ignore[attr-defined]
    assert threading.active_count() < threads


def test_an_error_in_the_stream_itself_comes_through() -> None:
    def broken() -> Iterator[NDArray[np.uint8]]:
        yield from small_images(5)
        raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError, match="the disk is gone"):
        list(get_encoder("pixels").encode_batches(broken(), batch_size=2))


def test_cores_are_counted() -> None:
    assert usable_cores() >= 1
    assert get_encoder("pixels").threads == usable_cores()


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_the_same_unread_image_or_open_file_may_come_many_times(kind: str) -> None:
    """Two threads that read it at once would find half an image each."""
    stream = io.BytesIO()
    Image.fromarray(small_images(1)[0]).resize((500, 500)).save(stream, kind)
    data = stream.getvalue()
    encoder = get_encoder("pixels", threads=4)
    # A file may be decoded at a smaller size, an image that is open already is not.
    of_file, of_image = encoder.encode([data]), encoder.encode([Image.open(io.BytesIO(data))])
    for _ in range(3):
        shared = io.BytesIO(data)
        for sources, expected in (
            ([io.BytesIO(data)] * 12, of_file),
            ([Image.open(io.BytesIO(data))] * 12, of_image),
            ([Image.open(shared) for _ in range(12)], of_image),
        ):
            assert np.array_equal(encoder.encode(sources), np.repeat(expected, 12, axis=0))
