"""Metrics of an outcome, as pure functions. Accuracies are shares from 0 to 1.

There are two conventions for "the accuracy on the classes seen so far", and they differ when sessions differ in
size. Every table should name the one it uses:

- `"samples"`: the test samples of these classes are pooled, so that every sample has the same weight.
- `"sessions"`: the accuracy is computed for the new classes of each session, and averaged over the sessions, so
  that every session has the same weight. In CoRe50 the ten classes of the first session then weigh 1/9 instead
  of 1/5. DSDM and some repositories report this one.

A class without test samples counts in neither. A session whose new classes have no test samples is left out of the
second.
"""

from collections.abc import Iterable
from itertools import chain
from typing import Literal, TypeAlias, get_args

import numpy as np

from i2cansay.evaluate.outcome import Checkpoint, Label, Outcome

Convention: TypeAlias = Literal["samples", "sessions"]


def last_accuracy(outcome: Outcome, convention: Convention = "samples") -> float:
    """Accuracy after the whole stream, on all classes of the test set.

    With `convention="samples"`, test samples of a class that is not in the stream count as wrong; with
    `"sessions"` such a class belongs to no session and does not count.
    """
    _check_convention(convention)
    final = outcome.checkpoints[-1]
    if convention == "samples":
        return _share(outcome, final, range(len(outcome.classes)))
    return _mean_over_sessions(outcome, final)


def accuracy_curve(outcome: Outcome, convention: Convention = "samples") -> list[float]:
    """Accuracy on the classes seen so far, one number per checkpoint."""
    _check_convention(convention)
    if convention == "sessions":
        return [_mean_over_sessions(outcome, checkpoint) for checkpoint in outcome.checkpoints]
    return [
        _share(outcome, checkpoint, chain.from_iterable(outcome.groups_seen(checkpoint)))
        for checkpoint in outcome.checkpoints
    ]


def average_accuracy(outcome: Outcome, convention: Convention = "samples") -> float:
    """Mean over the sessions (or evaluation stretches) of the accuracy on the classes seen so far.

    Examples
    --------
    A first session of two classes, a second of one, ten test samples each:

    >>> outcome = Outcome(
    ...     stream={}, classes=("cat", "dog", "owl"), test_counts=(10, 10, 10), new_classes=((0, 1), (2,)),
    ...     checkpoints=(Checkpoint(0, 100, (10, 8, 0), 0, 0), Checkpoint(1, 150, (7, 5, 9), 0, 0)),
    ...     every_session=True, learning_seconds=0.1, prediction_seconds=0.1, state_bytes=80)
    >>> round(average_accuracy(outcome), 4)  # (18/20 + 21/30) / 2
    0.8
    >>> round(average_accuracy(outcome, "sessions"), 4)  # (18/20 + (12/20 + 9/10) / 2) / 2
    0.825
    """
    _check_every_session(outcome, "the average accuracy")
    return float(np.mean(accuracy_curve(outcome, convention)))


def forgetting(outcome: Outcome, by: Literal["classes", "sessions"] = "sessions") -> float:
    """Mean drop from the best accuracy at an earlier checkpoint to the last one.

    The mean is over the new classes of each session, taken together, or over single classes. Classes of the last
    session are left out: they cannot have been forgotten yet. Negative if later learning helped; zero if there was
    only one session.
    """
    _check_every_session(outcome, "forgetting")
    if by not in ("classes", "sessions"):
        raise ValueError(f"expected by to be 'classes' or 'sessions', got {by!r}")
    *earlier, final = outcome.checkpoints
    drops = []
    for session, new_classes in enumerate(outcome.new_classes[:-1]):
        groups = [new_classes] if by == "sessions" else [(index,) for index in new_classes]
        for group in groups:
            if _test_rows(outcome, group):
                best = max(_share(outcome, past, group) for past in earlier[session:])
                drops.append(best - _share(outcome, final, group))
    return float(np.mean(drops)) if drops else 0.0


def prequential_accuracy(outcome: Outcome) -> float | None:
    """Share of the rows that were predicted correctly before they were learnt; None if not measured.

    The first row of every class counts as wrong: no learner can name a class it has never seen.
    """
    final = outcome.checkpoints[-1]
    return final.predicted_correctly / final.predicted if final.predicted else None


def accuracy_per_class(outcome: Outcome, checkpoint: int = -1) -> dict[Label, float]:
    """Accuracy on the test samples of each class that has some, at the last or another checkpoint."""
    correct = outcome.checkpoints[checkpoint].correct
    counts = zip(outcome.classes, correct, outcome.test_counts, strict=True)
    return {label: right / total for label, right, total in counts if total}


def summarise(outcome: Outcome) -> dict[str, float | int | None]:
    """Return every metric by name; None if it was not measured, or if it has no meaning without sessions."""
    measured = outcome.every_session
    has_sessions = bool(outcome.stream.get("has_sessions", True))
    return {
        "last": last_accuracy(outcome),
        "last_by_sessions": last_accuracy(outcome, "sessions") if has_sessions else None,
        "average": average_accuracy(outcome) if measured else None,
        "average_by_sessions": average_accuracy(outcome, "sessions") if measured and has_sessions else None,
        "forgetting": forgetting(outcome) if measured else None,
        "prequential": prequential_accuracy(outcome),
        "learning_seconds": outcome.learning_seconds,
        "prediction_seconds": outcome.prediction_seconds,
        "state_bytes": outcome.state_bytes,
    }


def _test_rows(outcome: Outcome, classes: Iterable[int]) -> int:
    return sum(outcome.test_counts[index] for index in classes)


def _share(outcome: Outcome, checkpoint: Checkpoint, classes: Iterable[int]) -> float:
    """Pooled accuracy on some classes; zero if they have no test samples."""
    chosen = tuple(classes)
    total = _test_rows(outcome, chosen)
    return sum(checkpoint.correct[index] for index in chosen) / total if total else 0.0


def _mean_over_sessions(outcome: Outcome, checkpoint: Checkpoint) -> float:
    groups = [group for group in outcome.groups_seen(checkpoint) if _test_rows(outcome, group)]
    shares = [_share(outcome, checkpoint, group) for group in groups]
    return float(np.mean(shares)) if shares else 0.0


def _check_convention(convention: str) -> None:
    if convention not in get_args(Convention):
        raise ValueError(f"expected convention to be 'samples' or 'sessions', got {convention!r}")


def _check_every_session(outcome: Outcome, what: str) -> None:
    if not outcome.every_session:
        raise ValueError(
            f"{what} needs a checkpoint after every session, but this stream was evaluated at its end only; "
            "play it with every_session=True"
        )
