"""`i2cansay encoder`: which encoders there are, adding one, looking at one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from i2cansay.encoders.preprocessing import Preprocessing

app = typer.Typer(
    no_args_is_help=True, help="Encoders, which turn images into feature vectors: list, add, info."
)


@app.command("list")
def list_encoders() -> None:
    """List the encoders and tell which are ready to use."""
    from i2cansay.encoders.added import encoder_states

    states = encoder_states()
    width = max(len(state.name) for state in states)
    for state in states:
        typer.echo(f"{state.name:<{width}}  {state.status:<14}  {state.summary}")


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="A name from the list that needs weights, or a new one.")],
    weights: Annotated[
        Path | None,
        typer.Option(
            help="A checkpoint (.pth, .safetensors, .npz), or an .onnx file; a .toml beside it says how "
            "images are prepared."
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
    name: Annotated[
        str,
        typer.Argument(help="An encoder of the list, the path of an .onnx file, or `package.module:NAME`."),
    ],
    size: Annotated[int | None, typer.Option(help="Side of its input in pixels; by default its own.")] = None,
) -> None:
    """Show the width of the features, the preprocessing and the fingerprint of an encoder."""
    from i2cansay.encoders import get_encoder

    encoder = get_encoder(name, size=size)
    typer.echo(f"name           {encoder.name}")
    typer.echo(f"features       {encoder.dim}")
    _show(encoder.preprocessing)
    typer.echo(f"threads        {encoder.threads}")
    typer.echo(f"fingerprint    {encoder.fingerprint}")


def _show(looking: Preprocessing) -> None:
    typer.echo(f"input          {looking.size} x {looking.size} pixels")
    typer.echo(f"preprocessing  {looking.in_words()}")
    typer.echo(f"mean, std      {_three(looking.mean)}, {_three(looking.std)}")


def _three(values: tuple[float, float, float]) -> str:
    return " ".join(f"{value:.4g}" for value in values)
