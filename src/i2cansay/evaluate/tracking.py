"""Experiment tracking: what `play` tells a tracker, at its beginning, at every checkpoint and at its end.

A tracker is given facts and figures, never the learner: it cannot change what is measured. Logs as CSV and JSON
lines are in `i2cansay.evaluate.log_files`, TensorBoard and MLflow in `i2cansay.adapters`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol, TypeAlias

from i2cansay.evaluate.outcome import Outcome

Plain: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class RunFacts:
    """What is known before the first batch.

    Attributes
    ----------
    learner : str
        Name of its class.
    parameters : mapping
        Its parameters; one that is no plain value as its `repr`.
    stream : mapping
        What the stream says of itself (`Stream.describe`): its name, seed, batch size and so on.
    n_features, n_test : int
        Width of the features, and number of test rows.
    """

    learner: str
    parameters: Mapping[str, Plain]
    stream: Mapping[str, Plain]
    n_features: int
    n_test: int

    @classmethod
    def of(cls, learner: object, stream: Mapping[str, Plain], *, n_features: int, n_test: int) -> "RunFacts":
        """Return the facts of a learner, which need not have parameters.

        Examples
        --------
        >>> from i2cansay.learners import make_learner
        >>> facts = RunFacts.of(make_learner("ncm"), {"name": "step", "seed": 0}, n_features=64, n_test=297)
        >>> facts.learner, facts.flat()["metric"], facts.flat()["stream.seed"]
        ('NearestClassMean', 'euclidean', 0)
        """
        parameters = learner.get_params(deep=False) if hasattr(learner, "get_params") else {}
        plain = {name: _plain(value) for name, value in parameters.items()}
        return cls(type(learner).__name__, plain, dict(stream), n_features, n_test)

    def flat(self) -> dict[str, Plain]:
        """Return everything in one mapping; what is about the stream is named `stream.NAME`."""
        about_stream = {f"stream.{name}": value for name, value in self.stream.items()}
        sizes: dict[str, Plain] = {"n_features": self.n_features, "n_test": self.n_test}
        return {"learner": self.learner, **self.parameters, **about_stream, **sizes}


@dataclass(frozen=True)
class Measurement:
    """The figures of a checkpoint; what was not measured is None.

    Attributes
    ----------
    session, samples, classes : int
        The session that ended, rows learnt so far, and classes seen so far.
    accuracy : float or None
        Pooled accuracy on the test rows of the classes seen so far.
    prequential_accuracy : float or None
        Share of the rows so far that were predicted correctly before they were learnt.
    learning_seconds, prediction_seconds : float
        Time so far inside `partial_fit` and inside `predict`.
    """

    session: int
    samples: int
    classes: int
    accuracy: float | None
    prequential_accuracy: float | None
    learning_seconds: float
    prediction_seconds: float

    def figures(self) -> dict[str, float]:
        """Return what was measured, by name, without `samples`, which is the step.

        Examples
        --------
        >>> Measurement(0, 50, 2, 0.75, None, 0.5, 0.25).figures()
        {'session': 0, 'classes': 2, 'accuracy': 0.75, 'learning_seconds': 0.5, 'prediction_seconds': 0.25}
        """
        named = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "samples"}
        return {name: value for name, value in named.items() if value is not None}


class Tracker(Protocol):
    """Anything that keeps what `play` measures. Its errors end the play: figures are not lost in silence."""

    def begin(self, facts: RunFacts, /) -> None:
        """Note what is known before the first batch."""

    def checkpoint(self, measurement: Measurement, /) -> None:
        """Note the figures at the end of a session (or of an evaluation stretch)."""

    def end(self, outcome: Outcome, /) -> None:
        """Note the outcome; not called where `play` raises."""


def _plain(value: Any) -> Plain:
    return value if value is None or isinstance(value, str | int | float | bool) else repr(value)
