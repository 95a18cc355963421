"""An encoder: images in, feature vectors out."""

from __future__ import annotations

import copy
import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.graph_joining import with_mirror
from i2cansay.encoders.image_error import ImageError, summary_of
from i2cansay.encoders.images import open_image
from i2cansay.encoders.preprocessing import Pixels, Preprocessing
from i2cansay.encoders.stages import LAST, PIXELS, Block

if TYPE_CHECKING:
    from i2cansay.encoders.images import Source

Features = NDArray[np.float32]

# With one thread per batch, batches of 1 to 16 were equally fast; small ones take less memory.
BATCH_SIZE = 8
#: What of an image is encoded: itself, or itself and its mirror image, of which the mean is taken.
VIEWS = ("single", "mirror")


class FeatureFunction(Protocol):
    """What turns squares of pixels (n, size, size, 3) into features (n, dim)."""

    @property
    def dim(self) -> int: ...

    def __call__(self, squares: Pixels, *, threads: int) -> Features: ...


@dataclass(frozen=True)
class EncodedImages:
    """Features of the images that could be read, and an error for each that could not.

    Attributes
    ----------
    features : ndarray of shape (n_read, dim), float32
    indices : ndarray of shape (n_read,), int64
        Which of the given images each row belongs to.
    errors : tuple of ImageError
        In order of their `index`.
    """

    features: Features
    indices: NDArray[np.int64]
    errors: tuple[ImageError, ...]


