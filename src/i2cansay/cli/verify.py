"""`i2cansay verify`: what of the paper's claims holds, against its own tables and against records."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def verify(
    records: Annotated[
        list[Path], typer.Argument(help="Folders or files of records, made by `i2cansay reproduce`.")
    ],
    *,
    allow: Annotated[
        list[str],
        typer.Option(help="A claim, or claim:variant, that is known to fail and does not count; repeatable."),
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    markdown: Annotated[Path | None, typer.Option(help="Also write the answers to this file.")] = None,
) -> None:
    """Say for each claim of the paper: holds, does not hold, vacuous, or not testable here and why.

    A claim is vacuous where what it varies changes under 0.1% of the predictions. Exit code 0: nothing that was
    tested on our records fails, but for what is allowed to; 1: something does.

    Example: i2cansay verify i2cansay-records --allow best-beta --allow flat-in-memory:significance=False
    """
    from i2cansay.experiments.records import load_records, write_text
    from i2cansay.experiments.report_findings import findings_markdown, print_findings
    from i2cansay.experiments.verification import claim_names, failures
    from i2cansay.experiments.verification import verify as check

    if unknown := sorted({name.partition(":")[0] for name in allow} - set(claim_names())):
        raise ValueError(f"there is no claim {', '.join(unknown)}; there are {', '.join(claim_names())}")
    corrupt: list[str] = []
    loaded = load_records(*records, report=corrupt.append)
    if not loaded:
        raise ValueError(f"there is no usable record in {', '.join(map(str, records))}")
    findings = check(loaded)
    print_findings(findings)
    if markdown is not None:
        write_text(markdown, findings_markdown(findings))
    for sentence in corrupt:
        print(sentence, file=sys.stderr)
    failed = failures(findings, allow)
    if failed:
        names = " ".join(f"--allow {name}" for name in dict.fromkeys(finding.label for finding in failed))
        print(f"does not hold; accept what is known with {names}", file=sys.stderr)
    if failed or corrupt:
        raise typer.Exit(1)
