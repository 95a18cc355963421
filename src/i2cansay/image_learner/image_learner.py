"""From images to labels in one object: an encoder and a learner."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sized
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from i2cansay.core.copyable_lock import CopyableLock
from i2cansay.core.types import Features
from i2cansay.encoders import get_encoder
from i2cansay.encoders.encoder import Encoder
from i2cansay.image_learner.answers import LessonReport
from i2cansay.image_learner.atomic_lesson import AtomicLesson
from i2cansay.image_learner.doubts import Doubts
from i2cansay.image_learner.exporting import ImageExporter
from i2cansay.image_learner.identity import EncoderIdentity
from i2cansay.image_learner.parts import OnError, Progress, check_images, encode_in_parts
from i2cansay.image_learner.predicting import unequal
from i2cansay.image_learner.readers import Readers
from i2cansay.learners import blocks_parameter, learner_class, make_learner
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.choices import CHOICES
from i2cansay.learners.labels import Label, as_labels
from i2cansay.learners.lessons import check_takes_lessons
from i2cansay.learners.model_file import load_with_extra, save

if TYPE_CHECKING:
    from i2cansay.encoders.images import Source

DEFAULT_LEARNER = "best"


def default_encoder(learner: OnlineClassifier | str) -> str:
    """Return the encoder for a learner where none is named: all stages for those that are meant for them.

    Examples
    --------
    >>> default_encoder("best"), default_encoder("paper")
    ('efficientnet-lite0+stages', 'efficientnet-lite0')
    """
    choice = CHOICES.get(learner) if isinstance(learner, str) else None
    return "efficientnet-lite0" + ("+stages" if choice is not None and choice.features == "stages" else "")


class ImageLearner(ImageExporter):
    """Learns to label images from examples, with new classes at any time, and keeps none of the images.

    A frozen encoder turns each image into a vector, and a learner learns the vectors.

    Parameters
    ----------
    encoder : str, Path or Encoder, optional
        What `i2cansay.encoders.get_encoder` takes or returns. By default EfficientNet-Lite0: all its stages for
        `best` and `small`, else its last layer, as in the paper.
    learner : learner or str, optional
        What learns the features: a learner, which is changed by learning, or a name of `CHOICES` or `LEARNERS`,
        which is told of the blocks of the encoder's features. By default "best", the most accurate; "small" needs
        less memory, and "paper" is the paper's.
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
    LessonReport(learnt=2, skipped={}, doubts=())
    >>> model.predict([flower[:, 200:], palace[:, 200:]])
    array(['flower', 'palace'], dtype='<U6')
    """

    def __init__(
        self,
        encoder: str | Path | Encoder | None = None,
        learner: OnlineClassifier | str | None = None,
        *,
        size: int | None = None,
        threads: int | None = None,
    ) -> None:
        learner = DEFAULT_LEARNER if learner is None else learner
        if isinstance(learner, str):
            learner_class(learner)  # a wrong name is reported before the encoder is opened
        elif not isinstance(learner, OnlineClassifier):
            raise TypeError(
                f"expected a learner, as I2CANSAY() or its name in LEARNERS, got {learner!r}; "
                "one of your own derives from OnlineClassifier"
            )
        if encoder is None:
            encoder = default_encoder(learner)
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
        self,
        images: Iterable[Source],
        labels: ArrayLike,
        *,
        on_error: OnError = "raise",
        doubts: int = 0,
        progress: Progress | None = None,
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
        doubts : int
            How many images to name in the report that looked like another class just before they were learnt, so
            that their label may be wrong. A class's first samples do not count.
        progress : function of an int, optional
            Called with the number of images that are encoded, now and then.

        Returns
        -------
        LessonReport
            How many images were learnt, why others were not, and which labels are doubtful.

        Raises
        ------
        UnreadableImages
            With on_error="raise", naming every image that cannot be read.
        ValueError
            If the labels are not valid; they are checked before the first image is opened.
        """
        with self._teaching:
            found = Doubts(doubts)
            images = check_images(images, on_error)
            checked = self._check_labels(images, labels)
            lesson = AtomicLesson(self.learner, self._readers, doubts=found)
            n_given, skipped = 0, dict[int, str]()
            for part in encode_in_parts(self.encoder, images, on_error, progress):
                n_given += part.size
                skipped |= part.skipped
                if n_given > len(checked):
                    raise ValueError(unequal(f"at least {n_given}", len(checked)))
                rows = part.start + part.read
                lesson.add(part.features, checked[rows], rows)
            if n_given < len(checked):
                raise ValueError(unequal(n_given, len(checked)))
            lesson.finish()
            return LessonReport(n_given - len(skipped), skipped, found.found())

    def _paired_labels(self, images: Iterable[Source], labels: ArrayLike) -> NDArray[Any]:
        if isinstance(labels, str) or not isinstance(labels, Sized) or getattr(labels, "ndim", 1) == 0:
            raise ValueError(f"expected a list of labels, one per image, got {labels!r}")
        if isinstance(images, Sized) and len(images) != len(labels):
            raise ValueError(unequal(len(images), len(labels)))
        return as_labels(labels) if len(labels) else np.empty(0, dtype=np.int64)

    def _check_labels(self, images: Iterable[Source], labels: ArrayLike) -> NDArray[Any]:
        checked = self._paired_labels(images, labels)
        return self.learner._check_labels(checked, len(checked)) if len(checked) else checked

    # -- correcting -----------------------------------------------------------------------------------------

    def unlearn(
        self, images: Iterable[Source], labels: ArrayLike, *, progress: Progress | None = None
    ) -> Self:
        """Take images out of what was learnt, given with the labels they were taught with; all or nothing.

        A class that has no image left is forgotten. With a learner that takes steps (the paper's), the steps
        stay; `best` and `small` are then exactly as if the images had never been taught.

        Raises
        ------
        UnreadableImages
            Naming every image that cannot be read.
        ValueError
            If the learner cannot unlearn, a label is not known, or its class has fewer images than are given.
        """
        X, taught = self._encoded_lesson(images, labels, progress)
        self._change(lambda learner: unlearn_rows(learner, X, taught))
        return self

    def relabel(
        self,
        images: Iterable[Source],
        old: ArrayLike,
        new: ArrayLike,
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Correct labels: unlearn images with their `old` labels, and learn them with the `new` ones.

        All or nothing. Raises what `unlearn` and `learn` raise.
        """
        X, taught = self._encoded_lesson(images, old, progress)
        right = self.learner._check_labels(new, len(taught))

        def change(learner: OnlineClassifier) -> None:
            unlearn_rows(learner, X, taught)
            learner.partial_fit(X, right)

        self._change(change)
        return self

    def _encoded_lesson(
        self, images: Iterable[Source], labels: ArrayLike, progress: Progress | None
    ) -> tuple[Features, NDArray[Any]]:
        images = check_images(images, "raise")
        taught = self._check_labels(images, labels)
        if not len(taught):
            raise ValueError("expected at least one image, got none")
        parts = list(encode_in_parts(self.encoder, images, "raise", progress))
        X: Features = np.concatenate([part.features for part in parts])
        if len(X) != len(taught):
            raise ValueError(unequal(len(X), len(taught)))
        return X, taught

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
            The encoder, if it cannot be found by its name: the path of an ONNX file with its options, as
            "net.onnx+stages@64", or an open encoder. It must be the one the model was taught with.
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


def unlearn_rows(learner: OnlineClassifier, X: Features, y: NDArray[Any]) -> None:
    """Take samples, (n, d) with labels (n,), out of what a learner knows; ValueError where it has no such method."""
    unlearn = getattr(learner, "unlearn", None)
    if unlearn is None:
        raise ValueError(
            f"{type(learner).__name__} cannot take samples out again; forget the class and teach it anew"
        )
    unlearn(X, y)
