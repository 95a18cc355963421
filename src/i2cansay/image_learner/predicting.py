"""What a taught `ImageLearner` answers about images: labels, probabilities, verdicts, and how often it is right."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from i2cansay.core.types import Float64
from i2cansay.encoders.encoder import Encoder, Features
from i2cansay.image_learner.answers import UNREADABLE, Answer, Guess, SkippedImages, listed
from i2cansay.image_learner.examination import Confusion, Examination, Examined, examined_rows
from i2cansay.image_learner.parts import OnError, Progress, check_images, encode_in_parts
from i2cansay.learners.base import OnlineClassifier

if TYPE_CHECKING:
    from i2cansay.encoders.images import Source

Reply = TypeVar("Reply")
Bools = NDArray[np.bool_]


class ImagePredictor(ABC):
    """The half of `ImageLearner` that answers."""

    encoder: Encoder

    @abstractmethod
    def _known(self) -> AbstractContextManager[OnlineClassifier]:
        """Lend a learner that knows what is known now; a lesson does not change it."""

    @abstractmethod
    def _paired_labels(self, images: Iterable[Source], labels: ArrayLike) -> NDArray[Any]:
        """Return one label per image; raise ValueError where there are others."""

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

    def predict_set(
        self, images: Iterable[Source], error: float = 0.05, *, on_error: OnError = "raise"
    ) -> Bools:
        """Return which classes each image may be of, (n, n_classes): the right one is left out in `error` of cases.

        With on_error="skip" an image that cannot be read may be of any class, and a warning SkippedImages says why.
        """
        with self._taught() as known:
            any_class = np.ones(len(known.classes_), dtype=bool)
            rows = self._answers(
                images, on_error, lambda X: list(known.predict_set(X, error=error)), any_class
            )
        return np.array(rows, dtype=bool).reshape(len(rows), len(any_class))

    def verdicts(
        self,
        images: Iterable[Source],
        error: float = 0.05,
        new_error: float = 0.05,
        *,
        on_error: OnError = "raise",
    ) -> NDArray[np.str_]:
        """Return "sure", "unsure" or "new" for each image, (n,).

        Of the answers called sure, at most a share `error` are wrong; of images of known classes, at most a share
        `new_error` are called new. With on_error="skip" an image that cannot be read is "unreadable", and a
        warning SkippedImages says why.
        """

        def ask(X: Features) -> list[str]:
            found: list[str] = known.verdicts(X, error=error, new_error=new_error).tolist()
            return found

        with self._taught() as known:
            return np.array(self._answers(images, on_error, ask, UNREADABLE), dtype=np.str_)

    def top(self, images: Iterable[Source], k: int = 5, *, on_error: OnError = "raise") -> list[list[Guess]]:
        """Return the `k` likeliest classes of each image with their probabilities, the likeliest first.

        With on_error="skip" the list of an image that cannot be read is empty, and a warning SkippedImages
        says why.
        """
        _check_k(k)
        nothing: list[Guess] = []
        with self._taught() as known:
            found = self._answers(images, on_error, lambda X: guesses_of(known, X, k), nothing)
        # A list of its own for each image, even if it is empty.
        return [list(guesses) for guesses in found]

    def answer(
        self,
        images: Iterable[Source],
        k: int = 1,
        *,
        error: float = 0.05,
        new_error: float = 0.05,
        progress: Progress | None = None,
    ) -> list[Answer]:
        """Return the `k` likeliest classes and the verdict of each image, encoding it once.

        An image that cannot be read is answered too: its verdict is "unreadable", and it has a reason.

        Parameters
        ----------
        error, new_error : float
            As for `verdicts`.
        progress : function of an int, optional
            Called with the number of images that are done, now and then.
        """
        _check_k(k)

        def ask(X: Features) -> list[Answer]:
            verdicts = known.verdicts(X, error=error, new_error=new_error).tolist()
            found = guesses_of(known, X, k)
            return [Answer(verdict, tuple(guesses)) for verdict, guesses in zip(verdicts, found, strict=True)]

        with self._taught() as known:
            answers, skipped = self._ask(images, "skip", ask, Answer(UNREADABLE), progress)
        for index, reason in skipped.items():
            answers[index] = Answer(UNREADABLE, reason=reason)
        return answers

    # -- how often it is right ------------------------------------------------------------------------------

    def examine(
        self,
        images: Iterable[Source],
        labels: ArrayLike,
        *,
        error: float = 0.05,
        new_error: float = 0.05,
        on_error: OnError = "raise",
        progress: Progress | None = None,
    ) -> Examination:
        """Compare the answers to images with their labels, which may be of classes that were never taught.

        With on_error="skip" images that cannot be read are left out and named in `skipped`.
        """
        images = check_images(images, on_error)
        truth = self._paired_labels(images, labels)

        def ask(X: Features) -> list[Examined]:
            return examined_rows(known, X, error, new_error)

        with self._taught() as known:
            nothing = Examined(np.empty(0), np.empty(0, bool), "")
            rows, skipped = self._ask(images, on_error, ask, nothing, progress)
            if len(rows) != len(truth):
                raise ValueError(unequal(len(rows), len(truth)))
            read = [index for index in range(len(rows)) if index not in skipped]
            return Examination.from_rows(
                known.classes_,
                truth[read],
                [rows[index] for index in read],
                indices=np.array(read, dtype=np.int64),
                skipped=skipped,
                error=error,
                new_error=new_error,
            )

    def score(self, images: Iterable[Source], labels: ArrayLike) -> float:
        """Return the share of images whose label is predicted."""
        return self.examine(images, labels).accuracy

    def confusion(self, images: Iterable[Source], labels: ArrayLike) -> Confusion:
        """Count how often images of each label, in rows, were taken for each class, in columns."""
        return self.examine(images, labels).confusion

    # -- inside ---------------------------------------------------------------------------------------------

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
        ask: Callable[[Features], Sequence[Reply]],
        missing: Reply,
    ) -> list[Reply]:
        """Return a reply per image as `_ask` does, and warn of images that cannot be read."""
        replies, skipped = self._ask(images, on_error, ask, missing)
        if skipped:
            warnings.warn(f"left out {listed(skipped)}", SkippedImages, stacklevel=3)
        return replies

    def _ask(
        self,
        images: Iterable[Source],
        on_error: OnError,
        ask: Callable[[Features], Sequence[Reply]],
        missing: Reply,
        progress: Progress | None = None,
    ) -> tuple[list[Reply], dict[int, str]]:
        """Return a reply per image, by `ask` for features (n, dim), and why some are `missing`, by index."""
        images = check_images(images, on_error)
        replies: list[Reply] = []
        skipped: dict[int, str] = {}
        for part in encode_in_parts(self.encoder, images, on_error, progress):
            skipped |= part.skipped
            replies.extend([missing] * part.size)
            if len(part.read):
                for index, reply in zip(part.read.tolist(), ask(part.features), strict=True):
                    replies[part.start + index] = reply
        return replies, skipped


def guesses_of(learner: OnlineClassifier, X: Features, k: int) -> list[list[Guess]]:
    """Return the `k` likeliest classes of each row of `X`, (n, d)."""
    labels, probabilities = learner.top(X, k)
    return [
        [Guess(*pair) for pair in zip(names, row, strict=True)]
        for names, row in zip(labels.tolist(), probabilities.tolist(), strict=True)
    ]


def unequal(n_images: int | str, n_labels: int) -> str:
    """Say that there is not one label per image."""
    return f"expected one label per image, got {n_images} images and {n_labels} labels"


def _check_k(k: int) -> None:
    if k < 1:
        raise ValueError(f"expected to name at least 1 class, got k={k}")
