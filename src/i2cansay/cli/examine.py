"""`i2cansay test`: how often a model file is right on labelled images, and whether it keeps its word."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from i2cansay.cli.model_options import Error, LabelColumn, Model, NewError, OpenEncoder, OwnLearner, Threads

if TYPE_CHECKING:
    from i2cansay.cli.material import Material
    from i2cansay.image_learner import Examination


def examine(
    model: Model,
    what: Annotated[
        list[Path],
        typer.Argument(
            help="Labelled images or features that were not taught, as for `learn`; of a folder with train and test "
            "folders, the test folder."
        ),
    ],
    *,
    label: Annotated[str | None, typer.Option(help="The label of the given images.")] = None,
    label_column: LabelColumn = "label",
    mistakes: Annotated[int, typer.Option(min=0, help="How many of the worst mistakes to list.")] = 10,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the confusion matrix into this file (PNG, SVG, PDF).")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write everything as one page, which loads nothing, into this file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of tables.")] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out images that cannot be read, and name them.")
    ] = False,
    error: Error = 0.05,
    new_error: NewError = 0.05,
    learner: OwnLearner = None,
    encoder: OpenEncoder = None,
    threads: Threads = None,
) -> None:
    """Test a model on labelled images: accuracy, classes, confusions, the worst mistakes, calibration.

    The model does not learn from them. Images of classes that were never taught count as mistakes, and the last line
    says how many of them were called new.

    Example: i2cansay test defects.i2cs held-out/ --html test.html
    """
    from i2cansay.cli.material import find_labelled
    from i2cansay.cli.model import check_kind, check_place, kind_of

    kind_of(model)
    material = find_labelled(what, label=label, label_column=label_column, split="test", skip_bad=skip_bad)
    kind = check_kind(model, material.kind)
    for place in filter(None, (plot, html)):
        check_place(place)
    if plot is not None:
        from i2cansay.cli.examination_plot import check_plot

        check_plot(plot)
    for note in material.notes:
        typer.echo(note, err=True)
    if material.stores:
        raise ValueError(
            f"{material.stores[0]} is a feature store; give labelled images, or features as CSV or NPZ"
        )
    from i2cansay.cli.examination_text import as_record, as_text

    if kind == "features":
        found, names = _examine_features(model, material, learner, label_column, (error, new_error))
    else:
        from i2cansay.cli.lessons import examine_images
        from i2cansay.cli.model import open_image_model

        opened = open_image_model(model, own=learner, encoder=encoder, threads=threads)
        found = examine_images(opened, material, skip_bad=skip_bad, error=error, new_error=new_error)
        names = [str(path) for path in material.paths]
    if as_json:
        import json

        typer.echo(json.dumps(as_record(found, names, mistakes)))
    else:
        typer.echo(as_text(found, names, mistakes))
    if plot is not None:
        from i2cansay.cli.examination_plot import draw_confusion

        draw_confusion(found.confusion, plot)
    if html is not None:
        from i2cansay.cli.examination_page import page
        from i2cansay.disk.atomic import write_bytes_atomically

        images = material.paths if kind == "images" else None
        write_bytes_atomically(
            html, page(found, names, mistakes, title=str(model), images=images).encode(errors="replace")
        )
    _tell_skipped(found)


def _examine_features(
    model: Path, material: Material, learner: str | None, label_column: str, errors: tuple[float, float]
) -> tuple[Examination, list[str]]:
    import numpy as np

    from i2cansay.cli.model import FeatureModel
    from i2cansay.features import load_features
    from i2cansay.image_learner import Examination

    taught = FeatureModel.open(model, learner)
    files = [load_features(path, label=label_column) for path in material.tables]
    y = np.concatenate([taught.as_known(file.labels()) for file in files])
    X = np.concatenate([file.ordered_as(taught.columns).X for file in files])
    names = [f"{file.path}, row {row}" for file in files for row in range(1, len(file.X) + 1)]
    return Examination.of(taught.learner, X, y, error=errors[0], new_error=errors[1]), names


def _tell_skipped(found: Examination) -> None:
    if found.skipped:
        typer.echo(
            f"{len(found.skipped)} of {len(found.skipped) + len(found.labels)} images could not be read:",
            err=True,
        )
        for reason in found.skipped.values():
            typer.echo(f"  {reason}", err=True)
