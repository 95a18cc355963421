"""`i2cansay predict`: ask a model file about images or features."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from i2cansay.cli.model_options import Error, LabelColumn, Model, NewError, OpenEncoder, OwnLearner, Threads

if TYPE_CHECKING:
    from i2cansay.cli.material import Material
    from i2cansay.image_learner import Answer

# What a person should look at comes first.
SORTED_FIRST = {"unreadable": 0, "new": 1, "unsure": 2, "sure": 3}


def predict(
    model: Model,
    what: Annotated[
        list[Path],
        typer.Argument(
            help="Images, folders of images, patterns such as `'*.jpg'`; or one CSV or NPZ file of features. If it "
            "has labels, the share of correct predictions is printed."
        ),
    ],
    *,
    top: Annotated[
        int, typer.Option(min=1, help="Number of classes to name per image, the likeliest first.")
    ] = 1,
    sort: Annotated[
        str, typer.Option(help="`unsure` puts first what a person should look at; `given` keeps the order.")
    ] = "given",
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV instead of a table.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="A line of JSON per image instead of a table.")
    ] = False,
    error: Error = 0.05,
    new_error: NewError = 0.05,
    out: Annotated[Path | None, typer.Option(help="File to write to instead of the terminal.")] = None,
    label_column: LabelColumn = "label",
    learner: OwnLearner = None,
    encoder: OpenEncoder = None,
    threads: Threads = None,
) -> None:
    """Say what images show: file, label, probability and verdict of each.

    `sure` means that among the answers called so at most a share of --error is wrong; `new` looks like no class that
    was taught; `unsure` is everything else. Images that cannot be read are named on stderr, and the exit code is 1.

    Features give a CSV line per row, with the likeliest class and its probability.

    Example: i2cansay predict defects.i2cs today/ --sort unsure
    """
    from i2cansay.cli.folders import check_folder_of
    from i2cansay.cli.material import find_images
    from i2cansay.cli.model import check_kind, kind_of

    kind_of(model)
    if sort not in ("given", "unsure"):
        raise ValueError(f"--sort is given or unsure, got {sort!r}")
    if as_csv and as_json:
        raise ValueError("expected one of --csv and --json, got both")
    material = find_images(what)
    check_folder_of(out)
    if check_kind(model, material.kind) == "features" or material.stores:
        if as_json or sort != "given":
            raise ValueError("--json and --sort are for images; features give CSV, in their order")
        _predict_features(model, material, label_column=label_column, learner=learner, top=top, out=out)
        return
    from i2cansay.cli.image_progress import image_progress
    from i2cansay.cli.model import open_image_model

    opened = open_image_model(model, own=learner, encoder=encoder, threads=threads)
    with image_progress("encoding", len(material.images)) as progress:
        answers = opened.answer(material.paths, top, error=error, new_error=new_error, progress=progress)
    rows = list(zip(map(str, material.paths), answers, strict=True))
    if sort == "unsure":
        rows.sort(key=lambda row: (SORTED_FIRST[row[1].verdict], row[1].probability))
    with _opened(out) as file:
        if as_json:
            file.writelines(json.dumps(answer_record(name, answer)) + "\n" for name, answer in rows)
        else:
            _write_table(file, rows, top, as_csv=as_csv)
    _tell_unreadable(rows)


def answer_record(name: str, answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON has it: the file with label, probability and verdict, or the reason for none."""
    if answer.reason:
        return {"file": name, "verdict": answer.verdict, "error": answer.reason}
    return {
        "file": name,
        "label": answer.label,
        "probability": round(answer.probability, 4),
        "verdict": answer.verdict,
        "top": [
            {"label": guess.label, "probability": round(guess.probability, 4)} for guess in answer.guesses
        ],
    }


def _write_table(file: IO[str], rows: Sequence[tuple[str, Answer]], top: int, *, as_csv: bool) -> None:
    from i2cansay.cli.text_table import aligned

    top = max((len(answer.guesses) for _, answer in rows), default=0) or top
    ranks = [""] if top == 1 else [f"_{rank}" for rank in range(1, top + 1)]
    header = ["file", *(f"{name}{rank}" for rank in ranks for name in ("label", "probability")), "verdict"]
    lines: list[list[object]] = []
    for name, answer in rows:
        cells = [cell for guess in answer.guesses for cell in (guess.label, f"{guess.probability:.4f}")]
        lines.append([name, *cells, *[""] * (2 * top - len(cells)), answer.verdict])
    if as_csv:
        csv.writer(file).writerows([header, *lines])
    else:
        file.write(aligned([header, *lines], right=range(2, 2 * top + 1, 2)) + "\n")


def _tell_unreadable(rows: Sequence[tuple[str, Answer]]) -> None:
    if unreadable := [answer.reason for _, answer in rows if answer.reason]:
        typer.echo(f"{len(unreadable)} of {len(rows)} images could not be read:", err=True)
        for reason in unreadable:
            typer.echo(f"  {reason}", err=True)
        raise typer.Exit(1)


def _predict_features(
    model: Path, material: Material, *, label_column: str, learner: str | None, top: int, out: Path | None
) -> None:
    from i2cansay.cli.model import FeatureModel
    from i2cansay.features import load_features

    if material.stores:
        raise ValueError(
            f"{material.stores[0]} is a feature store; expected images, or features as CSV or NPZ"
        )
    if len(material.tables) > 1:
        raise ValueError(f"expected one file of features at a time, got {len(material.tables)}")
    taught = FeatureModel.open(model, learner)
    known = taught.learner
    asked = load_features(material.tables[0], label=label_column).ordered_as(taught.columns)
    probabilities = known.predict_proba(asked.X)
    top = min(top, probabilities.shape[1])
    best = (-probabilities).argsort(axis=1, kind="stable")[:, :top]
    header = [name for rank in range(1, top + 1) for name in (f"label_{rank}", f"probability_{rank}")]
    lines = [
        [cell for column in row for cell in (known.classes_[column], f"{probabilities[i, column]:.4f}")]
        for i, row in enumerate(best)
    ]
    with _opened(out) as file:
        csv.writer(file).writerows([header if top > 1 else ["label", "probability"], *lines])
    if asked.y is not None:
        right = float((known.classes_[best[:, 0]].astype(str) == asked.y.astype(str)).mean())
        typer.echo(f"{right:.1%} of {len(asked.y)} labels are predicted correctly", err=True)


@contextmanager
def _opened(out: Path | None) -> Iterator[IO[str]]:
    if out is None:
        yield sys.stdout
        return
    # File names that are no Unicode keep the bytes they have.
    with out.open("w", newline="", encoding="utf-8", errors="surrogateescape") as file:
        yield file
