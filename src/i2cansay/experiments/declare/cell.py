"""A cell: one learner on one stream of one data set's features, with one seed. The unit that is run once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any

from i2cansay.learners import learner_class
from i2cansay.learners.base import OnlineClassifier


@dataclass(frozen=True)
class Cell:
    """What is to be played: everything that can change a number.

    Parameters
    ----------
    dataset, encoder : str
        Name of a data set and of what turned its images into features.
    stream : str
        The order of the samples, as `i2cansay.streams.make_stream` reads it.
    learner : str
        A name of `i2cansay.learners.LEARNERS`.
    parameters : mapping
        Parameters that differ from the learner's defaults; plain JSON values.
    seed : int
        Of the stream, of the low-data draw and of the learner (each has its own generator).
    fraction : float or None
        Share of every class's training rows; None for all.
    n_classes : int or None
        Only the first so many classes, where the data set is a stand-in for another.
    batch_size : int
    every_session : bool
        Whether to measure after every session, or at the end only.
    prequential : bool
        Whether to predict every batch before it is learnt.
    held_out : str or None
        How training samples are held out to be measured on instead of the test set: one of
        `i2cansay.experiments.run.held_out.HELD_OUT`; None measures on the test set.
    root : bool
        Whether the square root of the features is taken before the learner sees them: for learners that do not take
        it themselves, so that all are compared on the same features.

    Examples
    --------
    >>> cell = Cell("cifar100", "efficientnet-lite0", "step:5", "i2cansay", {"beta": 2.0, "lr": 0.01})
    >>> cell.identity()["parameters"]  # 2.0 is the default
    {'lr': 0.01}
    """

    dataset: str
    encoder: str
    stream: str
    learner: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    fraction: float | None = None
    n_classes: int | None = None
    batch_size: int = 50
    every_session: bool = True
    prequential: bool = False
    held_out: str | None = None
    root: bool = False

    def __hash__(self) -> int:
        return hash(_canonical(asdict(self)))

    @property
    def source(self) -> tuple[str, str]:
        """Data set and encoder: what the features are found by."""
        return self.dataset, self.encoder

    def all_parameters(self) -> dict[str, Any]:
        """Return the learner's parameters, defaults included, without its seed."""
        known = default_parameters(self.learner)
        if unknown := sorted(set(self.parameters) - set(known)):
            raise ValueError(
                f"{self.learner} has no parameter {', '.join(unknown)}; it has {', '.join(sorted(known))}"
            )
        known.pop("random_state", None)
        return {**known, **self.parameters}

    def identity(self) -> dict[str, Any]:
        """Return the cell as plain values, with only those parameters that differ from the learner's defaults.

        So the cells of a learner stay the same when it gets a new parameter; `fits` notices when a default changes.
        """
        default = default_parameters(self.learner)
        given = self.all_parameters()
        changed = {name: given[name] for name in sorted(given) if given[name] != default[name]}
        values = {**asdict(self), "parameters": changed}
        for name in ("held_out", "root"):  # added later: cells without them keep their identity
            if not values[name]:
                del values[name]
        return values

    def fits(self, parameters: Mapping[str, Any]) -> bool:
        """Whether the parameters of a played learner, defaults included, are those that the cell asks for now."""
        default = default_parameters(self.learner)
        # A parameter that was added later had, in effect, the value that is its default now.
        return all(
            value == parameters.get(name, default[name]) for name, value in self.all_parameters().items()
        )

    def key(self, features: str) -> str:
        """Return the name of the cell's record, given the fingerprint of the features it is played on."""
        return hash_of({**self.identity(), "features": features})[:24]

    def with_seed(self, seed: int) -> Cell:
        """Return the same cell with another seed."""
        return replace(self, seed=seed)


def default_parameters(learner: str) -> dict[str, Any]:
    """Return the default parameters of a learner by name; cached, because a report asks thousands of times."""
    return dict(_defaults_of(learner_class(learner)))


@cache
def _defaults_of(kind: type[OnlineClassifier]) -> Mapping[str, Any]:
    defaults: dict[str, Any] = kind().get_params(deep=False)
    # As a record has them: JSON has no tuples.
    return {name: list(value) if isinstance(value, tuple) else value for name, value in defaults.items()}


def hash_of(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of plain JSON values, whatever the order of their keys.

    >>> hash_of({"a": 1, "b": 2.0}) == hash_of({"b": 2.0, "a": 1})
    True
    """
    return hashlib.sha256(_canonical(values).encode()).hexdigest()


def _canonical(values: Mapping[str, Any]) -> str:
    try:
        return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"a cell holds plain JSON values only (numbers, text, true, false, none): {error}"
        ) from error
