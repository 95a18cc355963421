"""`i2cansay verify`: checks the paper's claims on its own tables and on records."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from i2cansay.cli.folders import check_folder_of, check_records


def verify(
    records: Annotated[
        list[Path], typer.Argument(help="Folders or files of records, made by `i2cansay reproduce`.")
    ],
    *,
    allow: Annotated[
        list[str],
        typer.Option(
            help="A claim, or claim:variant, that is known to fail and does not count; repeat for several."
        ),
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    markdown: Annotated[Path | None, typer.Option(help="Also write the verdicts to this file.")] = None,
) -> None:
    """Check each claim of the paper: it holds, does not hold, is undecided, vacuous, or not testable here.

    Undecided: the declared seeds do not show it either way, or are not all played. Vacuous: what the claim varies
    changes under 0.1% of the predictions. docs/statistics.md has the rules of a verdict.

    Exit code 0: every tested claim holds, is undecided, or its failure is allowed; 1: one does not hold; 2: the
    records test no claim, although they are of the paper's data sets. On other data, such as digits, there is
    nothing to check, and it says so.

    Example: i2cansay verify i2cansay-records --allow best-beta --allow flat-in-memory:significance=False
    """
    check_records(records)
    check_folder_of(markdown)
    from i2cansay.experiments.claims.verification import (
        claim_labels,
        claim_names,
        failures,
        foreign_datasets,
        is_tested,
    )
    from i2cansay.experiments.claims.verification import verify as check
    from i2cansay.experiments.declare.declaration import VARIANTS
    from i2cansay.experiments.report.report_findings import findings_model, summary
    from i2cansay.experiments.report.table_model import print_model, to_markdown
    from i2cansay.experiments.run.record_folder import load_records, write_text

    if unknown := sorted(set(allow) - set(claim_labels())):
        raise ValueError(
            f"there is no claim {', '.join(unknown)}; there are {', '.join(claim_names())}, each also with "
            f":{' or :'.join(VARIANTS)}"
        )
    corrupt: list[str] = []
    loaded = load_records(*records, report=corrupt.append)
    if not loaded:
        raise ValueError(f"there is no usable record in {', '.join(map(str, records))}")
    if not corrupt and (foreign := foreign_datasets(loaded)):
        typer.echo(_no_claims_on(foreign, len(loaded)))
        return
    findings = check(loaded)
    print_model(findings_model(findings))
    typer.echo(summary(findings))
    if markdown is not None:
        write_text(markdown, to_markdown(findings_model(findings)) + "\n")
    for sentence in corrupt:
        print(sentence, file=sys.stderr)
    failed = failures(findings, allow)
    if failed:
        names = " ".join(f"--allow {name}" for name in dict.fromkeys(finding.label for finding in failed))
        print(f"some claims do not hold; to accept known failures: {names}", file=sys.stderr)
    if failed or corrupt:
        raise typer.Exit(1)
    if not is_tested(findings):
        raise ValueError(
            "these records test no claim: a claim is about the paper's data sets and shares of the data, with "
            "the rows it names; play its table with `i2cansay reproduce`"
        )


def _no_claims_on(datasets: list[str], n_records: int) -> str:
    return (
        f"{n_records} records of {', '.join(datasets)}: the paper claims nothing about "
        f"{'this data set' if len(datasets) == 1 else 'these data sets'}, so there is nothing to check.\n"
        "`i2cansay report` shows the tables. The claims are about CIFAR-10, CIFAR-100, CUB-200 and CORe50; "
        "to check some:\n"
        "  i2cansay reproduce table4 --encoder efficientnet-lite0\n"
        "  i2cansay verify i2cansay-records"
    )
