"""`i2cansay encode`: turn the images of a data set into features, once."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from i2cansay.cli.encoder import DEVICE_HELP
from i2cansay.cli.engine_options import Address, EngineName, absolute_file, check_engine
from i2cansay.cli.folders import check_folder, check_there

if TYPE_CHECKING:
    from i2cansay.features.encoding import Progress, RowEncoder
    from i2cansay.features.shard import Shard

_SECONDS_BETWEEN_LINES = 10.0


def encode(
    dataset: Annotated[
        str, typer.Argument(help="A data set of `i2cansay data list`, or your own as `package.module:NAME`.")
    ],
    *,
    encoder: Annotated[
        str,
        typer.Option(
            help="An encoder of `i2cansay encoder list`, the path of an .onnx file, or `package.module:NAME`; with "
            "`+stages`, `+mirror` and `@SIZE` as wanted."
        ),
    ] = "efficientnet-lite0",
    size: Annotated[
        int | None, typer.Option(help="Side of the encoder's input in pixels; by default the encoder's own.")
    ] = None,
    split: Annotated[str, typer.Option(help="train, test, or all.")] = "all",
    limit: Annotated[
        int | None, typer.Option(help="Encode only so many images of each split, the first ones.")
    ] = None,
    fraction: Annotated[
        float | None, typer.Option(help="Encode only this share of each class, as in 0.3.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw of --fraction.")] = 0,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Encode only shard I of N, a run of the rows, into a store of its own: 2/8 is the second of eight. "
            "Several machines encode one each.",
            show_default=False,
        ),
    ] = None,
    dtype: Annotated[
        str, typer.Option(help="How features are stored: float16, or float32 for full precision.")
    ] = "float16",
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the data set; by default it is searched for in I2CANSAY_DATA."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the feature stores; by default `features` in the cache folder."),
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="File with the weights of the encoder, where it needs one.")
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Cores to use; by default all.")] = None,
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "cpu",
    engine: EngineName = "local",
    address: Address = None,
) -> None:
    """Encode a data set's images into a feature store.

    Finished work is not repeated: a run that was stopped or killed continues where it was, and a part of a data set
    that is encoded already is taken from its store. With --engine ray a pool of encoders on a cluster does the work,
    and the store is the same. Without a cluster, every machine encodes a shard; `i2cansay fit` takes all shards, and
    the same command without --shard, where all of them are in one folder, copies them into one store.

    Example: i2cansay encode cifar100 --encoder efficientnet-lite0 --split train
    """
    check_engine(engine, address)
    part = None if shard is None else _shard(shard)
    check_folder(data)
    check_there(*([] if weights is None else [weights]))
    from i2cansay.datasets import get_dataset
    from i2cansay.encoders import get_encoder
    from i2cansay.features import encode_dataset

    found = get_dataset(dataset, root=data)
    model = get_encoder(encoder, size=size, threads=threads, weights=weights, device=device)

    def encode_splits(elsewhere: RowEncoder | None) -> None:
        for name in found.splits if split == "all" else (split,):
            meter = Meter()
            with show_encoding(f"{dataset} {name}", meter) as progress:
                store = encode_dataset(
                    found,
                    model,
                    name,
                    folder=out,
                    dtype=dtype,
                    limit=limit,
                    fraction=fraction,
                    seed=seed,
                    shard=part,
                    progress=progress,
                    waiting=lambda: typer.echo(
                        "another process encodes the same images; waiting for it", err=True
                    ),
                    elsewhere=elsewhere,
                )
            typer.echo(
                f"{dataset} {name}: {meter.summary(len(store))}, {store.size / 1e6:.1f} MB, {store.path}"
            )

    if engine == "ray":
        from i2cansay.engines.ray_cluster import connected
        from i2cansay.features.ray_encoding import EncodingRecipe, RayEncoding

        root = None if data is None else data.expanduser().absolute()
        checkpoint = None if weights is None else weights.absolute()
        recipe = EncodingRecipe(dataset, absolute_file(encoder), root, size, checkpoint, device)
        with connected(address):
            encode_splits(RayEncoding(recipe, address))
    else:
        encode_splits(None)


def _shard(text: str) -> Shard:
    from i2cansay.features.shard import Shard

    return Shard.parse(text)


class Meter:
    """Rows and seconds of one encoding.

    Examples
    --------
    >>> clock = iter([0.0, 2.0]).__next__
    >>> meter = Meter(clock)
    >>> meter.update(100, 500); meter.update(200, 500)
    >>> meter.note()
    '50 images/s, 0:06 left'
    >>> meter.summary(200)
    '200 rows, 100 of them encoded now in 2.0 s, 50 images/s'
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._begun: tuple[float, int] | None = None
        self.seconds, self.encoded, self.done, self.total = 0.0, 0, 0, 0

    def update(self, done: int, total: int) -> None:
        """Note rows done and rows in all; the first call gives the rows that were there already."""
        now = self._clock()
        if self._begun is None:
            self._begun = now, done
        self.seconds, self.encoded = now - self._begun[0], done - self._begun[1]
        self.done, self.total = done, total

    @property
    def rate(self) -> float:
        """Images per second of this run."""
        return self.encoded / self.seconds if self.seconds > 0 else 0.0

    def note(self) -> str:
        """Rate and time left."""
        if not self.rate:
            return "starting"
        minutes, seconds = divmod(round((self.total - self.done) / self.rate), 60)
        return f"{self.rate:.0f} images/s, {minutes}:{seconds:02d} left"

    def summary(self, rows: int) -> str:
        """Rows, seconds and rate of a finished encoding."""
        if not self.encoded:
            return f"{rows} rows, all encoded before"
        resumed = "" if self.encoded == rows else f", {self.encoded} of them encoded now"
        return f"{rows} rows{resumed} in {self.seconds:.1f} s, {self.rate:.0f} images/s"


@contextmanager
def show_encoding(title: str, meter: Meter) -> Iterator[Progress]:
    """Draw a bar on a terminal; print a line now and then in a pipe."""
    if not sys.stderr.isatty():
        yield _lines(title, meter)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, note="")

        def draw(done: int, total: int) -> None:
            meter.update(done, total)
            bar.update(task, completed=done, total=total, note=meter.note())

        yield draw


def _lines(title: str, meter: Meter) -> Progress:
    printed = -_SECONDS_BETWEEN_LINES

    def line(done: int, total: int) -> None:
        nonlocal printed
        meter.update(done, total)
        if meter.seconds - printed >= _SECONDS_BETWEEN_LINES:
            printed = meter.seconds
            typer.echo(f"{title}: {done} of {total}, {meter.note()}", err=True)

    return line
