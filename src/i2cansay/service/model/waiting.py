"""Samples that wait in memory until their class has enough different ones: how many may wait."""

from __future__ import annotations

from collections import Counter

from i2cansay.service.errors import conflict
from i2cansay.service.limits import MEGABYTE, Limits
from i2cansay.service.model.model_state import ModelState
from i2cansay.service.model.taught_rows import TaughtRows, row_digests

COPIES = 100
"""How many samples of a class may wait beyond `min_samples`. Only copies of samples can be so many."""


def check_waiting(state: ModelState, fresh: TaughtRows, limits: Limits) -> None:
    """Raise ServiceError where too many rows would wait in memory once `fresh` has been taken in.

    One image taught again and again never completes its class, so that every copy of it waits.
    """
    new = Counter(label for label in fresh.labels if label not in state.classes)
    if not new:
        return
    least = state.facts.min_samples
    n_waiting = sum(map(len, state.waiting()))
    for label, count in new.items():
        waiting = state.pending.get(label, ())
        together = count + sum(map(len, waiting))
        different = len(row_digests([*waiting, fresh.of_class(label)])) if together >= least else together
        if different >= least:  # the class is complete, and nothing of it waits any more
            n_waiting -= together - count
            continue
        if together > least + COPIES:
            raise conflict(
                f"the class {label!r} would have {together} samples of which only {different} are different, and "
                f"it needs {least} different ones to be written; teach it others, or forget it"
            )
        n_waiting += count
    if (n_bytes := n_waiting * fresh.X.shape[1] * fresh.X.itemsize) > limits.state_bytes:
        raise conflict(
            f"{n_waiting} samples would wait in memory for others of their classes, {n_bytes // MEGABYTE} MB of "
            f"features, and a model may take {limits.state_bytes // MEGABYTE} MB; complete some classes first"
        )
