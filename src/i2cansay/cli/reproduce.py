"""`i2cansay reproduce`: play a table of the paper and print it beside the paper's numbers."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from i2cansay.cli.engine_options import Address, EngineName, check_engine
from i2cansay.cli.folders import check_folder

if TYPE_CHECKING:
    from i2cansay.experiments.declare.choice import Choice
    from i2cansay.experiments.run.shared_features import EncodingProgress

RECORDS = Path("i2cansay-records")
SECONDS_BETWEEN_LINES = 10.0


def reproduce(
    table: Annotated[
        str,
        typer.Argument(
            help="table1 to table6, sessions, generation, gaussian-stream, dimensions, or all of these; "
            "of our own: shared-step, shared-gaussian, shared-ablation, resnet50, floors, prompts, tuning-METHOD."
        ),
    ],
    *,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Only the columns of this data set; one that the table does not have is played in every column."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the data set, or with a folder for each of several; by default they are searched for in "
            "I2CANSAY_DATA."
        ),
    ] = None,
    backbone: Annotated[str | None, typer.Option(help="Only the rows of this backbone of the paper.")] = None,
    encoder: Annotated[
        str | None,
        typer.Option(help="Encoder to use in place of the backbones of the paper; the title says so."),
    ] = None,
    fraction: Annotated[
        float | None, typer.Option(help="Share of the training data to use in every row, as in 0.1.")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Number of class orders to average over; by default as declared."),
    ] = None,
    rows: Annotated[list[str], typer.Option(help="Only this row; repeat for several.")] = [],  # noqa: B006 - typer reads the default, nobody changes it
    learner: Annotated[
        list[str],
        typer.Option(help="Add a row with this learner, as `package.module:Class`; repeat for several."),
    ] = [],  # noqa: B006
    stand_in: Annotated[
        bool, typer.Option("--stand-in", help="Play the columns of CORe50 on 50 classes of CIFAR-100.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; by default one per core.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Play finished cells again.")] = False,
    records: Annotated[
        Path,
        typer.Option(
            help="Folder of the records; finished cells are read from it, also from .jsonl files of many."
        ),
    ] = RECORDS,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan", help="Play nothing: print what has records, what is to be played, and the hours."
        ),
    ] = False,
    times: Annotated[
        list[Path],
        typer.Option(help="With --plan: more records to estimate times from; repeat for several places."),
    ] = [],  # noqa: B006
    engine: EngineName = "local",
    address: Address = None,
) -> None:
    """Play a table of the paper, every cell once, and print our numbers beside the paper's.

    A run that was stopped or killed continues where it stopped. With --engine ray, cells are tasks of a Ray cluster
    whose machines share the folder of the records and the cache folder under the same paths.

    Examples: i2cansay reproduce table1 --dataset digits
    and: i2cansay reproduce table4 --encoder efficientnet-lite0
    """
    check_engine(engine, address)
    if engine == "ray" and jobs is not None:
        raise ValueError("--jobs is the number of processes of this machine; Ray uses all processors it has")
    check_folder(data)
    from i2cansay.engines import open_engine
    from i2cansay.experiments.declare.choice import Choice
    from i2cansay.experiments.declare.declaration import DECLARED
    from i2cansay.experiments.report.illustration import ILLUSTRATIONS, illustrate, save_illustration
    from i2cansay.experiments.report.plan_models import differences_model, plan_model
    from i2cansay.experiments.report.table_model import print_model
    from i2cansay.experiments.run.reproduction import reproduce_table
    from i2cansay.experiments.run.run_progress import show_run

    choice = Choice(dataset, backbone, encoder, fraction, seeds, tuple(rows), stand_in, tuple(learner))
    failed = False
    names = (*DECLARED, *ILLUSTRATIONS) if table == "all" else (table,)
    if times and not plan:
        raise ValueError("--times is for --plan; leave it out to play the table")
    if plan:
        tables = [(name, chosen) for name, chosen in _with_rows(names, choice) if name not in ILLUSTRATIONS]
        with open_engine(engine, address) if engine == "ray" else nullcontext() as machines:
            workers = machines.workers if machines else jobs or os.cpu_count() or 1
        _print_plan(tables, records, times, workers)
        return
    with open_engine(engine, address) if engine == "ray" else nullcontext() as machines:
        for name, chosen in _with_rows(names, choice):
            if name in ILLUSTRATIONS:
                made = illustrate(name, encoder=encoder, data=data, progress=_encoding_lines())
                typer.echo(f"{made.title}: wrote {save_illustration(made, records)}")
                continue
            with show_run(name) as progress:
                done = reproduce_table(
                    name,
                    chosen,
                    records,
                    data=data,
                    jobs=jobs,
                    again=again,
                    progress=progress,
                    encoding=_encoding_lines(),
                    report=_say,
                    engine=machines,
                )
            print_model(plan_model(done.measured))
            for row in done.measured.table.minus:
                if any(each.declared.name == row for each in done.measured.rows):
                    print_model(differences_model(done.measured, row))
            for sentence in done.unavailable:
                _say(sentence)
            for sentence in done.failures:
                _say(f"failed: {sentence}")
            failed = failed or bool(done.failures)
    typer.echo(f"records: {records}; a page with plots: i2cansay report {records} --html report.html")
    if failed:
        raise typer.Exit(1)


def _print_plan(
    tables: Sequence[tuple[str, Choice]], records: Path, times: Sequence[Path], jobs: int
) -> None:
    """Print what it takes to play tables to their end."""
    from i2cansay.experiments.report.forecast_model import forecast_model
    from i2cansay.experiments.report.table_model import print_model
    from i2cansay.experiments.run.forecast import Durations
    from i2cansay.experiments.run.record_folder import load_records
    from i2cansay.experiments.run.reproduction import forecast_table

    there = load_records(records, report=_say) if records.exists() else []
    durations = Durations([*there, *load_records(*times, report=_say)])
    seconds = 0.0
    for name, choice in tables:
        made = forecast_table(name, choice, there, durations)
        print_model(forecast_model(made, jobs=jobs))
        seconds += made.seconds
    if len(tables) > 1:
        typer.echo(
            f"all tables: about {seconds / jobs / 3600:.1f} hours; cells that tables share count in each"
        )


def _with_rows(names: Sequence[str], choice: Choice) -> list[tuple[str, Choice]]:
    """Return the tables that have any of the chosen rows, each with those it has; print which are left out."""
    from i2cansay.experiments.declare.declaration import DECLARED, load_table
    from i2cansay.experiments.run.planning import row_names

    if len(names) == 1 or not choice.rows:  # planning a single table reports unknown rows itself
        return [(name, choice) for name in names]
    known = {name: row_names(load_table(name), choice.backbone) for name in names if name in DECLARED}
    if unknown := [row for row in choice.rows if not any(row in rows for rows in known.values())]:
        raise ValueError(f"no table has a row {', '.join(unknown)}")
    found = []
    for name in names:
        if rows := [row for row in choice.rows if row in known.get(name, ())]:
            found.append((name, replace(choice, rows=tuple(rows))))
        else:
            _say(f"{name} is left out: it has no row {' or '.join(choice.rows)}")
    return found


def _encoding_lines() -> EncodingProgress:
    from i2cansay.cli.encode import Meter

    meters: dict[str, Meter] = {}
    said: dict[str, float] = {}

    def tell(title: str, done: int, total: int) -> None:
        meter = meters.setdefault(title, Meter())
        meter.update(done, total)
        if done < total and meter.seconds - said.get(title, -SECONDS_BETWEEN_LINES) >= SECONDS_BETWEEN_LINES:
            said[title] = meter.seconds
            _say(f"encoding {title}: {done} of {total}, {meter.note()}")

    return tell


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
