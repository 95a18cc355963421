"""What `I2CANSAY` asks of the rule it learns and decides by; there are `PaperRule` and `SharedRule`."""

from typing import Protocol, Self

import numpy as np

from i2cansay.core.types import Features, Float64, Rows, State


class Rule(Protocol):
    """Statistics of classes and a decision made from them. Classes are rows, in the order of their arrival."""

    @property
    def counts(self) -> Float64:
        """Samples of each class, (c,)."""

    @property
    def means(self) -> Float64:
        """Prototypes, a row for each class."""

    def resize(self, n_classes: int) -> None:
        """Make room for `n_classes` classes."""

    def learn(self, X: Features, rows: Rows, weights: Float64 | None, rng: np.random.Generator) -> None:
        """Take a batch, (n, d), of classes `rows` into the statistics, and train on it."""

    def train(self, X: Features, rows: Rows, weights: Float64 | None, rng: np.random.Generator) -> None:
        """Train once more on samples that are in the statistics already."""

    def scores(self, X: Features) -> Features:
        """Return the score of each class, (n, c); change nothing that is learnt."""

    def unlearn(self, X: Features, rows: Rows, weights: Float64 | None) -> Rows:
        """Take samples out of the statistics, exactly; return the classes that have none left."""

    def drop(self, row: int) -> None:
        """Remove one class."""

    def check_mergeable(self, other: Self) -> None:
        """Raise unless the two, of the same settings, can be merged."""

    def merge(self, other: Self, rows: Rows, rng: np.random.Generator) -> None:
        """Take in what `other` was taught; its class i is class ``rows[i]`` here."""

    def state(self) -> State:
        """Return everything learnt, under names of this rule alone."""

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` gave, among other things, which must be of `n_classes` classes."""
