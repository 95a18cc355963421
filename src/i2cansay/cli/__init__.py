"""The command line: parse, call, print."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

import typer

import i2cansay
from i2cansay.cli import data, encoder
from i2cansay.cli import serve as service
from i2cansay.cli.application import Application
from i2cansay.cli.correct import forget, relabel, rename, unlearn
from i2cansay.cli.demo import demo
from i2cansay.cli.doctor import doctor
from i2cansay.cli.encode import encode
from i2cansay.cli.examine import examine
from i2cansay.cli.export import export
from i2cansay.cli.fit import fit
from i2cansay.cli.info import info
from i2cansay.cli.learn import learn
from i2cansay.cli.merge import merge
from i2cansay.cli.predict import predict
from i2cansay.cli.report import report
from i2cansay.cli.reproduce import reproduce
from i2cansay.cli.run import run
from i2cansay.cli.verify import verify
from i2cansay.cli.watch import watch

TEACHING = "Teach a model and ask it"
CORRECTING = "Correct what it was taught"
SERVING = "Let people teach it on a page"
IMAGES = "Images and encoders"
COMPARING = "Compare learners, reproduce the paper"

app = Application(
    name="i2cansay",
    add_completion=True,
    help="An image classifier that keeps learning: one pass, new classes at any time, no stored images.",
    epilog="`i2cansay COMMAND -h` describes a command. To begin: i2cansay demo, or i2cansay data sample digits.",
)
SECTIONS: dict[str, dict[str, Callable[..., None]]] = {
    TEACHING: {
        "learn": learn,
        "fit": fit,
        "predict": predict,
        "test": examine,
        "watch": watch,
        "info": info,
        "export": export,
    },
    CORRECTING: {
        "relabel": relabel,
        "unlearn": unlearn,
        "forget": forget,
        "rename": rename,
        "merge": merge,
    },
    SERVING: {"serve": service.serve, "doctor": doctor},
    IMAGES: {"encode": encode},
    COMPARING: {"demo": demo, "run": run, "reproduce": reproduce, "report": report, "verify": verify},
}
for section, commands in SECTIONS.items():
    for name, command in commands.items():
        app.command(name, rich_help_panel=section)(command)
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
    for stream in (sys.stdout, sys.stderr):
        # A file name that the terminal cannot show must not fail a command whose work is done.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
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
