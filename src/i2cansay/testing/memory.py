"""Checks of what a learner keeps: memory that depends on its classes only, and no samples."""

import numpy as np

from i2cansay.learners.base import OnlineClassifier
from i2cansay.testing.blobs import Samples, batches, blobs
from i2cansay.testing.reachable import contains_row, reachable_arrays, reachable_bytes
from i2cansay.testing.requirements import fresh, require, taught, teach

# `state_bytes` may be this many times the memory that a learner really takes.
MOST_TOLD = 4
SMALL = 2**14


def check_memory_is_flat(learner: OnlineClassifier) -> None:
    """Memory depends on the classes, not on the number of samples."""
    samples = blobs(per_class=500)
    few = len(samples.y) // 50
    model = taught(learner, batches(Samples(samples.X[:few], samples.y[:few]), (20,)))
    model.class_scores(samples.X[:5])
    state_before, bytes_before = _state_bytes(model), reachable_bytes(model)
    teach(model, batches(Samples(samples.X[few:], samples.y[few:]), (100,)))
    model.class_scores(samples.X[:5])
    state_after, bytes_after = _state_bytes(model), reachable_bytes(model)
    passed = len(samples.y) - few
    require(
        state_after == state_before,
        f"{passed} samples of known classes made the state grow from {state_before} to {state_after} bytes; "
        "declare stores_samples, or keep only statistics",
    )
    require(
        bytes_after - bytes_before < passed,
        f"{passed} samples of known classes made what it holds outside its state grow from {bytes_before} to "
        f"{bytes_after} bytes",
    )


def check_size_is_told_beforehand(learner: OnlineClassifier) -> None:
    """`state_bytes` is an upper bound of what a learner saves and keeps in memory, and not much larger."""
    for n_features, n_classes in ((6, 1), (6, 20), (90, 5), (90, 40)):
        told = fresh(learner).state_bytes(n_features, n_classes)
        if told is None:
            return
        memory = getattr(learner, "memory_size", 0)
        # Enough samples to fill a memory of up to 3000.
        samples = blobs(n_classes, max(min(memory, 3000) // n_classes + 1, 3), n_features)
        model = taught(learner, batches(samples, (200,)))
        model.class_scores(samples.X[:5])
        saved, holds = _state_bytes(model), reachable_bytes(model)
        texts = sum(
            array.nbytes for name, array in model.state().items() if name in ("labels", "feature_names")
        )
        what = f"for {n_features} features and {n_classes} classes state_bytes says {told}, but it"
        require(saved - texts <= told, f"{what} saves {saved - texts} bytes")
        require(holds <= told, f"{what} holds {holds} bytes")
        most = MOST_TOLD * (max(saved, holds) + 4 * memory * n_features) + SMALL  # a memory need not be full
        require(told <= most, f"{what} holds only {max(saved, holds)} bytes")


def _state_bytes(model: OnlineClassifier) -> int:
    return sum(array.nbytes for array in model.state().values())


def check_no_sample_is_kept(learner: OnlineClassifier) -> None:
    """Once a class has two samples, no array reachable from the learner contains one of them, in any precision."""
    samples = blobs(per_class=2)
    more = blobs(per_class=6, seed=1)
    model = fresh(learner)
    seen = np.empty((0, samples.X.shape[1]))
    for X, y in (samples, *batches(more)):
        model.partial_fit(X, y)
        model.class_scores(X[:1])
        seen = np.concatenate([seen, X])
        inside = {f"{name!r} of the state": array for name, array in model.state().items()}
        inside |= {f"an array it holds, {a.dtype} {a.shape},": a for a in reachable_arrays(model)}
        for name, array in inside.items():
            kept = sum(contains_row(array, row) for row in seen)
            require(kept == 0, f"{name} contains {kept} of {len(seen)} samples; declare stores_samples")