class Encoder:
    """Images to feature vectors.

    Made by `get_encoder`. Images may be paths, bytes, binary files, PIL images or arrays (`open_image`).
    Features depend on the image and the encoder only, not on what shares a batch with it.

    Attributes
    ----------
    name : str
        What `get_encoder` opens it by, but for the size: "efficientnet-lite0", "efficientnet-lite0+stages+mirror".
    dim : int
        Width of the features.
    fingerprint : str
        Equal for two encoders exactly when weights, preprocessing, stages and views are equal, on any machine.
    preprocessing : Preprocessing
    threads : int
        Cores it may use.
    blocks : tuple of Block
        Names and widths of the runs of columns that come from one layer each; the first is the last layer's.
    features : {"last", "stages", "pixels"}
        What is read of the network; with "pixels" what it sees comes behind what it says of it, from 0 to 1.
    views : {"single", "mirror"}
        What is encoded of an image.
    last_fingerprint : str
        Fingerprint of the same encoder with features="last", whose features are the first block of these.
    """

    def __init__(
        self,
        name: str,
        *,
        model: FeatureFunction,
        preprocessing: Preprocessing,
        fingerprint: str,
        threads: int | None = None,
        blocks: Sequence[Block] = (),
        last_fingerprint: str | None = None,
    ) -> None:
        if threads is not None and threads < 1:
            raise ValueError(f"expected at least 1 thread, got {threads}")
        self.features = "stages" if len(blocks) > 1 else "last"
        self.views = "single"
        self.name = name + ("+stages" if self.features == "stages" else "")
        self.dim = model.dim
        self.blocks = tuple(blocks) or (Block(LAST, model.dim),)
        self.fingerprint = fingerprint
        self.last_fingerprint = last_fingerprint or fingerprint
        self.preprocessing = preprocessing
        self.threads = threads or usable_cores()
        self._model = model

    def __repr__(self) -> str:
        return f"<Encoder {self.name}: {self.preprocessing.size} px -> {self.dim}, {self.fingerprint[:12]}>"

    def with_views(self, views: str) -> Encoder:
        """Return this encoder with other views; it shares the network with this one.

        Examples
        --------
        >>> from i2cansay.encoders import get_encoder
        >>> both = get_encoder("pixels", size=2).with_views("mirror")
        >>> both.encode([np.array([[0, 255], [0, 255]], np.uint8)])[0, ::3]
        array([0.5, 0.5, 0.5, 0.5], dtype=float32)
        """
        if views not in VIEWS:
            raise ValueError(f"views is one of {', '.join(VIEWS)}, got {views!r}")
        if views == self.views:
            return self
        if self.views != "single":
            raise ValueError(f"{self.name} has its views already; begin with the encoder without them")
        other = copy.copy(self)
        other.views, other.name = views, f"{self.name}+{views}"
        other.fingerprint = _with_views(self.fingerprint, views)
        other.last_fingerprint = _with_views(self.last_fingerprint, views)
        return other

    def with_pixels(self) -> Encoder:
        """Return this encoder with what the network sees behind its features: (size, size, 3) pixels from 0 to 1.

        For learners that read images: they get the image and, without another pass, what the network makes of it.

        Examples
        --------
        >>> from i2cansay.encoders import get_encoder
        >>> get_encoder("pixels", size=2).with_pixels().encode([np.full((2, 2), 255, np.uint8)]).shape
        (1, 24)
        """
        if self.features != LAST or self.views != "single":
            raise ValueError(
                f"{self.name} reads more than one layer or view; pixels go with the last layer alone"
            )
        other = copy.copy(self)
        n_pixels = 3 * self.preprocessing.size**2
        other.features, other.name, other.dim = PIXELS, f"{self.name}+{PIXELS}", self.dim + n_pixels
        other.blocks = (*self.blocks, Block(PIXELS, n_pixels))
        other.fingerprint = hashlib.sha256(f"{self.fingerprint}\n{PIXELS}".encode()).hexdigest()
        return other

    def prepare(self, image: Source) -> Pixels:
        """Open one image and bring it to the encoder's square: (size, size, 3), uint8."""
        # Twice the needed side leaves the resampling filter enough to work with.
        return self.preprocessing.square(open_image(image, shorter_side=2 * self.preprocessing.resize))

    def infer(self, squares: Pixels, *, threads: int | None = None) -> Features:
        """Encode squares that `prepare` has made, (n, size, size, 3), in one call; (n, dim)."""
        features = self._model(squares, threads=threads or self.threads)
        if self.views == "mirror":
            mirrored = self._model(np.ascontiguousarray(squares[:, :, ::-1]), threads=threads or self.threads)
            features = (features + mirrored) * np.float32(0.5)
        if self.features == PIXELS:
            pixels = squares.reshape(len(squares), -1).astype(np.float32) / np.float32(255)
            features = np.concatenate([features, pixels], axis=1)
        return features

    def graph(self) -> Any:
        """Return `infer` as an ONNX ModelProto: `pixels` in, (n, size, size, 3) uint8; `features` out, (n, dim).

        Opening, resizing and cropping an image (`prepare`) are not in it.
        """
        of_model = getattr(self._model, "graph", None)
        if of_model is None:
            raise ValueError(f"the encoder {self.name} runs code of its own, so there is no ONNX graph of it")
        model = of_model(self.preprocessing)
        return with_mirror(model, self.preprocessing.size, self.dim) if self.views == "mirror" else model

    def encode(self, images: Iterable[Source], *, on_error: Literal["raise", "skip"] = "raise") -> Features:
        """Encode images.

        Parameters
        ----------
        images : iterable of images
        on_error : {"raise", "skip"}
            With "skip" the images that cannot be read have no row; `encode_each` says which those are.

        Returns
        -------
        ndarray of shape (n, dim), float32

        Raises
        ------
        ImageError
            Naming every image that cannot be read, with on_error="raise".
        """
        if on_error not in ("raise", "skip"):
            raise ValueError(f'on_error is "raise" or "skip", got {on_error!r}')
        encoded = self.encode_each(images)
        if encoded.errors and on_error == "raise":
            raise summary_of(encoded.errors)
        return encoded.features

    def encode_each(
        self,
        images: Iterable[Source],
        *,
        batch_size: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> EncodedImages:
        """Encode the images that can be read, and collect an error for each that cannot.

        `progress` is called with the number of images done, now and then.
        """
        parts, done = [], 0
        for part in self._parts(images, batch_size):
            parts.append(part)
            done += len(part.indices) + len(part.errors)
            if progress is not None:
                progress(done)
        return EncodedImages(
            np.concatenate([part.features for part in parts] or [np.empty((0, self.dim), np.float32)]),
            np.concatenate([part.indices for part in parts] or [np.empty(0, np.int64)]),
            tuple(error for part in parts for error in part.errors),
        )

    def encode_batches(
        self, images: Iterable[Source], *, batch_size: int | None = None
    ) -> Iterator[Features]:
        """Encode a stream of images, batch by batch and in order, without holding more than a few batches.

        Opening, resizing and inference of different batches run at the same time on all cores.

        Yields
        ------
        ndarray of shape (b, dim), float32
            b is `batch_size`, smaller at the end.
        """
        for part in self._parts(images, batch_size):
            if part.errors:
                raise summary_of(part.errors)
            yield part.features

    def _parts(self, images: Iterable[Source], batch_size: int | None) -> Iterator[EncodedImages]:
        """Batches in order; each is prepared and run by one worker, with one thread of ONNX Runtime."""
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"expected a batch size of at least 1, got {batch_size}")
        if batch_size is None:
            batch_size = BATCH_SIZE
            if isinstance(images, Sized):  # few images: no core without work
                batch_size = max(1, min(batch_size, -(-len(images) // self.threads)))
        numbered = enumerate(several(images))
        first = list(islice(numbered, batch_size))
        second = list(islice(numbered, batch_size))
        if not second:  # one batch only: all cores work on it together
            if first:
                yield self._part(first, self.threads)
            return
        pending: deque[Future[EncodedImages]] = deque()
        pool = ThreadPoolExecutor(self.threads, thread_name_prefix="i2cansay-encode")
        try:
            pending.extend(pool.submit(self._part, batch, 1) for batch in (first, second))
            while pending:
                # One batch ahead of the workers, so that none waits while the caller uses what was yielded.
                while len(pending) <= 2 * self.threads and (batch := list(islice(numbered, batch_size))):
                    pending.append(pool.submit(self._part, batch, 1))
                yield pending.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _part(self, batch: list[tuple[int, Any]], threads: int) -> EncodedImages:
        prepared = [(index, self._prepare_or_error(index, image)) for index, image in batch]
        squares = [(index, square) for index, square in prepared if not isinstance(square, ImageError)]
        features = np.empty((0, self.dim), np.float32)
        if squares:
            features = self.infer(np.stack([square for _, square in squares]), threads=threads)
        errors = tuple(error for _, error in prepared if isinstance(error, ImageError))
        return EncodedImages(features, np.array([index for index, _ in squares], np.int64), errors)

    def _prepare_or_error(self, index: int, image: Source) -> Pixels | ImageError:
        try:
            return self.prepare(image)
        except ImageError as error:
            return error.at(index)


def _with_views(fingerprint: str, views: str) -> str:
    return hashlib.sha256(f"{fingerprint}\nviews {views}".encode()).hexdigest()


def several(images: Iterable[Source]) -> Iterable[Source]:
    """Refuse a single image, whose rows or letters would otherwise be taken for images.

    Examples
    --------
    >>> several("cat.jpg")
    Traceback (most recent call last):
    ValueError: expected several images, got a single str; put it in a list
    """
    single = isinstance(images, str | bytes | bytearray | memoryview | os.PathLike) or not hasattr(
        images, "__iter__"
    )
    if isinstance(images, np.ndarray):
        single = images.ndim < 3 or (images.ndim == 3 and images.shape[2] in (1, 3, 4))
    if single:
        raise ValueError(f"expected several images, got a single {type(images).__name__}; put it in a list")
    return images


def usable_cores() -> int:
    """Return the number of cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
