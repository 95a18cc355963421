"""Plays one cell and returns its record."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import i2cansay
from i2cansay.core.statistics.signed_root import signed_root
from i2cansay.evaluate import play
from i2cansay.evaluate.bookmark import Bookmark
from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.run.held_out import hold_out
from i2cansay.experiments.run.image_progress import ImageProgress
from i2cansay.experiments.run.record import Record, kept_rows
from i2cansay.experiments.run.shared_features import SharedFeatures
from i2cansay.learners import learner_class, make_seeded_learner
from i2cansay.learners.torch_extra import import_torch
from i2cansay.streams import low_data, make_stream

PACKAGES = ("numpy", "scipy", "scikit-learn")
PACKAGES_OF_EXTRAS = {"torch": ("torch",)}
# What a learner is told of the features of a cell, where the cell itself does not say it.
TOLD_BY_FEATURES = ("blocks", "network")


def play_cell(cell: Cell, features: SharedFeatures, bookmark: Path | None = None) -> Record:
    """Drive the cell's stream through its learner; for the same seed, every learner sees the same order.

    A cell that takes minutes writes a `bookmark` now and then, and goes on from there if it was killed.
    """
    begin = perf_counter()
    key = cell.key(features.fingerprint)
    (X, y), (X_test, y_test) = features.open("train"), features.open("test")
    if cell.n_classes is not None:
        kept = np.unique(y)[: cell.n_classes]
        train, test = np.flatnonzero(np.isin(y, kept)), np.flatnonzero(np.isin(y_test, kept))
        X, y, X_test, y_test = X[train], y[train], X_test[test], y_test[test]
    if cell.held_out is not None:
        learnt, held = hold_out(y, cell.held_out, fraction=cell.fraction, seed=cell.seed)
        X, y, X_test, y_test = X[learnt], y[learnt], X[held], y[held]
    elif cell.fraction is not None:
        rows = low_data(y, cell.fraction, cell.seed)
        X, y = X[rows], y[rows]
    if cell.root:
        X, X_test = signed_root(X), signed_root(X_test)
    kind = learner_class(cell.learner)
    told = {"blocks": features.blocks, **(image_parameters(cell) if kind.reads_images else {})}
    learner = make_seeded_learner(cell.learner, cell.seed, **{**told, **cell.parameters})
    learner.calibrates = False  # a record has labels only
    outcome = play(
        learner,
        X,
        y,
        make_stream(cell.stream, y, batch_size=cell.batch_size, seed=cell.seed),
        X_test=X_test,
        y_test=y_test,
        prequential=cell.prequential,
        every_session=cell.every_session and kind.streaming,
        progress=ImageProgress(cell) if kind.reads_images else None,
        bookmark=None if bookmark is None else Bookmark(bookmark, {"key": key, "commit": commit()}),
    )
    answers = learner.predict(X_test[kept_rows(len(X_test))])
    return Record(
        key=key,
        cell=cell.identity(),
        parameters=cell.all_parameters(),
        features=features.identity,
        outcome=outcome,
        predictions=np.searchsorted(np.array(outcome.classes), answers).astype(np.uint16),
        seconds=perf_counter() - begin,
        versions=versions(kind.extra),
        commit=commit(),
    )


def image_parameters(cell: Cell) -> dict[str, Any]:
    """Return what a learner that reads images has to be told: the network that its prompts are for.

    Torch then uses one thread, as all that runs in a cell does.
    """
    from i2cansay.encoders.transformer_arrays import transformer_arrays
    from i2cansay.learners.prompts.transformer_weights import TransformerWeights

    import_torch().set_num_threads(1)
    return {"network": TransformerWeights(**transformer_arrays(cell.encoder)._asdict())}


@cache
def versions(extra: str | None = None) -> dict[str, str]:
    """Return the versions of Python and of the packages that compute, those of a learner's extra among them."""
    found = {"i2cansay": i2cansay.__version__, "python": platform.python_version()}
    for package in (*PACKAGES, *PACKAGES_OF_EXTRAS.get(extra or "", ())):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # vendored under another name
            found[package] = "unknown"
    return found


@cache
def commit() -> str | None:
    """Return the commit of the source tree that the package is in, or None for an installed package."""
    for folder in Path(__file__).resolve().parents:
        if (folder / ".git").exists() and (folder / "src" / "i2cansay").is_dir():
            command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
            except (OSError, subprocess.SubprocessError):
                return None
            return done.stdout.strip() or None
    return None
