"""`i2cansay report`: tables and plots from records, and from nothing else."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from i2cansay.cli.folders import check_folder_of, check_records

if TYPE_CHECKING:
    from i2cansay.experiments.run.plan import Plan
    from i2cansay.experiments.run.record import Record


def report(
    records: Annotated[
        list[Path], typer.Argument(help="Folders or files of records, made by `i2cansay reproduce`.")
    ],
    *,
    html: Annotated[Path | None, typer.Option(help="Write everything as one HTML page with plots.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write all tables and claims as Markdown.")] = None,
    pages: Annotated[
        bool,
        typer.Option(
            "--pages",
            help="Write RESULTS.md beside the one folder named, and its appendices; see its pages.toml.",
        ),
    ] = False,
    pack: Annotated[
        Path | None,
        typer.Option(help="Folder to write the records of each table to, one .jsonl file per table."),
    ] = None,
    fraction: Annotated[
        float | None, typer.Option(help="Only tables played with this share of the training data.")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Number of seeds to use; by default all that were played."),
    ] = None,
) -> None:
    """Print every table that the records fill, with the paper's numbers beside ours.

    Damaged records are named and left out; the exit code is then 1.

    Example: i2cansay report i2cansay-records --html report.html
    """
    check_records(records)
    check_folder_of(html, markdown)
    if pages:
        if len(records) > 1 or any((html, markdown, pack, fraction, seeds)):
            raise ValueError(
                "--pages takes one folder and no other option: it writes what that folder declares"
            )
        _write_pages(records[0])
        return
    from i2cansay.experiments.report.illustration import load_illustrations
    from i2cansay.experiments.report.packing import pack_tables
    from i2cansay.experiments.report.plan_models import plan_model
    from i2cansay.experiments.report.report_markdown import results_markdown
    from i2cansay.experiments.report.report_page import report_page
    from i2cansay.experiments.report.table_model import print_model
    from i2cansay.experiments.run.record_folder import load_records, write_text

    corrupt: list[str] = []
    loaded = load_records(*records, report=corrupt.append)
    if not loaded:
        raise ValueError(f"there is no usable record in {', '.join(map(str, records))}")
    tables = _filled_tables(loaded, fraction, seeds)
    if html is None and markdown is None and pack is None:
        for table in tables:
            print_model(plan_model(table))
    if html is not None:
        drawn = load_illustrations(records, corrupt.append)
        write_text(html, report_page(loaded, illustrations=drawn, fraction=fraction, seeds=seeds))
        typer.echo(f"wrote {html}")
    if markdown is not None:
        write_text(markdown, results_markdown(loaded, fraction=fraction, seeds=seeds))
        typer.echo(f"wrote {markdown}")
    if pack is not None:
        for file, n in pack_tables(loaded, pack).items():
            typer.echo(f"wrote {file}, {n} records")
    for sentence in corrupt:
        print(sentence, file=sys.stderr)
    if corrupt:
        raise typer.Exit(1)


def _filled_tables(loaded: Sequence[Record], fraction: float | None, seeds: int | None) -> Sequence[Plan]:
    """Return the tables that records fill, and say how many records are in none; raise if there is no table."""
    from i2cansay.experiments.report.report_tables import left_out, measure_all

    tables = measure_all(loaded, fraction=fraction, seeds=seeds)
    if not tables:
        share = "" if fraction is None else f" with --fraction {fraction:g}"
        raise ValueError(
            f"{len(loaded)} records were read, but they fill none of the declared tables{share}; play one with "
            "`i2cansay reproduce`"
        )
    if n := left_out(loaded, tables):
        print(f"{n} of {len(loaded)} records are in none of the tables shown", file=sys.stderr)
    return tables


def _write_pages(folder: Path) -> None:
    """Write the published pages of a folder of records."""
    from i2cansay.experiments.report.publication import Publication
    from i2cansay.experiments.report.report_markdown import results_pages
    from i2cansay.experiments.run.record_folder import write_text

    publication = Publication.load(folder)
    for name, text in results_pages(publication).items():
        path = publication.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
        typer.echo(f"wrote {path}")
