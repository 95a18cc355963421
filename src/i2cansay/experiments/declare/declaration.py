"""The declared experiments: tables and figures of the paper and of our own as TOML files, with the printed numbers.

Every row of every table is declared, even if its method is not implemented.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from math import isnan, nan
from typing import Any

DECLARED: dict[str, str] = {
    "table1": "table1.toml",
    "table2": "table2.toml",
    "table3": "table3.toml",
    "table4": "table4.toml",
    "table5": "table5.toml",
    "table6": "table6.toml",
    "sessions": "sessions.toml",
    "generation": "generation.toml",
}
"""The declared tables and figures of the paper, in the paper's order."""

OURS: dict[str, str] = {
    "shared-step": "shared-step.toml",
    "shared-gaussian": "shared-gaussian.toml",
    "shared-ablation": "shared-ablation.toml",
    "resnet50": "resnet50.toml",
    "prompts": "prompts.toml",
    "floors": "floors.toml",
}
"""Declared tables of our own; the paper makes no claims about them."""

# Variants of the printed rule that are played beside it: the head alone, and a correction that does not grow with
# the classes, so that the head still counts when there are many.
VARIANTS: dict[str, dict[str, Any]] = {
    "significance=False": {"significance": False},
    "bias_scale=mean": {"bias_scale": "mean"},
}
VARIANT_SEEDS = 5


@dataclass(frozen=True)
class StandIn:
    """The first classes of another data set, on which a column can be played if its own is not available.

    It has a `name` of its own: what is found on it says nothing about the column's data set.
    """

    dataset: str
    n_classes: int
    name: str


