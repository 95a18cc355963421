"""The outcome of playing a stream: counts at every checkpoint, times, size. Plain data, ready for JSON.

Of the predictions only counts are kept (correct answers per class). From these the functions in
`i2cansay.evaluate.metrics` compute every metric exactly, at any later time.
"""

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, TypeAlias

Label: TypeAlias = str | int | float | bool


@dataclass(frozen=True)
class Checkpoint:
    """What was measured at the end of a session (or of an evaluation stretch).

    Attributes
    ----------
    session : int
        Number of the session that ended, from 0.
    samples : int
        Rows learnt so far, repetitions counted.
    correct : tuple of int
        Correct predictions on the test rows of each class, in the order of `Outcome.classes`. Zero for a class
        that has not come yet: no learner can name it.
    predicted, predicted_correctly : int
        Rows of the stream that were predicted before they were learnt, and how many of them correctly. Both are
        zero if this was switched off.
    """

    session: int
    samples: int
    correct: tuple[int, ...]
    predicted: int
    predicted_correctly: int


@dataclass(frozen=True)
class Outcome:
    """The result of `play`.

    Attributes
    ----------
    stream : mapping
        What the stream says of itself (`Stream.describe`).
    classes : tuple of labels
        All classes of the stream and of the test set, sorted.
    test_counts : tuple of int
        Test rows of each class; zero for a class that is only in the stream.
    new_classes : tuple of tuples of int
        For each session, the positions in `classes` of the classes that came in it for the first time.
    checkpoints : tuple of Checkpoint
        One per session, or only the last one if `every_session` is false.
    every_session : bool
        Whether there was a checkpoint after each session. Averages over sessions need this.
    learning_seconds, prediction_seconds : float
        Time inside `partial_fit` and inside `predict`; a lazy learner spends most of its time in the second.
    state_bytes : int
        Size of all arrays of the state at the end.
    stores_samples : bool
        Whether that state holds samples.
    told_sessions : bool
        Whether the learner was given whole sessions, and so told where they end: it was not task-free.

    Examples
    --------
    >>> outcome = Outcome(
    ...     stream={"name": "step"}, classes=("cat", "dog"), test_counts=(10, 10), new_classes=((1,), (0,)),
    ...     checkpoints=(Checkpoint(0, 50, (0, 10), 50, 0), Checkpoint(1, 90, (9, 7), 90, 31)),
    ...     every_session=True, learning_seconds=0.1, prediction_seconds=0.2, state_bytes=4096)
    >>> Outcome.from_dict(outcome.to_dict()) == outcome
    True
    """

    stream: Mapping[str, str | int | float | bool | None]
    classes: tuple[Label, ...]
    test_counts: tuple[int, ...]
    new_classes: tuple[tuple[int, ...], ...]
    checkpoints: tuple[Checkpoint, ...]
    every_session: bool
    learning_seconds: float
    prediction_seconds: float
    state_bytes: int
    stores_samples: bool = False
    told_sessions: bool = False

    def groups_seen(self, checkpoint: Checkpoint) -> tuple[tuple[int, ...], ...]:
        """Return the new classes of each session up to the checkpoint."""
        return self.new_classes[: checkpoint.session + 1]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, tuples as lists."""
        values: dict[str, Any] = _as_lists(asdict(self))
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Outcome":
        """Return an outcome from what `to_dict` gave, or from JSON; ignore unknown keys, raise if one is missing."""
        known = _pick(cls, values)
        checkpoints = tuple(Checkpoint(**_pick(Checkpoint, item)) for item in known.pop("checkpoints"))
        return cls(checkpoints=checkpoints, **known)


def _as_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_lists(item) for key, item in value.items()}
    return [_as_lists(item) for item in value] if isinstance(value, tuple) else value


def _as_tuples(value: Any) -> Any:
    return tuple(_as_tuples(item) for item in value) if isinstance(value, list) else value


def _pick(kind: type[Outcome] | type[Checkpoint], values: Mapping[str, Any]) -> dict[str, Any]:
    names = [item.name for item in fields(kind)]
    required = [item.name for item in fields(kind) if item.default is MISSING]
    if missing := [name for name in required if name not in values]:
        raise ValueError(
            f"expected the record of an outcome, but {', '.join(missing)} is missing; "
            "was it written by another version?"
        )
    return {name: _as_tuples(values[name]) for name in names if name in values}
