"""From a declared table and a choice to cells: what is played, and what cannot be played and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

from i2cansay.core.import_by_name import is_import_name
from i2cansay.encoders.encoder_spec import EncoderSpec
from i2cansay.encoders.transformer_arrays import is_transformer
from i2cansay.experiments.declare.cell import Cell, default_parameters
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import Block, Column, Row, Table
from i2cansay.experiments.run.plan import Entry, Plan, TableRow
from i2cansay.learners import LEARNERS, learner_class, make_learner
from i2cansay.streams import has_sessions

NOT_BUILT = "not built yet"
NOT_TRIED = "not tried"


def make_plan(table: Table, choice: Choice) -> Plan:
    """Apply a choice to a table.

    Examples
    --------
    >>> from i2cansay.experiments.declare.declaration import load_table
    >>> plan = make_plan(load_table("table4"), Choice(encoder="efficientnet-lite0", seeds=2))
    >>> plan.title
    'Table 4: components; efficientnet-lite0 in place of resnet50'
    >>> len(plan.cells())  # five rows, and two variants that are not rows themselves; two seeds each
    14
    """
    positions, columns = _columns(table, choice)
    blocks = [block for block in table.blocks if choice.backbone in (None, block.backbone)]
    if not blocks:
        known = ", ".join(block.backbone for block in table.blocks)
        raise ValueError(f"{table.name} has no backbone {choice.backbone!r}; it has {known}")
    known_rows = row_names(table, choice.backbone)
    if unknown := [name for name in choice.rows if name not in known_rows]:
        raise ValueError(f"{table.name} has no row {', '.join(unknown)}; it has {', '.join(known_rows)}")
    rows = [
        _row(table, block, row, positions=positions, columns=columns, choice=choice)
        for block in blocks
        for row in (*block.rows, *_further_rows(choice, len(table.columns)))
        if not choice.rows or row.name in (*choice.rows, *choice.learners)
    ]
    return Plan(table, choice, columns, tuple(rows))


def row_names(table: Table, backbone: str | None = None) -> list[str]:
    """Return the names of a table's rows, each once."""
    blocks = [block for block in table.blocks if backbone in (None, block.backbone)]
    return list(dict.fromkeys(row.name for block in blocks for row in block.rows))


def _further_rows(choice: Choice, n_columns: int) -> list[Row]:
    for name in choice.learners:
        learner_class(name)  # raises now instead of in every cell
    nothing, none_printed = (0,) * n_columns, (nan,) * n_columns
    return [
        Row(name, name, name, nothing, none_printed, none_printed, added=True) for name in choice.learners
    ]


def _columns(table: Table, choice: Choice) -> tuple[list[int], tuple[Column, ...]]:
    """Return which of the table's columns are played, and as what."""
    declared = list(enumerate(table.columns))
    if choice.dataset is None:
        chosen = declared
    elif any(column.dataset == choice.dataset for column in table.columns):
        chosen = [(place, column) for place, column in declared if column.dataset == choice.dataset]
    else:
        # Columns that differ only in their data set are now the same. A column with a stand-in keeps its data set.
        unique: dict[str, tuple[int, Column]] = {}
        for place, column in declared:
            if column.stand_in is not None:
                continue
            name = _renamed(column, choice.dataset)
            changed = replace(column, dataset=choice.dataset, name=name)
            unique.setdefault(name, (place, changed))
        chosen = list(unique.values())
    return [place for place, _ in chosen], tuple(column for _, column in chosen)


def _renamed(column: Column, dataset: str) -> str:
    names = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100", "cub200": "CUB-200", "core50": "CoRe50"}
    return column.name.replace(names[column.dataset], dataset)


