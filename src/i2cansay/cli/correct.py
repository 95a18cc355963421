"""`i2cansay relabel`, `unlearn`, `forget` and `rename`: correct what a model file was taught."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from i2cansay.cli.image_progress import Progress, image_progress
from i2cansay.cli.model import (
    FeatureModel,
    Replacement,
    check_kind,
    kind_of,
    known_labels,
    open_image_model,
)
from i2cansay.cli.model_options import LabelColumn, Model, OpenEncoder, OwnLearner, Threads

if TYPE_CHECKING:
    from i2cansay.cli.material import Material
    from i2cansay.image_learner import ImageLearner
    from i2cansay.learners.base import OnlineClassifier


def relabel(
    model: Model,
    what: Annotated[
        list[Path],
        typer.Argument(
            help="Images that were taught with the wrong label, or CSV or NPZ files of such features."
        ),
    ],
    *,
    old: Annotated[str, typer.Option("--from", help="The label they were taught with.")],
    new: Annotated[str, typer.Option("--to", help="Their right label, known or new.")],
    learner: OwnLearner = None,
    encoder: OpenEncoder = None,
    threads: Threads = None,
) -> None:
    """Correct the label of images: they are unlearnt with the wrong label and learnt with the right one.

    The images must be the ones that were taught, unchanged. The file is replaced once everything is done.

    Example: i2cansay relabel defects.i2cs monday/scratch/17.jpg --from scratch --to dent
    """
    from i2cansay.cli.material import find_images

    kind_of(model)
    if old == new:
        raise ValueError(
            f"--from and --to are both {old}, so nothing would change; name the right label with --to"
        )
    material = find_images(what)
    correction = _Correction(model, material, learner, encoder, threads)
    typer.echo(f"{model}: {correction.relabel(old, new)} relabelled from {old} to {new}")


def unlearn(
    model: Model,
    what: Annotated[
        list[Path],
        typer.Argument(
            help="What was taught and should not have been, as for `learn`: a folder with a subfolder per class, "
            "images with --label, a CSV or JSONL list of images, or features as CSV or NPZ."
        ),
    ],
    *,
    label: Annotated[
        str | None, typer.Option(help="The label that the given images were taught with.")
    ] = None,
    label_column: LabelColumn = "label",
    learner: OwnLearner = None,
    encoder: OpenEncoder = None,
    threads: Threads = None,
) -> None:
    """Take images out of a model again, as if they had never been taught.

    The images must be the ones that were taught, unchanged. A class that has none left is forgotten. With a learner
    that takes steps, such as the paper's, the steps stay.

    Example: i2cansay unlearn defects.i2cs monday/scratch/17.jpg --label scratch
    """
    from i2cansay.cli.material import find_labelled

    kind_of(model)
    material = find_labelled(what, label=label, label_column=label_column)
    correction = _Correction(model, material, learner, encoder, threads)
    typer.echo(f"{model}: {correction.unlearn(label_column)} unlearnt")


def forget(
    model: Model,
    classes: Annotated[list[str], typer.Argument(help="The classes to drop.")],
    *,
    learner: OwnLearner = None,
) -> None:
    """Drop classes from a model; what they contributed to statistics shared by all classes stays.

    Example: i2cansay forget defects.i2cs blank
    """

    def drop(known: OnlineClassifier) -> None:
        for label in known_labels(classes, known):
            known.forget(label)

    _change_learner(model, learner, drop)
    typer.echo(f"{model}: forgot {', '.join(classes)}")


def rename(
    model: Model,
    old: Annotated[str, typer.Argument(help="A class of the model.")],
    new: Annotated[str, typer.Argument(help="Its new name.")],
    *,
    learner: OwnLearner = None,
) -> None:
    """Give a class of a model another name; nothing else changes.

    Example: i2cansay rename defects.i2cs scrach scratch
    """

    def change(known: OnlineClassifier) -> None:
        known.rename(*known_labels([old, new], known))

    _change_learner(model, learner, change)
    typer.echo(f"{model}: renamed {old} to {new}")


def _change_learner(model: Path, own: str | None, change: Callable[[OnlineClassifier], None]) -> None:
    """Change the learner of a model file of either kind; its encoder is not needed for that."""
    kind_of(model)
    replacement = Replacement(model)
    from i2cansay.learners import learner_class
    from i2cansay.learners.model_file import load_with_extra, save

    known, extra = load_with_extra(model, learner_class(own) if own else None)
    change(known)
    replacement.write(lambda path: save(known, path, extra=extra))


@dataclass(frozen=True)
class _Correction:
    """A model file, and what is to be taken out of it."""

    model: Path
    material: Material
    learner: str | None
    encoder: str | None
    threads: int | None

    def relabel(self, old: str, new: str) -> str:
        """Give all material another label; return how much it is."""
        from i2cansay.cli.text_table import several

        if self._kind == "images":
            with self._images() as (known, progress):
                n = len(self.material.paths)
                wrong, right = known_labels([old, new], known.learner)
                known.relabel(self.material.paths, [wrong] * n, [right] * n, progress=progress)
            return several(n, "image")
        return several(self._change_rows(old, new, "label"), "row")

    def unlearn(self, label_column: str) -> str:
        """Take all material out, each with its own label; return how much it is."""
        from i2cansay.cli.text_table import several

        if self._kind == "images":
            with self._images() as (known, progress):
                labels = known_labels(self.material.labels, known.learner)
                known.unlearn(self.material.paths, labels, progress=progress)
            return several(len(labels), "image")
        return several(self._change_rows(None, None, label_column), "row")

    @property
    def _kind(self) -> str:
        if self.material.stores:
            raise ValueError(f"{self.material.stores[0]} is a feature store; give the images themselves")
        return check_kind(self.model, self.material.kind)

    @contextmanager
    def _images(self) -> Iterator[tuple[ImageLearner, Progress | None]]:
        """Lend the model of images, and write it once the block has changed it."""
        from i2cansay.cli.lessons import unreadable_told

        replacement = Replacement(self.model)
        known = open_image_model(self.model, own=self.learner, encoder=self.encoder, threads=self.threads)
        with (
            image_progress("encoding", len(self.material.paths)) as progress,
            unreadable_told("leave out what cannot be read"),
        ):
            yield known, progress
        replacement.write(known.save)

    def _change_rows(self, old: str | None, new: str | None, label_column: str) -> int:
        """Unlearn rows of tables with label `old`, or each with its own; learn them as `new`, if there is one."""
        import numpy as np

        from i2cansay.features import load_features
        from i2cansay.image_learner.image_learner import unlearn_rows

        replacement = Replacement(self.model)
        model, n = FeatureModel.open(self.model, self.learner), 0
        given = [label for label in (old, new) if label is not None]
        wrong_and_right = known_labels(given, model.learner)
        for path in self.material.tables:
            file = load_features(path, label=label_column).ordered_as(model.columns)
            y = model.as_known(file.labels()) if old is None else np.full(len(file.X), wrong_and_right[0])
            unlearn_rows(model.learner, file.X, y)
            if new is not None:
                model.learner.partial_fit(file.X, np.full(len(file.X), wrong_and_right[1]))
            n += len(file.X)
        replacement.write(model.save)
        return n
