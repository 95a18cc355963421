"""Checks of what a learner keeps: as much as its classes need, and nobody's sample."""

import numpy as np

from i2cansay.learners.base import OnlineClassifier
from i2cansay.testing.blobs import Samples, batches, blobs
from i2cansay.testing.comparison import fresh, require, taught, teach
from i2cansay.testing.holdings import held_arrays, held_bytes, holds_row


def check_memory_is_flat(learner: OnlineClassifier) -> None:
    """Memory depends on the classes, not on how many samples have passed."""
    samples = blobs(per_class=500)
    few = len(samples.y) // 50
    model = taught(learner, batches(Samples(samples.X[:few], samples.y[:few]), (20,)))
    model.class_scores(samples.X[:5])
    state_before, held_before = _state_bytes(model), held_bytes(model)
    teach(model, batches(Samples(samples.X[few:], samples.y[few:]), (100,)))
    model.class_scores(samples.X[:5])
    state_after, held_after = _state_bytes(model), held_bytes(model)
    passed = len(samples.y) - few
    require(
        state_after == state_before,
        f"{passed} samples of known classes took the state from {state_before} to {state_after} bytes; "
        "declare stores_samples, or keep statistics only",
    )
    require(
        held_after - held_before < passed,
        f"{passed} samples of known classes took what it holds outside its state from {held_before} "
        f"to {held_after} bytes",
    )


def _state_bytes(model: OnlineClassifier) -> int:
    return sum(array.nbytes for array in model.state().values())


def check_no_sample_is_kept(learner: OnlineClassifier) -> None:
    """Once a class has two samples, no row the learner holds is one of them, in any floating precision."""
    samples = blobs(per_class=2)
    more = blobs(per_class=6, seed=1)
    model = fresh(learner)
    seen = np.empty((0, samples.X.shape[1]))
    for X, y in (samples, *batches(more)):
        model.partial_fit(X, y)
        model.class_scores(X[:1])
        seen = np.concatenate([seen, X])
        inside = {f"{name!r} of the state": array for name, array in model.state().items()}
        inside |= {f"an array it holds, {a.dtype} {a.shape},": a for a in held_arrays(model)}
        for name, array in inside.items():
            kept = sum(holds_row(array, row) for row in seen)
            require(kept == 0, f"{name} contains {kept} of {len(seen)} samples; declare stores_samples")
