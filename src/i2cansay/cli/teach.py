"""`i2cansay learn` and `i2cansay predict`: a model file, taught and asked from the shell."""

from __future__ import annotations

import csv
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer


def learn(
    model: Annotated[Path, typer.Argument(help="The model file; created if missing.")],
    data: Annotated[
        list[Path], typer.Argument(help="CSV with a header and a label column, or NPZ (X, y or F, y).")
    ],
    *,
    label: Annotated[str, typer.Option(help="Column of a CSV file that holds the label.")] = "label",
    learner: Annotated[
        str | None,
        typer.Option(
            help="Learner of a new model: a name, by default i2cansay, or `package.module:Class` for a class of "
            "your own, which is then needed whenever the model is opened.",
            show_default=False,
        ),
    ] = None,
    set_: Annotated[
        list[str],
        typer.Option("--set", help="A parameter of a new model, as in lr=0.01; repeat for several."),
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    batch_size: Annotated[int, typer.Option(min=1, help="Rows per learning step.")] = 50,
) -> None:
    """Teach a model file the rows of a table; repeat with more rows and new classes at any time.

    The file is replaced once everything is learnt; bad input leaves it as it was.

    Example: i2cansay learn defects.i2cs monday.csv && i2cansay learn defects.i2cs tuesday.csv
    """
    from i2cansay.cli.model import TaughtModel
    from i2cansay.cli.parameter_options import parse_settings
    from i2cansay.core.import_by_name import is_import_name
    from i2cansay.features import load_features

    if model.exists():
        own = learner if learner is not None and is_import_name(learner) else None
        if surplus := [*(["--learner"] if learner != own else []), *(["--set"] if set_ else [])]:
            raise ValueError(
                f"{model} exists: its learner and parameters are in the file; leave out {' and '.join(surplus)}"
            )
        known = TaughtModel.open(model, own)
    else:
        known = TaughtModel.new(learner or "i2cansay", parse_settings(set_))
    rows = sum(known.learn(load_features(path, label=label), batch_size) for path in data)
    known.save(model)
    typer.echo(f"{model}: learnt {rows} rows, knows {len(known.learner.classes_)} classes")


def predict(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV or NPZ of features; if it has labels, the share of correct predictions is printed."
        ),
    ],
    *,
    label: Annotated[
        str, typer.Option(help="Column of a CSV file that holds the label, if there is one.")
    ] = "label",
    learner: Annotated[
        str | None,
        typer.Option(help="For a model of a learner of your own: its class, as `package.module:Class`."),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, help="Number of classes to name per row, the likeliest first.")
    ] = 1,
    out: Annotated[Path | None, typer.Option(help="File to write to instead of the terminal.")] = None,
) -> None:
    """Predict with a model file: prints a CSV line per row with the likeliest class and its probability.

    Example: i2cansay predict defects.i2cs today.csv --top 3
    """
    from i2cansay.cli.model import TaughtModel
    from i2cansay.features import load_features

    taught = TaughtModel.open(model, learner)
    known, asked = taught.learner, load_features(data, label=label).ordered_as(taught.columns)
    probabilities = known.predict_proba(asked.X)
    top = min(top, probabilities.shape[1])
    best = (-probabilities).argsort(axis=1, kind="stable")[:, :top]
    header = [name for rank in range(1, top + 1) for name in (f"label_{rank}", f"probability_{rank}")]
    lines = [
        [cell for column in row for cell in (known.classes_[column], f"{probabilities[i, column]:.4f}")]
        for i, row in enumerate(best)
    ]
    with nullcontext(sys.stdout) if out is None else out.open("w", newline="") as target:
        csv.writer(target).writerows([header if top > 1 else ["label", "probability"], *lines])
    if asked.y is not None:
        right = float((known.classes_[best[:, 0]].astype(str) == asked.y.astype(str)).mean())
        typer.echo(f"{right:.1%} of {len(asked.y)} labels are predicted correctly", err=True)