def _row(
    table: Table,
    block: Block,
    row: Row,
    *,
    positions: Sequence[int],
    columns: Sequence[Column],
    choice: Choice,
) -> TableRow:
    encoder = choice.encoder or block.backbone
    seeds = choice.seeds or table.seeds
    if row.seeds is not None and choice.seeds is None:
        seeds = min(seeds, row.seeds)
    entries = []
    for place, column in zip(positions, columns, strict=True):
        # A stand-in is other data: no number is printed for it.
        own_data = column.dataset == table.columns[place].dataset and not (
            choice.stand_in and column.stand_in is not None
        )
        cell, reason = _cell(row, place, column, choice.encoder or column.encoder or encoder, choice)
        if cell is None and reason == NOT_TRIED and _is_played_in_another_order(row, column, columns):
            reason = "any order gives the same"
        fixed = row.fixed and cell is not None and cell.fraction is None
        here = seeds if choice.seeds is not None else min(seeds, row.seeds_in.get(column.name, seeds))
        counted = range(table.first_seed, table.first_seed + here)
        given = counted if column.seeds is None or choice.seeds is not None else column.seeds
        entries.append(
            Entry(
                column=column,
                cell=cell,
                seeds=(0,) if fixed else tuple(given),
                reason=reason,
                memory=int(column.parameters.get("memory_size", row.memory[place])),
                paper=row.paper[place] if own_data else nan,
                pm=row.pm[place] if own_data else nan,
                is_papers=own_data and encoder == block.backbone and choice.fraction is None,
                fixed=fixed,
            )
        )
    return TableRow(row, block.backbone, encoder, tuple(entries))


def _fraction(row: Row, column: Column, choice: Choice) -> float | None:
    if choice.fraction is not None:
        return choice.fraction
    return column.low if row.low_data else column.fraction


def _cell(row: Row, place: int, column: Column, encoder: str, choice: Choice) -> tuple[Cell | None, str]:
    """Return the cell with seed 0, or None and the reason why there is none."""
    if row.learner not in LEARNERS and not is_import_name(row.learner):
        return None, NOT_BUILT
    if row.only_in and column.name not in row.only_in:
        return None, NOT_TRIED
    try:
        known = default_parameters(row.learner)
    except ImportError as error:
        return None, f"not testable here: {error}"
    given = {**row.parameters, **row.on.get(encoder, {}), **row.in_column.get(column.name, {})}
    parameters = {**given, **column.parameters}
    if row.memory[place] and "memory_size" in known:
        parameters.setdefault("memory_size", row.memory[place])
    # A column that varies a parameter which the learner does not have says nothing about it.
    if missing := sorted(set(column.parameters) - set(known)):
        return None, f"{row.learner} has no {', '.join(missing)}"
    dataset, n_classes = column.dataset, None
    if choice.stand_in and column.stand_in is not None:
        dataset, n_classes = column.stand_in.dataset, column.stand_in.n_classes
    stream = column.stream
    if lacking := _lacking(row.learner, stream, encoder):
        return None, lacking
    if column.order_free_stream is not None and _is_order_free(row.learner, parameters):
        stream = column.order_free_stream
    cell = Cell(
        dataset=dataset,
        encoder=_with_images(encoder) if learner_class(row.learner).reads_images else encoder,
        stream=stream,
        learner=row.learner,
        parameters=parameters,
        fraction=_fraction(row, column, choice),
        n_classes=n_classes,
        every_session=column.every_session,
        held_out=column.held_out,
        root=row.root,
    )
    return cell, ""


def _lacking(learner: str, stream: str, encoder: str) -> str:
    """Say what a learner needs that a stream or an encoder does not have; nothing where it has all it needs."""
    kind = learner_class(learner)
    if kind.needs_boundaries and not has_sessions(stream):
        return "it needs sessions, and this stream has none"
    if kind.reads_images and not is_transformer(encoder):
        return "it needs a vision transformer"
    return ""


def _with_images(encoder: str) -> str:
    """Return the encoder that gives a learner the images beside the features.

    >>> _with_images("deit_tiny@96")
    'deit_tiny+pixels@96'
    """
    spec = EncoderSpec.parse(encoder)
    return encoder if spec.features == "pixels" else str(replace(spec, features="pixels"))


def _is_played_in_another_order(row: Row, column: Column, columns: Sequence[Column]) -> bool:
    """Whether a row to which the order of the samples does not matter is played on the samples of this column."""
    # The samples are the same where only name, stream and its checkpoints differ.
    alike = [replace(each, name="", stream="", every_session=False) for each in (column, *columns)]
    played = any(
        each == alike[0] and other.name in row.only_in for each, other in zip(alike[1:], columns, strict=True)
    )
    return played and row.learner in LEARNERS and _is_order_free(row.learner, row.parameters)


def _is_order_free(learner: str, parameters: Mapping[str, Any]) -> bool:
    """Whether the order of the samples does not matter to a learner, so that one stream is enough."""
    made = make_learner(learner, **parameters)
    return made.order_free or not made.streaming
