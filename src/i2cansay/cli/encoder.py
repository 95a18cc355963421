"""`i2cansay encoder`: which encoders there are, adding one, looking at one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from i2cansay.cli.application import Application

if TYPE_CHECKING:
    from i2cansay.encoders.preprocessing import Preprocessing

app = Application(help="Encoders, which turn images into feature vectors: list, add, info, bench.")

NAME_HELP = (
    "An encoder of the list, the path of an .onnx file, or `package.module:NAME`; with `+stages`, `+mirror` and "
    "`@SIZE` as wanted."
)
DEVICE_HELP = (
    "Where the network runs: cpu, cuda, tensorrt, openvino, coreml, or an execution provider's name."
)


@app.command("list")
def list_encoders() -> None:
    """List the encoders, tell which are ready to use, and what is known of each.

    That is: number of features, size of the input and of the weights, their licence, where the official file is, and
    what was compared with another implementation, with the real weights or with random ones only.
    """
    from i2cansay.encoders.added import encoder_states

    states = encoder_states()
    width = max(len(state.name) for state in states)
    for state in states:
        typer.echo(f"{state.name:<{width}}  {state.status:<14}  {state.summary}")
        for sentence in state.details:
            typer.echo(f"{'':<{width}}  {sentence}")


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="A name from the list that needs weights, or a new one.")],
    weights: Annotated[
        Path | None,
        typer.Option(
            help="A checkpoint (.pth, .safetensors, .npz, or a TensorFlow.js model as folder or .tgz), or an .onnx "
            "file; a .toml beside it says how images are prepared."
        ),
    ] = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch the official file.")] = False,
    file: Annotated[
        str | None, typer.Option(help="Which official file to fetch, where there are several.")
    ] = None,
) -> None:
    """Add an encoder from a file of weights; it stays in the cache folder.

    Without --weights and --download it says which file to get, and from where.
    """
    from i2cansay.encoders.added import add_encoder, official_recipe
    from i2cansay.encoders.weight_download import choose_file, downloaded

    if weights is not None:
        encoder = add_encoder(name, weights)
    else:
        recipe = official_recipe(name)
        if not download:
            fetch = "; with internet access, --download fetches it" if recipe.can_be_fetched else ""
            raise FileNotFoundError(f"{recipe.how_to_get()}{fetch}")
        with downloaded(recipe, choose_file(recipe, file), typer.echo) as path:
            encoder = add_encoder(name, path)
    typer.echo(f"added {encoder.name}: {encoder.dim} features, fingerprint {encoder.fingerprint[:16]}")
    _show(encoder.preprocessing)


@app.command()
def info(
    name: Annotated[str, typer.Argument(help=NAME_HELP)],
    size: Annotated[int | None, typer.Option(help="Side of its input in pixels; by default its own.")] = None,
) -> None:
    """Show the width of the features and of their blocks, the preprocessing and the fingerprint of an encoder."""
    from i2cansay.encoders import get_encoder

    encoder = get_encoder(name, size=size)
    typer.echo(f"name           {encoder.name}")
    typer.echo(f"features       {encoder.dim}")
    if len(encoder.blocks) > 1:
        typer.echo(f"blocks         {', '.join(f'{each.name} {each.width}' for each in encoder.blocks)}")
    typer.echo(f"views          {encoder.views}")
    _show(encoder.preprocessing)
    typer.echo(f"threads        {encoder.threads}")
    typer.echo(f"fingerprint    {encoder.fingerprint}")


@app.command()
def bench(
    name: Annotated[str, typer.Argument(help=NAME_HELP)],
    *,
    size: Annotated[int | None, typer.Option(help="Side of its input in pixels; by default its own.")] = None,
    threads: Annotated[int | None, typer.Option(help="Cores to use; by default all.")] = None,
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "cpu",
    images: Annotated[int, typer.Option(help="Photographs in a round.")] = 32,
    rounds: Annotated[int, typer.Option(help="Rounds, of which the median is taken.")] = 5,
) -> None:
    """Measure how many images a second an encoder takes here, from JPEG files in memory to features.

    Example: i2cansay encoder bench efficientnet-lite0+stages
    """
    from i2cansay.encoders import get_encoder
    from i2cansay.encoders.encoder_speed import measure_speed

    encoder = get_encoder(name, size=size, threads=threads, device=device)
    speed = measure_speed(encoder, images=images, rounds=rounds)
    typer.echo(
        f"{encoder.name} at {encoder.preprocessing.size} px, {encoder.dim} features, {device}, "
        f"{encoder.threads} threads: {speed.images_per_second:.1f} images/s; one image {speed.milliseconds:.0f} ms"
    )


def _show(looking: Preprocessing) -> None:
    typer.echo(f"input          {looking.size} x {looking.size} pixels")
    typer.echo(f"preprocessing  {looking.in_words()}")
    typer.echo(f"mean, std      {_three(looking.mean)}, {_three(looking.std)}")


def _three(values: tuple[float, float, float]) -> str:
    return " ".join(f"{value:.4g}" for value in values)
