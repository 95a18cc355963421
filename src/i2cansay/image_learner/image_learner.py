"""From images to labels in one object: an encoder and a learner."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from i2cansay.core.copyable_lock import CopyableLock
from i2cansay.core.types import Float64
from i2cansay.encoders import get_encoder
from i2cansay.encoders.encoder import Encoder, Features
from i2cansay.image_learner.answers import Guess, LessonReport, SkippedImages, listed
from i2cansay.image_learner.atomic_lesson import AtomicLesson
from i2cansay.image_learner.identity import EncoderIdentity
from i2cansay.image_learner.parts import OnError, check_images, encode_in_parts
from i2cansay.image_learner.readers import Readers
from i2cansay.learners import blocks_parameter, learner_class, make_learner
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.labels import Label, as_labels
from i2cansay.learners.lessons import check_takes_lessons
from i2cansay.learners.model_file import load_with_extra, save

if TYPE_CHECKING:
    from i2cansay.encoders.images import Source

Answer = TypeVar("Answer")


class ImageLearner:
    """Learns to label images from examples, with new classes at any time, and keeps none of the images.

    A frozen encoder turns each image into a vector, and a learner learns the vectors.

    Parameters
    ----------
    encoder : str, Path or Encoder
        What `i2cansay.encoders.get_encoder` takes or returns.
    learner : learner or str, optional
        What learns the features: a learner, which is changed by learning, or a name of `LEARNERS`, which is
        told of the blocks of the encoder's features. By default `I2CANSAY()`.
    size : int, optional
        Side of the square that the encoder sees, in pixels; smaller is faster, the encoder's own is best.
    threads : int, optional
        Cores to use; by default all that this process may use.

    Attributes
    ----------
    encoder : Encoder
    learner : OnlineClassifier
    classes_ : ndarray of shape (n_classes,)

    Notes
    -----
    Every method takes images as a list or another iterable of paths, bytes, binary files, PIL images or
    arrays, mixed as you like (see `i2cansay.encoders.images.open_image`). A single image goes into a list of
    one. Memory does not grow with the number of images.

    Threads may share an ImageLearner. Each call sees what was known when it began, before a lesson or after it,
    never in between. Lessons wait for each other. A prediction does not wait for the images of a lesson to be opened
    or encoded, at most for one batch of features to be learnt. (This does not hold if you change `learner`
    directly.)

    Examples
    --------
    >>> from sklearn.datasets import load_sample_images
    >>> palace, flower = load_sample_images().images  # two photographs, 427 x 640 pixels
    >>> model = ImageLearner()
    >>> model.learn([palace[:, :400], flower[:, :400]], ["palace", "flower"])
    LessonReport(learnt=2, skipped={})
    >>> model.predict([flower[:, 200:], palace[:, 200:]])
    array(['flower', 'palace'], dtype='<U6')
    """

    def __init__(
        self,
        encoder: str | Path | Encoder = "efficientnet-lite0",
        learner: OnlineClassifier | str | None = None,
        *,
        size: int | None = None,
        threads: int | None = None,
    ) -> None:
        learner = "i2cansay" if learner is None else learner
        if isinstance(learner, str):
            learner_class(learner)  # a wrong name is reported before the encoder is opened
        elif not isinstance(learner, OnlineClassifier):
            raise TypeError(
                f"expected a learner, as I2CANSAY() or its name in LEARNERS, got {learner!r}; "
                "one of your own derives from OnlineClassifier"
            )
        if not isinstance(encoder, Encoder):
            encoder = get_encoder(encoder, size=size, threads=threads)
        elif size is not None or threads is not None:
            raise ValueError("size= and threads= go with an encoder's name; this one is open already")
        if isinstance(learner, str):
            widths = [block.width for block in encoder.blocks]
            learner = make_learner(learner, **blocks_parameter(learner, widths))
        check_takes_lessons(learner)
        width = getattr(learner, "n_features_in_", encoder.dim)
        if width != encoder.dim:
            raise ValueError(
                f"the learner knows features of width {width}, the encoder {encoder.name!r} makes "
                f"{encoder.dim}; use the encoder it was taught with"
            )
        self.encoder = encoder
        self.learner = learner
        self._teaching, self._readers = CopyableLock(), Readers()

    def _known(self) -> AbstractContextManager[OnlineClassifier]:
        """Lend a learner that knows what is known now; a lesson does not change it."""
        return self._readers.reading(self.learner)

    def _change(self, change: Callable[[OnlineClassifier], object]) -> None:
        """Change a copy of the learner, and let the learner take over its state."""
        with self._teaching:
            changed = copy.deepcopy(self.learner)
            change(changed)
            self._readers.replace(self.learner, changed)

    def __repr__(self) -> str:
        looking = f"{self.encoder.name} {self.encoder.preprocessing.size} px"
        known = "1 class" if self._n_classes == 1 else f"{self._n_classes} classes"
        return f"<ImageLearner: {looking} -> {type(self.learner).__name__}, {known}>"

    # -- learning -------------------------------------------------------------------------------------------

    def learn(
        self, images: Iterable[Source], labels: ArrayLike, *, on_error: OnError = "raise"
    ) -> LessonReport:
        """Learn images, in the order in which they are given.

        All or nothing: if this raises, nothing has been learnt, and after Ctrl-C either nothing or everything has
        been. (Only a learner that runs out of memory within a batch keeps what it has done so far, as after
        `partial_fit`.)

        Parameters
        ----------
        images : iterable of n images
        labels : n strings or n whole numbers, known or new
        on_error : {"raise", "skip"}
            Whether images that cannot be read are an error, or are left out and named in the report.

        Returns
        -------
        LessonReport
            How many images were learnt, and why others were not.

        Raises
        ------
        UnreadableImages
            With on_error="raise", naming every image that cannot be read.
        ValueError
            If the labels are not valid; they are checked before the first image is opened.
        """
        with self._teaching:
            return self._learn(images, labels, on_error)

    def _learn(self, images: Iterable[Source], labels: ArrayLike, on_error: OnError) -> LessonReport:
        images = check_images(images, on_error)
        checked = self._check_labels(images, labels)
        lesson = AtomicLesson(self.learner, self._readers)
        n_given, skipped = 0, dict[int, str]()
        for part in encode_in_parts(self.encoder, images, on_error):
            n_given += part.size
            skipped |= part.skipped
            if n_given > len(checked):
                raise ValueError(_unequal(f"at least {n_given}", len(checked)))
            lesson.add(part.features, checked[part.start + part.read])
        if n_given < len(checked):
            raise ValueError(_unequal(n_given, len(checked)))
        lesson.finish()
        return LessonReport(n_given - len(skipped), skipped)

    def _check_labels(self, images: Iterable[Source], labels: ArrayLike) -> NDArray[Any]:
        if isinstance(labels, str) or not isinstance(labels, Sized) or getattr(labels, "ndim", 1) == 0:
            raise ValueError(f"expected a list of labels, one per image, got {labels!r}")
        if isinstance(images, Sized) and len(images) != len(labels):
            raise ValueError(_unequal(len(images), len(labels)))
        if len(labels) == 0:
            return np.empty(0, dtype=np.int64)
        checked = as_labels(labels)
        return self.learner._check_labels(checked, len(checked))

    # -- deciding -------------------------------------------------------------------------------------------

    def predict(self, images: Iterable[Source], *, on_error: OnError = "raise") -> NDArray[Any]:
        """Return the label of each image, (n,).

        With on_error="skip" the array holds objects, with None for each image that cannot be read, and a
        warning SkippedImages says why.
        """
        with self._taught() as known:
            labels = self._answers(images, on_error, lambda X: known.predict(X).tolist(), None)
            return np.array(labels, dtype=known.classes_.dtype if on_error == "raise" else object)

    def predict_proba(self, images: Iterable[Source], *, on_error: OnError = "raise") -> Float64:
        """Return the probability of each class, (n, n_classes), columns as in `classes_`.

        With on_error="skip" the row of an image that cannot be read is NaN, and a warning SkippedImages says
        why.
        """
        with self._taught() as known:
            missing = np.full(len(known.classes_), np.nan)
            rows = self._answers(images, on_error, lambda X: list(known.predict_proba(X)), missing)
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(missing))

    def top(self, images: Iterable[Source], k: int = 5, *, on_error: OnError = "raise") -> list[list[Guess]]:
        """Return the `k` likeliest classes of each image with their probabilities, the likeliest first.

        With on_error="skip" the list of an image that cannot be read is empty, and a warning SkippedImages
        says why.
        """
        if k < 1:
            raise ValueError(f"expected to name at least 1 class, got k={k}")
        nothing: list[Guess] = []
        with self._taught() as known:
            found = self._answers(images, on_error, lambda X: _guesses(known, X, k), nothing)
        # A list of its own for each image, even if it is empty.
        return [list(guesses) for guesses in found]

    @contextmanager
    def _taught(self) -> Iterator[OnlineClassifier]:
        """Lend the learner as `_known` does; raise NotFittedError if it knows no class."""
        with self._known() as known:
            if not len(getattr(known, "classes_", ())):
                raise NotFittedError("this ImageLearner knows no class yet: teach it with learn first")
            yield known

    def _answers(
        self,
        images: Iterable[Source],
        on_error: OnError,
        ask: Callable[[Features], Sequence[Answer]],
        missing: Answer,
    ) -> list[Answer]:
        """Return an answer per image, by `ask` for features (n, dim); `missing` for an image that cannot be read."""
        images = check_images(images, on_error)
        answers: list[Answer] = []
        skipped: dict[int, str] = {}
        for part in encode_in_parts(self.encoder, images, on_error):
            skipped |= part.skipped
            answers.extend([missing] * part.size)
            if len(part.read):
                for index, answer in zip(part.read.tolist(), ask(part.features), strict=True):
                    answers[part.start + index] = answer
        if skipped:
            warnings.warn(f"left out {listed(skipped)}", SkippedImages, stacklevel=3)
        return answers

    # -- classes --------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels learnt so far, sorted."""
        with self._known() as known:
            return known.classes_

    @property
    def _n_classes(self) -> int:
        with self._known() as known:
            return len(getattr(known, "classes_", ()))

    def forget(self, label: Label) -> Self:
        """Drop a class; what its images contributed to statistics shared by all classes stays."""
        self._change(lambda learner: learner.forget(label))
        return self

    def rename(self, old: Label, new: Label) -> Self:
        """Give a class another label; nothing else changes."""
        self._change(lambda learner: learner.rename(old, new))
        return self

    # -- files ----------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write what was learnt to one file of any name, atomically.

        The file names the encoder and its fingerprint; the encoder's weights are not in it.
        """
        with self._known() as known:
            save(known, path, extra=EncoderIdentity.of(self.encoder).header())

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        encoder: str | Path | Encoder | None = None,
        learner: type[OnlineClassifier] | None = None,
        threads: int | None = None,
    ) -> Self:
        """Return what `save` wrote; it continues to learn exactly as the saved one would.

        Parameters
        ----------
        encoder : str, Path or Encoder, optional
            The encoder, if it cannot be found by its name: the path of an ONNX file, or an open encoder. It must be
            the one the model was taught with.
        learner : class, optional
            Your own class, if the learner is not in `LEARNERS`.
        threads : int, optional
            Cores to use.

        Raises
        ------
        ValueError
            If the encoder is not the one the model was taught with, or the file is damaged or not a model.
        """
        found, extra = load_with_extra(path, learner)
        if not extra:
            raise ValueError(
                f"{path} holds a learner of features and names no encoder: open it with i2cansay.load(path), "
                "and give it an encoder with ImageLearner(encoder, learner)"
            )
        try:
            opened = EncoderIdentity.from_header(extra).open(encoder, threads=threads)
            return cls(opened, found)
        except ValueError as error:
            raise ValueError(f"{path} cannot be opened: {error}") from error


def _guesses(learner: OnlineClassifier, X: Features, k: int) -> list[list[Guess]]:
    """Return the `k` likeliest classes of each row of `X`, (n, d)."""
    probabilities = learner.predict_proba(X)
    best = (-probabilities).argsort(axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(probabilities, best, axis=1).tolist()
    return [
        [Guess(*pair) for pair in zip(learner.classes_[columns].tolist(), row, strict=True)]
        for columns, row in zip(best, found, strict=True)
    ]


def _unequal(n_images: int | str, n_labels: int) -> str:
    return f"expected one label per image, got {n_images} images and {n_labels} labels"
