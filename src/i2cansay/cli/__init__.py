"""The command line: parse, call, print."""

from __future__ import annotations

import os
import sys

import typer

import i2cansay
from i2cansay.cli import data, encoder
from i2cansay.cli import serve as service
from i2cansay.cli.correct import forget, relabel, rename, unlearn
from i2cansay.cli.demo import demo
from i2cansay.cli.doctor import doctor
from i2cansay.cli.encode import encode
from i2cansay.cli.learn import learn
from i2cansay.cli.predict import predict
from i2cansay.cli.report import report
from i2cansay.cli.reproduce import reproduce
from i2cansay.cli.run import run
from i2cansay.cli.verify import verify

app = typer.Typer(
    name="i2cansay",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="markdown",
    help="A classifier that keeps learning from a labelled stream: one pass, no task boundaries, no stored samples.",
)
app.command()(demo)
app.command()(run)
app.command()(reproduce)
app.command()(report)
app.command()(verify)
app.command()(learn)
app.command()(predict)
app.command()(relabel)
app.command()(unlearn)
app.command()(forget)
app.command()(rename)
app.command()(encode)
app.command()(service.serve)
app.command()(doctor)
app.add_typer(service.app, name="token")
app.add_typer(encoder.app, name="encoder")
app.add_typer(data.app, name="data")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"i2cansay {i2cansay.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """A classifier that keeps learning from a labelled stream: one pass, no task boundaries, no stored samples."""


def main() -> None:
    """Run the command line; what went wrong becomes one sentence and exit code 2."""
    try:
        app()
    except BrokenPipeError:  # `i2cansay ... | head`: nobody reads on, and that is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (ValueError, OSError, ImportError) as error:
        sys.exit(_complain(error))


def _complain(error: Exception) -> int:
    sentence = " ".join(str(error).split()) or type(error).__name__
    print(f"i2cansay: {sentence}", file=sys.stderr)
    return 2
