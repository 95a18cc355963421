"""`i2cansay demo`: learn a stream of real images and see what happens."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer


def demo(
    *,
    dataset: Annotated[
        str, typer.Option(help="A data set of `i2cansay data list` that is on this machine.")
    ] = "digits",
    encoder: Annotated[
        str, typer.Option(help="Encoder of the images; `pixels` takes them as they are.")
    ] = "efficientnet-lite0",
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
    seeds: Annotated[int, typer.Option(min=1, help="Number of class orders to average over.")] = 3,
    plot: Annotated[Path, typer.Option(help="File for the plot of accuracy over the stream.")] = Path(
        "i2cansay-demo.png"
    ),
) -> None:
    """Stream images class by class and compare six learners that see each image once.

    Ends with a table, a plot and what to try next. The digits and the weights of the default encoder come with
    `i2cansay[images,plot]`; nothing is downloaded.
    """
    from i2cansay.cli.features import features_of
    from i2cansay.cli.outcome_table import print_outcomes
    from i2cansay.experiments.report.accuracy_plot import check_drawable, draw_curves
    from i2cansay.experiments.run.comparison import compare

    _check_installed()
    check_drawable(plot)
    size = 96 if size is None and (dataset, encoder) == ("digits", "efficientnet-lite0") else size
    data = features_of(dataset, encoder, size=size, fraction=fraction)
    names = ["i2cansay", "i2cansay_shared", "naive", "ncm", "slda", "joint"]
    # Without the lift of i2cansay_shared, which would take many times as long.
    outcomes = compare(data, names, stream=stream, seeds=range(seeds), parameters={"lift": 0}, progress=True)
    title = f"{data.title}, stream {stream}, one pass, {seeds} seeds"
    print_outcomes(
        title,
        outcomes,
        caption="last: accuracy on all classes at the end; average: over the sessions, test samples of the classes "
        "so far pooled;\ni2cansay is the paper's learner, i2cansay_shared is ours (here without its lift);\n"
        "joint is fitted to all samples at once, offline: a reference, not a rival.",
    )
    draw_curves(title, outcomes, plot)
    typer.echo(f"\nDrew accuracy over the stream: {plot}")
    typer.echo(_next(dataset, stream))


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
        f"demo --dataset {dataset} --stream {other}": "the same in another order",
        "run TRAIN.npz --test TEST.npz": "your own features, any learner, any stream",
        "learn model.i2cs first.csv": "teach a model file from the shell, step by step",
        "reproduce table1 --dataset digits": "a table of the paper, beside its numbers",
        "data list": "data sets the paper uses, and how to get them",
    }
    width = max(map(len, lines))
    return "\n".join(["Next:", *(f"  {command} {words:<{width}}   # {why}" for words, why in lines.items())])
