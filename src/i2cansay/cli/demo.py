"""`i2cansay demo`: learn a stream of real images and see what happens."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from i2cansay.cli.folders import check_folder, check_folder_of

if TYPE_CHECKING:
    from i2cansay.evaluate import Outcome
    from i2cansay.experiments.run.comparison import FeatureData

OURS = "best"
PEERS = ("i2cansay", "naive", "ncm", "slda")
LIMIT = "joint"

# Digits of 8 x 8 pixels gain nothing from more, and the encoder takes 200 images a second and core at this size.
SIZE_OF_DIGITS = 96


def demo(
    *,
    dataset: Annotated[
        str, typer.Option(help="A data set of `i2cansay data list`; image_folder with --data for your own.")
    ] = "digits",
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the data set; by default it is searched for in I2CANSAY_DATA."),
    ] = None,
    encoder: Annotated[
        str,
        typer.Option(
            help="Encoder of the images, of `i2cansay encoder list`; pixels takes them as they are."
        ),
    ] = "efficientnet-lite0+stages",
    size: Annotated[
        int | None,
        typer.Option(
            help="Side of the encoder's input in pixels; by default 96 for digits, else the encoder's own."
        ),
    ] = None,
    stream: Annotated[
        str, typer.Option(help="Order of the samples, as in step:1, step:2, gaussian, iid.")
    ] = "step:1",
    fraction: Annotated[
        float | None,
        typer.Option(help="Use only this share of the training images of each class, as in 0.1."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of class orders to average over.")] = 1,
    plot: Annotated[Path, typer.Option(help="File for the plot of accuracy over the stream.")] = Path(
        "i2cansay-demo.png"
    ),
) -> None:
    """Stream images class by class and compare six learners on the same features.

    Ends with a table, a plot and what to try next. The digits and the weights of the default encoder come with
    `i2cansay[images,plot]`; nothing is downloaded.

    Example: i2cansay demo --dataset image_folder --data photos
    """
    _check_installed()
    check_folder(data)
    check_folder_of(plot)
    from i2cansay.cli.features import features_of
    from i2cansay.cli.outcome_table import print_outcomes
    from i2cansay.experiments.report.accuracy_plot import draw_curves

    if size is None and dataset == "digits" and encoder.startswith("efficientnet"):
        size = SIZE_OF_DIGITS
    features = features_of(dataset, encoder, size=size, fraction=fraction, data=data)
    outcomes = _outcomes(features, stream, seeds)
    number = "1 class order" if seeds == 1 else f"{seeds} class orders"
    title = f"{features.title}, stream {stream}, one pass, {number}"
    print_outcomes(title, outcomes, caption=_caption(features))
    draw_curves(title, outcomes, plot)
    typer.echo(f"\nDrew accuracy over the stream: {plot}")
    typer.echo(_next(dataset, stream))


def _outcomes(features: FeatureData, stream: str, seeds: int) -> dict[str, list[Outcome]]:
    """Play our learner and its peers on the same features, with the square root that ours takes by itself."""
    from i2cansay.experiments.run.comparison import compare

    peers = features.rooted()
    return {
        **compare(features, [OURS], stream=stream, seeds=range(seeds), progress=True),
        **compare(peers, PEERS, stream=stream, seeds=range(seeds), progress=True),
        # Once: it is fitted to all samples together, so that their order leaves no trace.
        **compare(peers, [LIMIT], stream=stream, seeds=[0], progress=True),
    }


def _caption(features: FeatureData) -> str:
    width, root = features.X.shape[1], ", their square roots" if features.has_roots else ""
    stages = f": the encoder's last layer and {len(features.blocks) - 1} earlier stages"
    return (
        "last: accuracy on all classes at the end; average: over the sessions, test samples of the classes so far "
        f"pooled.\nEvery row reads the same {width:,} features{stages if len(features.blocks) > 1 else ''}{root}.\n"
        "best is our learner, as `i2cansay learn` uses it; i2cansay is the paper's.\n"
        "joint is fitted to all samples at once, offline: a reference, not a rival."
    )


def _check_installed() -> None:
    # All missing extras in one sentence, not one after the other.
    needed = {"images": "PIL", "plot": "matplotlib"}
    missing = [extra for extra, module in needed.items() if find_spec(module) is None]
    if missing:
        extras = ",".join(missing)
        raise ImportError(
            f'the demo needs extras: pip install "i2cansay[{extras}]"; learn, predict and run do not'
        )


def _next(dataset: str, stream: str) -> str:
    other = "gaussian" if stream != "gaussian" else "step:2"
    # After `make demo` the command is in .venv and not on the path: print it so that it can be copied.
    command = "i2cansay" if shutil.which("i2cansay") else sys.argv[0]
    lines = {
        "data sample digits": "sample images in a folder per class, to try the next two with",
        "learn digits.i2cs digits/train": "teach a model file a folder of images",
        "predict digits.i2cs digits/new": "ask it about others",
        "serve models": "teach it on a web page",
        f"demo --dataset {dataset} --stream {other}": "the same in another order",
        "reproduce table1 --dataset digits": "a table of the paper, beside its numbers",
        "data list": "data sets the paper uses, and how to get them",
    }
    width = max(map(len, lines))
    return "\n".join(["Next:", *(f"  {command} {words:<{width}}   # {why}" for words, why in lines.items())])
