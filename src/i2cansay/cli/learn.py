"""`i2cansay learn`: teach a model file images or features; repeat with more of them at any time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from i2cansay.cli.model_options import LabelColumn, Threads

if TYPE_CHECKING:
    from i2cansay.cli.lessons import Lesson
    from i2cansay.cli.material import Material
    from i2cansay.cli.model import FeatureModel, Replacement
    from i2cansay.image_learner import ImageLearner

# What CHOICES says, written out: to read it there takes a second of imports. A test compares the two.
CHOICES_HELP = (
    "best (most accurate; the model takes about 76 MB); "
    "small (nearly as accurate; about 11 MB, and faster to teach); "
    "paper (the method of the paper to the letter, but for our reading of its Eq. 7, set with test figures in view; "
    "smallest, and least accurate)"
)


def learn(
    model: Annotated[Path, typer.Argument(help="The model file; created if missing.")],
    what: Annotated[
        list[Path],
        typer.Argument(
            help="A folder with a subfolder per class; images, with --label; a CSV or JSONL file with a column "
            "`path` of images and a column `label`; a feature store; or features: CSV with a header and a column "
            "`label`, or NPZ (X, y or F, y)."
        ),
    ],
    *,
    label: Annotated[str | None, typer.Option(help="The label of the given images.")] = None,
    label_column: LabelColumn = "label",
    learner: Annotated[
        str | None,
        typer.Option(
            help=f"Learner of a new model: {CHOICES_HELP}. By default best. Or any learner's name, or "
            "`package.module:Class` for a class of your own, which is then needed whenever the model is opened.",
            show_default=False,
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Encoder of a new model of images; by default efficientnet-lite0, with all stages for best and "
            "small. A model that exists takes its own only: give its path where it is not found by its name.",
            show_default=False,
        ),
    ] = None,
    set_: Annotated[
        list[str],
        typer.Option(
            "--set", help="A parameter of a new model's learner, as in lr=0.01; repeat for several."
        ),
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out images that cannot be read, and name them.")
    ] = False,
    doubts: Annotated[
        int,
        typer.Option(
            min=0,
            help="How many suspected wrong labels to list: those the model doubted most before it learnt them.",
        ),
    ] = 10,
    batch_size: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Rows of features per learning step; by default the learner's own, else 50.",
            show_default=False,
        ),
    ] = None,
    threads: Threads = None,
) -> None:
    """Teach a model file images or features; repeat with more of them and with new classes at any time.

    The file is replaced once everything is learnt; bad input or Ctrl-C leaves it as it was.

    At the end it lists the images that looked like another class just before they were learnt: perhaps their label
    is wrong. `i2cansay relabel` corrects it.

    Example: i2cansay learn defects.i2cs monday/ and: i2cansay learn defects.i2cs new/*.jpg --label scratch
    """
    from i2cansay.cli.material import find_labelled
    from i2cansay.cli.model import Replacement, check_kind, check_place

    check_place(model)
    kind = check_kind(model, "store") if model.exists() else None
    material = find_labelled(what, label=label, label_column=label_column, skip_bad=skip_bad)
    if kind is not None:
        kind = check_kind(model, material.kind)
    wanted = _Wanted(model, learner, encoder, set_, threads)
    wanted.check(exists=kind is not None)
    for note in material.notes:
        typer.echo(note, err=True)
    replacement = Replacement(model)
    if kind == "features" or material.kind == "features":
        if encoder is not None and material.tables:
            raise ValueError("--encoder is for images and feature stores; these are features as they are")
        taught = wanted.feature_model()
        lesson = _learn_features(
            replacement, taught, material, label_column=label_column, batch_size=batch_size, doubts=doubts
        )
        _report(model, lesson, len(taught.learner.classes_))
    else:
        if batch_size is not None:
            raise ValueError("--batch-size is for files of features; leave it out")
        images = wanted.image_model(material)
        lesson = _learn_images(replacement, images, material, skip_bad, doubts)
        _report(model, lesson, len(images.classes_))


@dataclass(frozen=True)
class _Wanted:
    """The model to teach: one that exists, or a new one with these choices."""

    path: Path
    learner: str | None
    encoder: str | None
    settings: list[str]
    threads: int | None

    @property
    def own(self) -> str | None:
        """A class of the user's own, by which a model that exists may have to be opened."""
        from i2cansay.core.import_by_name import is_import_name

        return self.learner if self.learner is not None and is_import_name(self.learner) else None

    def check(self, *, exists: bool) -> None:
        """Refuse options of a new model for one that exists."""
        surplus = [
            *(["--learner"] if self.learner != self.own else []),
            *(["--set"] if self.settings else []),
        ]
        if exists and surplus:
            raise ValueError(
                f"{self.path} exists: its learner and parameters are in the file; leave out {' and '.join(surplus)}"
            )

    def feature_model(self) -> FeatureModel:
        from i2cansay.cli.model import FeatureModel

        if self.path.exists():
            return FeatureModel.open(self.path, self.own)
        return FeatureModel.new(self.learner or "best", self._parameters())

    def image_model(self, material: Material) -> ImageLearner:
        from i2cansay.cli.model import open_image_model

        if self.path.exists():
            return open_image_model(self.path, own=self.own, encoder=self.encoder, threads=self.threads)
        from i2cansay.encoders import get_encoder
        from i2cansay.features.store import read_header
        from i2cansay.image_learner import ImageLearner
        from i2cansay.image_learner.image_learner import default_encoder
        from i2cansay.learners import blocks_parameter, make_learner

        name, parameters = self.learner or "best", self._parameters()
        make_learner(name, **parameters)  # a wrong name or parameter is told before the encoder is opened
        stored = read_header(material.stores[0]).encoder if material.stores else None
        encoder = get_encoder(self.encoder or stored or default_encoder(name), threads=self.threads)
        blocks = blocks_parameter(name, [block.width for block in encoder.blocks])
        return ImageLearner(encoder, make_learner(name, **(blocks | parameters)))

    def _parameters(self) -> dict[str, Any]:
        from i2cansay.cli.parameter_options import parse_settings

        return parse_settings(self.settings)


def _learn_features(
    replacement: Replacement,
    model: FeatureModel,
    material: Material,
    *,
    label_column: str,
    batch_size: int | None,
    doubts: int,
) -> Lesson:
    from i2cansay.cli.lessons import learn_tables

    if material.stores:
        raise ValueError(
            f"{replacement.path} is a model of features without an encoder; a feature store teaches models of images"
        )
    lesson = learn_tables(
        model, material.tables, label_column=label_column, batch_size=batch_size, doubts=doubts
    )
    replacement.write(model.save)
    return lesson


def _learn_images(
    replacement: Replacement, model: ImageLearner, material: Material, skip_bad: bool, doubts: int
) -> Lesson:
    from i2cansay.cli.lessons import learn_images, learn_stores
    from i2cansay.cli.stores_together import check_together
    from i2cansay.features import FeatureStore

    if material.stores:
        for note in check_together(material.stores):
            typer.echo(note, err=True)
        lesson = learn_stores(model, [FeatureStore.open(path) for path in material.stores], doubts)
    else:
        lesson = learn_images(model, material, skip_bad=skip_bad, doubts=doubts)
    if not lesson.learnt:
        raise ValueError(f"none of the images can be read: {'; '.join(lesson.skipped[:3])}")
    replacement.write(model.save)
    return lesson


def _report(model: Path, lesson: Lesson, n_classes: int) -> None:
    from i2cansay.cli.text_table import aligned, several

    typer.echo(
        f"{model}: learnt {several(lesson.learnt, lesson.noun)}, knows {several(n_classes, 'class', 'classes')}"
    )
    if lesson.doubts:
        typer.echo("\nLabels to check: these looked like another class before they were learnt.")
        rows = [(name, doubt.label, doubt.guess, f"{doubt.probability:.3f}") for name, doubt in lesson.doubts]
        typer.echo(
            aligned([(lesson.noun, "taught as", "looked like", "probability of its label"), *rows], right=[3])
        )
    if lesson.skipped:
        typer.echo(f"left out, as they could not be read: {several(len(lesson.skipped), 'image')}", err=True)
        for reason in lesson.skipped:
            typer.echo(f"  {reason}", err=True)
