"""`i2cansay doctor`: checks the models of a data folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from i2cansay.cli.folders import check_folder


def doctor(
    folder: Annotated[
        Path, typer.Argument(help="A data folder of `i2cansay serve`; the service may be running.")
    ],
    backup: Annotated[
        Path | None,
        typer.Option(help="Copy every undamaged model into this folder, and check the copies."),
    ] = None,
) -> None:
    """Check every model in a data folder of the service: structure, digests, counts.

    Changes nothing. The exit code is 1 if a model is damaged.
    """
    check_folder(folder)
    from i2cansay.service.diagnosis import back_up, examine

    findings = list(examine(folder))
    for finding in findings:
        typer.echo(f"{'ok  ' if finding.well else 'FAIL'} {finding.name}: {finding.sentence}")
    if backup is not None:
        for path in back_up(folder, backup):
            typer.echo(f"copied to {path}")
    if not all(finding.well for finding in findings):
        raise typer.Exit(1)
