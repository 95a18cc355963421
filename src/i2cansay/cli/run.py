"""`i2cansay run`: play learners over a stream of your own features."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from i2cansay.cli.folders import check_folder_of, check_there


def run(
    train: Annotated[
        Path, typer.Argument(help="Features to stream: NPZ (X, y or F, y) or CSV with a column `label`.")
    ],
    *,
    test: Annotated[Path, typer.Option(help="Features to measure on, in the same format.")],
    learner: Annotated[
        list[str],
        typer.Option(
            help="Name of a learner, or `package.module:Class`; repeat for several, or `all` for every one there is."
        ),
    ] = ["i2cansay"],  # noqa: B006 - typer reads the default, nobody changes it
    stream: Annotated[
        str,
        typer.Option(
            help="Order of the samples: step:K, gaussian, gaussian_schedule, iid, core50, si_blurry, or "
            "`package.module:Class`."
        ),
    ] = "step:1",
    seeds: Annotated[int, typer.Option(min=1, help="Number of class orders to average over.")] = 1,
    batch_size: Annotated[int, typer.Option(min=1, help="Samples per batch.")] = 50,
    fraction: Annotated[
        float | None, typer.Option(help="Use only this share of the training rows of each class, as in 0.1.")
    ] = None,
    set_: Annotated[
        list[str],
        typer.Option("--set", help="A parameter of the learner, as in lr=0.01; repeat for several."),
    ] = [],  # noqa: B006
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the outcomes to this file, as JSON.")
    ] = None,
) -> None:
    """Stream features through learners in one pass and print how accurate each is at the end.

    Example: i2cansay run cub_train.npz --test cub_test.npz --learner i2cansay --learner slda --stream step:5
    """
    check_there(train, test, hint="; expected CSV with a header, or .npz")
    check_folder_of(json_file)
    from i2cansay.cli.outcome_table import print_outcomes
    from i2cansay.cli.parameter_options import parse_settings
    from i2cansay.experiments.run.comparison import FeatureData, compare
    from i2cansay.features import load_features
    from i2cansay.learners import LEARNERS, learner_class

    of_features = [name for name in LEARNERS if not learner_class(name).reads_images]
    names = of_features if learner == ["all"] else learner
    taught = load_features(train)
    asked = load_features(test).ordered_as(taught.columns)
    data = FeatureData(train.name, taught.X, taught.labels(), asked.X, asked.labels())
    if fraction is not None:
        data = data.low_data(fraction)
    outcomes = compare(
        data,
        names,
        stream=stream,
        seeds=range(seeds),
        batch_size=batch_size,
        parameters=parse_settings(set_),
        progress=True,
    )
    number = "1 seed" if seeds == 1 else f"{seeds} seeds"
    print_outcomes(
        f"{data.title}, {len(data.y):,} rows of width {data.X.shape[1]}, stream {stream}, {number}",
        outcomes,
        caption="average: over the sessions, test samples of the classes so far pooled",
    )
    if json_file is not None:
        records = {name: [outcome.to_dict() for outcome in runs] for name, runs in outcomes.items()}
        json_file.write_text(json.dumps(records, indent=1))
        typer.echo(f"wrote {json_file}")
