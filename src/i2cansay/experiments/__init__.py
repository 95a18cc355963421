"""Declared runs and what is made of them.

A `Cell` says what is to be played, `run_cells` plays it once and keeps a `Record`; tables, plots and verdicts are
made from records only.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from i2cansay.experiments.declare.cell import Cell as Cell
    from i2cansay.experiments.run.paired_difference import paired_difference as paired_difference
    from i2cansay.experiments.run.record import Record as Record
    from i2cansay.experiments.run.record_folder import load_records as load_records
    from i2cansay.experiments.run.record_folder import pack_records as pack_records
    from i2cansay.experiments.run.runner import run_cells as run_cells
    from i2cansay.experiments.run.seed_statistics import spread as spread

_HOME = {
    "Cell": "i2cansay.experiments.declare.cell",
    "Record": "i2cansay.experiments.run.record",
    "load_records": "i2cansay.experiments.run.record_folder",
    "pack_records": "i2cansay.experiments.run.record_folder",
    "paired_difference": "i2cansay.experiments.run.paired_difference",
    "run_cells": "i2cansay.experiments.run.runner",
    "spread": "i2cansay.experiments.run.seed_statistics",
}
__all__ = ["Cell", "Record", "load_records", "pack_records", "paired_difference", "run_cells", "spread"]


def __getattr__(name: str) -> Any:
    # On use, not on import: a page made from records needs neither processes nor encoders.
    if name not in _HOME:
        raise AttributeError(f"module 'i2cansay.experiments' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
