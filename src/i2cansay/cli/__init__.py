"""The command line: parse, call, print."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import typer

import i2cansay
from i2cansay.cli import data, encoder
from i2cansay.cli import serve as service
from i2cansay.cli.application import Application
from i2cansay.cli.demo import demo
from i2cansay.cli.doctor import doctor
from i2cansay.cli.encode import encode
from i2cansay.cli.report import report
from i2cansay.cli.reproduce import reproduce
from i2cansay.cli.run import run
from i2cansay.cli.teach import learn, predict
from i2cansay.cli.verify import verify

TEACHING = "Teach a model and ask it"
SERVING = "Let people teach it on a page"
IMAGES = "Images and encoders"
COMPARING = "Compare learners, reproduce the paper"

app = Application(
    name="i2cansay",
    add_completion=True,
    help="An image classifier that keeps learning: one pass, new classes at any time, no stored images.",
    epilog="`i2cansay COMMAND -h` describes a command. To begin: i2cansay demo, or i2cansay data sample digits.",
)
SECTIONS: dict[str, tuple[Callable[..., None], ...]] = {
    TEACHING: (learn, predict),
    SERVING: (service.serve, doctor),
    IMAGES: (encode,),
    COMPARING: (demo, run, reproduce, report, verify),
}
for section, commands in SECTIONS.items():
    for command in commands:
        app.command(rich_help_panel=section)(command)
app.add_typer(service.app, name="token", rich_help_panel=SERVING)
app.add_typer(data.app, name="data", rich_help_panel=IMAGES)
app.add_typer(encoder.app, name="encoder", rich_help_panel=IMAGES)


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
    """An image classifier that keeps learning: one pass, new classes at any time, no stored images."""


def main() -> None:
    """Run the command line; what went wrong becomes one sentence and exit code 2."""
    try:
        # Also for `python -m i2cansay`: completion is installed for the command.
        app(prog_name="i2cansay")
    except BrokenPipeError:  # `i2cansay ... | head`: nobody reads on, and that is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (ValueError, OSError, ImportError) as error:
        sys.exit(_complain(error))


def _complain(error: Exception) -> int:
    sentence = " ".join(str(error).split()) or type(error).__name__
    print(f"i2cansay: {sentence}", file=sys.stderr)
    return 2
