"""A model file of the shell commands: of images, with an encoder, or of features, with the columns it was taught."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from i2cansay.image_learner import ImageLearner
    from i2cansay.learners.base import OnlineClassifier

COLUMNS = "columns"
Kind = Literal["images", "features"]
# The header of a model file has the names of some dozen arrays; a longer one is not of ours.
LONGEST_HEADER = 1 << 20


def kind_of(path: Path) -> Kind:
    """Return what a model file was taught, from its header alone; raise where it is no model file."""
    if not path.exists():
        raise FileNotFoundError(f"there is no model file {path}")
    if not path.is_file():
        raise ValueError(f"{path} is not a file; give the path of a saved model")
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length) if length <= LONGEST_HEADER else b"")
        extra = json.loads(header["__metadata__"].get("extra", "{}"))
        return "images" if "encoder" in extra else "features"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} is not a model file of i2cansay, or not all of it: is it another file, or was it cut short?"
        ) from error


def check_kind(path: Path, given: Literal["images", "features", "store"]) -> Kind:
    """Return what a model file was taught; raise ValueError where it cannot use what is given."""
    kind = kind_of(path)
    if kind == "images" and given == "features":
        raise ValueError(f"{path} is a model of images, and it was given features; give it images")
    if kind == "features" and given == "images":
        raise ValueError(
            f"{path} is a model of features (CSV, NPZ), and it was given images; teach them to another model"
        )
    return kind


def check_place(path: Path) -> None:
    """Raise unless a new file can be made at `path`: told at once, not after an hour of encoding."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; expected the path of a model file, as {path / 'model.i2cs'}")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to save {path.name} in")


class Replacement:
    """Replaces a model file, unless another process has changed it meanwhile.

    Parameters
    ----------
    path : Path
        Of a file that is about to be read, or is not there yet.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._stamp = path, stamp_of(path)

    def write(self, save: Callable[[Path], object]) -> None:
        """Let `save` write the file anew, which it does whole or not at all."""
        if stamp_of(self.path) != self._stamp:
            raise ValueError(
                f"another process has changed {self.path} meanwhile, so nothing was written; run the command again"
            )
        save(self.path)


def stamp_of(path: Path) -> tuple[int, int, int] | None:
    """Return what changes with every new version of a file; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def open_image_model(
    path: Path, *, own: str | None = None, encoder: str | None = None, threads: int | None = None
) -> ImageLearner:
    """Read a model of images; `own` names a learner that is not ours, `encoder` one that its name does not find."""
    from i2cansay.image_learner import ImageLearner
    from i2cansay.learners import learner_class

    return ImageLearner.load(
        path, encoder=encoder, learner=learner_class(own) if own else None, threads=threads
    )


@dataclass
class FeatureModel:
    """A learner and, where it was taught from CSV, the names of its columns."""

    learner: OnlineClassifier
    columns: tuple[str, ...] | None = None

    @classmethod
    def new(cls, learner: str, parameters: dict[str, Any]) -> FeatureModel:
        """Return a model that has seen nothing."""
        from i2cansay.learners import make_learner

        return cls(make_learner(learner, **parameters))

    @classmethod
    def open(cls, path: Path, own: str | None = None) -> FeatureModel:
        """Read a model file, taught from the shell or saved from Python; `own` names a learner that is not ours."""
        from i2cansay.learners import learner_class
        from i2cansay.learners.model_file import load_with_extra

        learner, extra = load_with_extra(path, learner_class(own) if own else None)
        return cls(learner, tuple(json.loads(extra[COLUMNS])) if COLUMNS in extra else None)

    def as_known(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the labels of a file as the model has them: a label 7 among names is the name "7"."""
        return labels.astype(str) if self.learner.label_kind == "U" else labels

    def save(self, path: Path) -> None:
        """Write the model file, whole or not at all."""
        from i2cansay.learners.model_file import save

        save(self.learner, path, extra={COLUMNS: json.dumps(self.columns)} if self.columns else None)


def as_known_label(text: str, kind: str | None, known: Collection[object] = ()) -> str | int:
    """Return a label from the shell as a model has them, whose labels are of this kind: a name or a whole number.

    A name that is not `known` loses space around it and is composed (NFC), as the service does: some systems write
    the folder "Kühler" in other characters than a keyboard does, and it would become a second class.

    Examples
    --------
    >>> as_known_label("7", "U"), as_known_label("7", "i"), as_known_label("7", None)
    ('7', 7, '7')
    >>> as_known_label(" ", "U")
    Traceback (most recent call last):
    ValueError: a label has at least one character, got ' '; name the class
    """
    if text in known:
        return text
    name = unicodedata.normalize("NFC", text).strip()
    if not name:
        raise ValueError(f"a label has at least one character, got {text!r}; name the class")
    if kind in ("U", None):
        return name
    try:
        return int(name)
    except ValueError:
        raise ValueError(f"the labels of this model are whole numbers, got {text!r}") from None


def known_labels(texts: Sequence[str], learner: OnlineClassifier) -> list[str | int]:
    """Return labels from the shell as a learner has them."""
    known = set(learner.classes_.tolist()) if learner._started else set()
    of = {text: as_known_label(text, learner.label_kind, known) for text in set(texts)}
    return [of[text] for text in texts]
