"""`i2cansay export`: a model as an ONNX file, or as a page that runs in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from i2cansay.cli.model_options import Error, Model, NewError, OpenEncoder, OwnLearner

if TYPE_CHECKING:
    from i2cansay.image_learner import ImageLearner


def export(
    model: Model,
    *,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The ONNX file to write.")] = None,
    with_encoder: Annotated[
        bool,
        typer.Option(
            "--with-encoder", help="Put the encoder in front: the file takes pixels instead of features."
        ),
    ] = False,
    browser: Annotated[
        Path | None, typer.Option(help="A folder to write a page to that runs the model in a browser.")
    ] = None,
    runtime: Annotated[
        Path | None,
        typer.Option(
            help="For the page: the package onnxruntime-web, as `npm pack onnxruntime-web@1.30` fetches it, or "
            "a folder with it."
        ),
    ] = None,
    error: Error = 0.05,
    new_error: NewError = 0.05,
    learner: OwnLearner = None,
    encoder: OpenEncoder = None,
) -> None:
    """Write a model as an ONNX file, which answers as it does now and learns no more.

    Label, probabilities and verdict come out; the labels and where the file comes from are in its metadata. A page
    for a browser takes a file or the camera and needs no server but one that hands out files.

    Example: i2cansay export defects.i2cs -o defects.onnx --with-encoder and:
    i2cansay export defects.i2cs --browser page --runtime onnxruntime-web-1.30.0.tgz
    """
    from i2cansay.cli.folders import check_folder_of, check_there
    from i2cansay.cli.model import kind_of

    kind = kind_of(model)
    if out is None and browser is None:
        raise ValueError("expected a file to write (-o model.onnx) or a folder for a page (--browser FOLDER)")
    if runtime is not None and browser is None:
        raise ValueError("--runtime goes with --browser")
    if kind == "features" and (with_encoder or browser is not None):
        raise ValueError(
            f"{model} is a model of features and has no encoder, so that it cannot take images; leave out "
            "--with-encoder and --browser"
        )
    check_folder_of(out)
    if runtime is not None:
        check_there(runtime, noun="package")
    if kind == "features":
        from i2cansay.cli.model import FeatureModel

        assert out is not None
        FeatureModel.open(model, learner).learner.to_onnx(out, error=error, new_error=new_error)
        _tell(out)
        return
    from i2cansay.cli.model import open_image_model

    opened = open_image_model(model, own=learner, encoder=encoder)
    if browser is not None:
        _write_page(opened, browser, title=model.stem, runtime=runtime, error=error, new_error=new_error)
    if out is not None:
        opened.to_onnx(out, with_encoder=with_encoder, error=error, new_error=new_error)
        _tell(out)


def _write_page(opened: ImageLearner, folder: Path, **options: Any) -> None:
    complete = opened.to_page(folder, **options)
    typer.echo(
        f"{folder}: a page that runs the model; show it with: python -m http.server --directory {folder}"
    )
    if not complete:
        from i2cansay.export.browser_folder import HOW_TO_GET

        typer.echo(f"It needs ONNX Runtime in {folder / 'runtime'}. {HOW_TO_GET}")


def _tell(out: Path) -> None:
    typer.echo(f"{out}: {out.stat().st_size / 1e6:.2f} MB")
