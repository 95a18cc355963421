"""`i2cansay fit`: learn a whole data set in parts, on this machine or on a Ray cluster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from i2cansay.cli.engine_options import Address, EngineName, absolute_file, check_engine
from i2cansay.cli.learn import CHOICES_HELP
from i2cansay.cli.model_options import LabelColumn

if TYPE_CHECKING:
    from collections.abc import Callable

    from i2cansay.cli.material import Material
    from i2cansay.encoders.encoder import Encoder
    from i2cansay.fitting import RowSource
    from i2cansay.learners.base import OnlineClassifier


def fit(
    what: Annotated[
        list[Path],
        typer.Argument(
            help="Feature stores; a folder of images with a subfolder per class, or a list of images (CSV, JSONL); "
            "or features: CSV with a header and a column `label`, or NPZ (X, y or F, y)."
        ),
    ],
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The model file to write; it must not be there yet.")
    ],
    learner: Annotated[
        str,
        typer.Option(
            help=f"The learner: {CHOICES_HELP.rsplit('; paper', 1)[0]}. Or one in closed form by name."
        ),
    ] = "best",
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Encoder of images; by default that of the stores, else efficientnet-lite0, with all stages for "
            "best and small.",
            show_default=False,
        ),
    ] = None,
    set_: Annotated[
        list[str],
        typer.Option("--set", help="A parameter of the learner, as in width=512; repeat for several."),
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    label_column: LabelColumn = "label",
    engine: EngineName = "local",
    address: Address = None,
    parts: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Parts to divide the rows into; by default one for every 100,000 rows, and one for every processor "
            "of the cluster at least.",
            show_default=False,
        ),
    ] = None,
    held_out: Annotated[
        int,
        typer.Option(
            min=0,
            help="About how many rows the model is asked about before it learns them: they calibrate probabilities "
            "and verdicts. At most a tenth of all rows.",
        ),
    ] = 2000,
    analogies: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Of i2cansay_shared: the share of the rows that its head is trained on after the merge, in one "
            "pass on this machine; 0 leaves the head out.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Learn a whole data set in parts; the model file is an ordinary one.

    Each part gives statistics, a tree merges them, and the model is solved once: the result does not depend on the
    parts. On a Ray cluster, paths must lead to the same files on every machine.

    Example: i2cansay fit features/cifar100-train-... -o cifar100.i2cs --engine ray
    """
    from i2cansay.cli.material import find_labelled
    from i2cansay.cli.model import Replacement, check_place

    check_engine(engine, address)
    if out.exists():
        raise ValueError(
            f"{out} exists; delete it, write to another file, or teach it more with `i2cansay learn`"
        )
    check_place(out)
    replacement = Replacement(out)
    material = find_labelled(what, label_column=label_column)
    for note in material.notes:
        typer.echo(note, err=True)
    job = _job(material, learner, encoder, set_, label_column)
    from i2cansay.cli.text_table import several
    from i2cansay.engines import open_engine
    from i2cansay.fitting import fit_parts

    with open_engine(engine, address) as machines:
        done = fit_parts(
            job.rows,
            learner,
            job.parameters,
            engine=machines,
            parts=parts,
            held_out=held_out,
            analogies=analogies,
        )
    replacement.write(lambda path: job.save(done.learner, path))
    known = several(len(done.learner.classes_), "class", "classes")
    head = f", its head trained on {several(done.stepped, 'row')}" if done.stepped else ""
    typer.echo(
        f"{out}: learnt {several(done.rows, 'row')} in {several(done.parts, 'part')}, knows {known}, calibrated by "
        f"{several(done.scored, 'row')}{head}"
    )


@dataclass(frozen=True)
class _Job:
    """Rows to learn, the parameters of the learner for them, and how the model is saved."""

    rows: RowSource
    parameters: dict[str, Any]
    save: Callable[[OnlineClassifier, Path], None]


def _job(
    material: Material, learner: str, encoder: str | None, settings: list[str], label_column: str
) -> _Job:
    from i2cansay.cli.parameter_options import parse_settings
    from i2cansay.learners import make_learner

    parameters = parse_settings(settings)
    make_learner(learner, **parameters)  # a wrong name or parameter is told before anything is read
    if material.tables:
        if encoder is not None:
            raise ValueError("--encoder is for images and feature stores; these are features as they are")
        return _table_job(material.tables, parameters, label_column)
    return _image_job(material, learner, encoder, parameters)


def _table_job(tables: list[Path], parameters: dict[str, Any], label_column: str) -> _Job:
    from i2cansay.cli.model import FeatureModel
    from i2cansay.features import load_features
    from i2cansay.fitting import JoinedRows, TableRows
    from i2cansay.learners.labels import KINDS, same_kind

    sources: list[TableRows] = []
    kind, columns, width = None, None, None
    for path in tables:
        file = load_features(path, label=label_column)
        width = width or file.X.shape[1]
        if file.X.shape[1] != width and (columns is None or file.columns is None):  # names are compared below
            raise ValueError(
                f"{path}: {tables[0]} has {width} features in a row, this file has {file.X.shape[1]}"
            )
        columns = columns or file.columns
        y = file.ordered_as(columns).labels()
        kind = kind or y.dtype.kind
        if kind != "U" and not same_kind(kind, y.dtype.kind):
            raise ValueError(
                f"{path}: the labels so far are {KINDS[kind]}, these are {KINDS.get(y.dtype.kind, 'others')}; "
                "use one type of label in one model"
            )
        sources.append(TableRows(path.absolute(), len(y), label_column, columns, as_text=kind == "U"))
    return _Job(
        JoinedRows(sources), parameters, lambda learner, path: FeatureModel(learner, columns).save(path)
    )


def _image_job(material: Material, learner: str, encoder: str | None, parameters: dict[str, Any]) -> _Job:
    from i2cansay.encoders import get_encoder
    from i2cansay.features.store import read_header
    from i2cansay.image_learner import ImageLearner
    from i2cansay.image_learner.image_learner import default_encoder
    from i2cansay.learners import blocks_parameter

    stored = read_header(material.stores[0]).encoder if material.stores else None
    name = absolute_file(encoder or stored or default_encoder(learner))
    opened = get_encoder(name)
    parameters = blocks_parameter(learner, [block.width for block in opened.blocks]) | parameters
    rows = _store_rows(material.stores, opened) if material.stores else _image_rows(material, name, opened)
    return _Job(rows, parameters, lambda learner, path: ImageLearner(opened, learner).save(path))


def _store_rows(stores: list[Path], encoder: Encoder) -> RowSource:
    from i2cansay.cli.lessons import check_store
    from i2cansay.cli.model import as_known_label
    from i2cansay.cli.stores_together import check_together
    from i2cansay.features import FeatureStore
    from i2cansay.fitting import JoinedRows, StoreRows

    sources = []
    for path in stores:
        store = FeatureStore.open(path)
        check_store(store, encoder)
        names = tuple(as_known_label(name, None) for name in store.class_names)
        sources.append(StoreRows(path.absolute(), names, len(store), encoder.dim))
    for note in check_together(stores):
        typer.echo(note, err=True)
    return JoinedRows(sources)


def _image_rows(material: Material, name: str, encoder: Encoder) -> RowSource:
    from i2cansay.cli.model import as_known_label
    from i2cansay.fitting import ImageFileRows

    known = {text: as_known_label(text, None) for text in set(material.labels)}
    return ImageFileRows(
        tuple(path.absolute() for path in material.paths),
        tuple(known[text] for text in material.labels),
        name,
        encoder.fingerprint,
    )
