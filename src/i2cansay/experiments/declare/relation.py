"""The paper's claims as declared relations between numbers of its tables."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from i2cansay.experiments.declare.declaration import OURS, VARIANTS, Column, Table, load_table


@dataclass(frozen=True)
class Relation:
    """One claim; the file `declared/relations.toml` says what each kind means and needs."""

    name: str
    says: str
    kind: str
    table: str = ""
    backbone: str | None = None
    row: str = ""
    rows: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    places: tuple[tuple[str, str, str], ...] = ()
    at: str = ""
    statistic: str = "min"
    together: bool = False
    each: bool = False
    said: tuple[float, ...] = ()
    tolerance: float = 0.0
    ours: bool = False
    stand_in: bool = False
    variants: tuple[str, ...] = tuple(VARIANTS)

    def declaration(self) -> Table:
        """Return the table that the claim is about."""
        return load_table(self.table)

    def is_printed(self) -> bool:
        """Whether the paper has all rows of the claim, so that it can be checked on the paper's tables."""
        if self.stand_in or self.table in OURS:
            return False
        return self.kind == "same" or all(
            self.declaration().row(name, self.backbone).is_papers for name in self.row_names()
        )

    def row_names(self) -> list[str]:
        """Return the names of all rows that the claim is about; with memories each is a row per memory."""
        ends = [f"_{memory}" for memory in self.memories] or [""]
        return [name + end for name in (self.row, *self.rivals, *self.rows) if name for end in ends]

    def chosen_columns(self) -> list[Column]:
        """Return the columns that the claim is about, as declared."""
        columns = self.declaration().columns
        return [column for column in columns if not self.columns or column.name in self.columns]


@cache
def load_relations() -> tuple[Relation, ...]:
    """Read all declared relations.

    >>> [relation.says for relation in load_relations() if relation.name == "best-beta"]
    ['It rises with beta, then falls, and is best at 2']
    """
    text = files("i2cansay.experiments").joinpath("declared", "relations.toml").read_text(encoding="utf-8")
    return tuple(_relation(values) for values in tomllib.loads(text)["relation"])


def _relation(values: Mapping[str, Any]) -> Relation:
    return Relation(**{key: _tuples(value) for key, value in values.items()})


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