@dataclass(frozen=True)
class Column:
    """One setting: a data set, a stream, what is measured, and parameters that all its rows share.

    Attributes
    ----------
    low : float, optional
        Share of the training data for low-data rows.
    fraction : float, optional
        Share for all other rows; by default all.
    encoder : str, optional
        Used instead of the block's backbone.
    order_free_stream : str, optional
        The stream for learners to which the order of the samples does not matter.
    held_out : str, optional
        How training samples are held out, where the test set must not be used.
    seeds : tuple of int, optional
        If they are not those of the table.
    """

    name: str
    dataset: str
    stream: str
    metric: str
    every_session: bool
    low: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    stand_in: StandIn | None = None
    fraction: float | None = None
    encoder: str | None = None
    order_free_stream: str | None = None
    held_out: str | None = None
    seeds: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Row:
    """One method: its learner, how much it may store, and the printed numbers, one per column (nan: none printed).

    `variant` names the change that makes this row from another one; an `added` row has a method that the paper does
    not have. `in_column` has additional parameters by column, `on` by encoder. `only_in` lists the columns that the
    row appears in (all by default). `seeds_in` has the number of seeds by column, where a row has fewer there than
    elsewhere.
    A `fixed` row gives the same result for every seed when all the data are used.
    With `root` the learner gets the square root of the features.
    """

    name: str
    title: str
    learner: str
    memory: tuple[int, ...]
    paper: tuple[float, ...]
    pm: tuple[float, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    low_data: bool = False
    variant: str | None = None
    added: bool = False
    seeds: int | None = None
    seeds_in: Mapping[str, int] = field(default_factory=dict)
    in_column: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    on: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    only_in: tuple[str, ...] = ()
    fixed: bool = False
    root: bool = False

    @property
    def is_papers(self) -> bool:
        """Whether the paper has this row."""
        return self.variant is None and not self.added


@dataclass(frozen=True)
class Block:
    """Rows that share the paper's backbone."""

    backbone: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """A table or figure of the paper, or one of ours.

    Attributes
    ----------
    note : str
        What a reader must know.
    chart : str
        "bars" by column, or "curves" over the columns.
    short : str
        The stream in a word, for the heading of a table of ours.
    minus : tuple of str
        For each of these rows there is a table of its differences from every other row, paired by seed.
    size_column : str
        The column whose runs tell the size of each method's state.
    first_seed : int
        Seeds are counted from here: above 0 where earlier ones have been looked at and shall decide nothing.

    Examples
    --------
    >>> table = load_table("table4")
    >>> [(row.title, *row.paper) for row in table.blocks[0].rows if row.is_papers]
    [('baseline, 1k memory', 47.2), ('ICAN', 58.3), ('ISAY, 1k memory', 57.2), ('ICAN + ISAY', 59.4)]
    """

    name: str
    title: str
    seeds: int
    columns: tuple[Column, ...]
    blocks: tuple[Block, ...]
    decimals: int = 1
    note: str = ""
    chart: str = "bars"
    short: str = ""
    minus: tuple[str, ...] = ()
    size_column: str = ""
    first_seed: int = 0

    def row(self, name: str, backbone: str | None = None) -> Row:
        """Return a row by name, from the block of a backbone or from the first that has it."""
        for block in self.blocks:
            for row in block.rows:
                if row.name == name and backbone in (None, block.backbone):
                    return row
        raise ValueError(f"{self.name} has no row {name!r}")


@cache
def load_table(name: str) -> Table:
    """Read a declared table by name; `tuning-er` is the table of the sweeps of the method `er`."""
    if name.startswith("tuning-"):
        from i2cansay.experiments.declare.tuning import tuning_table

        return tuning_table(name.removeprefix("tuning-"))
    if name not in DECLARED and name not in OURS:
        known = ", ".join((*DECLARED, *OURS))
        raise ValueError(f"there is no table {name!r}; declared are {known} and tuning-METHOD")
    values = _values(name)
    columns = tuple(_column(values, column) for column in values["column"])
    blocks = tuple(
        Block(block["backbone"], tuple(row for each in _rows_of(block) for row in _rows(each, len(columns))))
        for block in values["block"]
    )
    optional = ("decimals", "note", "chart", "short", "size_column", "first_seed")
    extra = {key: values[key] for key in optional if key in values}
    return Table(
        name, values["title"], values["seeds"], columns, blocks, minus=tuple(values.get("minus", ())), **extra
    )


def _values(name: str) -> dict[str, Any]:
    """Read a declaration; what it leaves out is taken from the one it is `like`."""
    file = {**DECLARED, **OURS}[name]
    text = files("i2cansay.experiments").joinpath("declared", file).read_text(encoding="utf-8")
    values = tomllib.loads(text)
    return {**_values(values["like"]), **values} if "like" in values else values


def printed(value: float) -> bool:
    """Whether the paper prints a number here."""
    return not isnan(value)


def _column(table: Mapping[str, Any], values: Mapping[str, Any]) -> Column:
    given = dict(values)
    stand_in = given.pop("stand_in", None)
    if "stream" in table:  # the columns' own streams are then used by learners that are order-free
        given |= {"stream": table["stream"], "order_free_stream": given["stream"]}
    return Column(
        metric=given.pop("metric", table.get("metric", "last")),
        every_session=given.pop("every_session", table.get("every_session", True)),
        stand_in=None if stand_in is None else StandIn(**stand_in),
        **given,
    )


def _rows_of(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a block as they are declared, each with the `only_in` and `seeds` that the block has."""
    shared = {name: block[name] for name in ("only_in", "seeds") if name in block}
    return [{**shared, **row} for row in block["row"]]


def _rows(values: Mapping[str, Any], n_columns: int) -> list[Row]:
    """Return a row and, where it asks for them, its variants."""
    given = dict(values)
    wants_variants = given.pop("variants", False)
    memory = given.pop("memory", 0)
    given["parameters"] = _with_none(given.get("parameters", {}))
    given["only_in"] = tuple(given.get("only_in", ()))
    row = Row(
        memory=tuple(memory) if isinstance(memory, list) else (memory,) * n_columns,
        paper=tuple(given.pop("paper", [nan] * n_columns)),
        pm=tuple(given.pop("pm", [nan] * n_columns)),
        **given,
    )
    if not len(row.memory) == len(row.paper) == len(row.pm) == n_columns:
        raise ValueError(f"the declared row {row.name!r} does not have one number per column")
    variants = VARIANTS if wants_variants else {}
    return [row, *(_variant(row, name, change) for name, change in variants.items())]


def _variant(row: Row, name: str, change: Mapping[str, Any]) -> Row:
    return replace(
        row,
        name=f"{row.name}:{name}",
        title=f"{row.title}, {name}",
        parameters={**row.parameters, **change},
        paper=(nan,) * len(row.paper),
        pm=(nan,) * len(row.pm),
        variant=name,
        seeds=VARIANT_SEEDS,
    )


def _with_none(parameters: Mapping[str, Any]) -> dict[str, Any]:
    # TOML has no null.
    return {key: None if value == "null" else value for key, value in parameters.items()}
