"""`i2cansay watch`: answer each new image of a folder as it arrives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from i2cansay.cli.model import kind_of
from i2cansay.cli.model_options import Error, NewError, OpenEncoder, OwnLearner, Threads
from i2cansay.cli.text_table import several


def watch(
    folder: Annotated[Path, typer.Argument(help="The folder in which images arrive.")],
    *,
    model: Annotated[Path, typer.Option(help="A model file of images; when it changes, it is read again.")],
    move_to: Annotated[
        Path | None,
        typer.Option(
            help="Move each image into a folder per verdict in this one: sure, unsure, new, unreadable."
        ),
    ] = None,
    recursive: Annotated[bool, typer.Option("--recursive", help="Watch the folders in it, too.")] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Stop when every image that is there is answered.")
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="Number of classes to name per image.")] = 1,
    every: Annotated[float, typer.Option(min=0.01, help="Seconds between two looks at the folder.")] = 0.25,
    memory: Annotated[
        Path | None,
        typer.Option(
            help="File that remembers which images were answered; by default a hidden one in the folder.",
            show_default=False,
        ),
    ] = None,
    error: Error = 0.05,
    new_error: NewError = 0.05,
    learner: OwnLearner = None,
    encoder: OpenEncoder = None,
    threads: Threads = None,
) -> None:
    """Answer each new image of a folder as it arrives, with a line of JSON.

    An image is read once it is whole: its size and time have not changed for a second, or it was renamed into place.
    What was answered is remembered by name, size and time, so that a restart goes on where it stopped; an image that
    changes is answered again. After a crash, the last few may be answered twice, and none is left out. An image that
    cannot be read is reported once. Ctrl-C or SIGTERM stops it after the images that are being answered.

    Example: i2cansay watch /line/3 --model defects.i2cs --move-to /line/3/sorted
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder} to watch")
    if kind_of(model) != "images":
        raise ValueError(
            f"{model} is a model of features; watching a folder of images needs a model of images"
        )
    if move_to is not None and move_to.exists() and not move_to.is_dir():
        raise ValueError(f"{move_to} is not a folder; expected one to move images into")
    if recursive and move_to is not None and move_to.resolve() == folder.resolve():
        raise ValueError(
            f"--recursive would answer what was moved in {folder} again; move it to another folder, such as "
            f"{folder / 'sorted'}"
        )
    from i2cansay.cli.answered_files import FILE_NAME, AnsweredFiles
    from i2cansay.cli.arrivals import Arrivals
    from i2cansay.cli.production_line import CurrentModel, ProductionLine, stop_on_signals

    answered = AnsweredFiles(memory or folder / FILE_NAME)
    with answered.locked():
        current = CurrentModel(model, own=learner, encoder=encoder, threads=threads)
        arrivals = Arrivals(folder, recursive=recursive, leave_out=move_to)
        line = ProductionLine(
            folder, current, arrivals, answered, move_to=move_to, top=top, error=error, new_error=new_error
        )
        typer.echo(f"watching {folder}; Ctrl-C stops", err=True)
        with stop_on_signals() as stop:
            while not stop.is_set():
                line.work(stop)
                if once and not arrivals.waiting:
                    break
                stop.wait(every)
    typer.echo(
        f"{several(line.done, 'image')} answered, {line.unreadable} of them could not be read", err=True
    )
