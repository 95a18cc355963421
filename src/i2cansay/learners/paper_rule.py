"""What `I2CANSAY` knows and does as the paper has it: statistics by class, pseudo-features, a head, a correction."""

from typing import Any, NamedTuple, Self

import numpy as np

from i2cansay.core.buffers.reservoir import Reservoir
from i2cansay.core.paper.head import LinearHead, row_weights, softmax
from i2cansay.core.paper.ican import (
    PSEUDO_KINDS,
    OldClasses,
    PseudoKind,
    draw_sources,
    draw_targets,
    pseudo_features,
)
from i2cansay.core.paper.isay import (
    BIAS_SCALES,
    DISTANCES,
    BiasScale,
    Distance,
    Significance,
    decision,
    importance,
)
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.part_bytes import head_bytes, moments_bytes, room, samples_bytes
from i2cansay.core.state_parts import add_prefix, strip_prefix
from i2cansay.core.types import Features, Float64, Rows, State
from i2cansay.learners.parameters import check_choice, check_not_negative, check_positive, check_whole

# Rows replayed with every batch where a buffer is kept, as in the paper's ablation.
REPLAYED = 50
# Pseudo-features for each sample: they are made all at once, so their number bounds what a step takes.
MOST_PSEUDO = 100


class PaperSettings(NamedTuple):
    """The parameters of `I2CANSAY` that matter here, under their names there."""

    lr: float
    weight_decay: float
    momentum: float
    beta: float
    alpha: float
    n_pseudo: float
    old_classes: OldClasses
    pseudo: PseudoKind | None
    significance: bool
    distance: Distance
    bias_scale: BiasScale
    memory_size: int

    def check(self) -> None:
        """Raise ValueError where a parameter makes no sense."""
        check_positive(lr=self.lr, alpha=self.alpha)
        check_whole(memory_size=self.memory_size)
        check_choice("significance", self.significance, (True, False))
        check_not_negative(
            weight_decay=self.weight_decay,
            momentum=self.momentum,
            beta=self.beta,
            n_pseudo=self.n_pseudo,
        )
        if self.n_pseudo > MOST_PSEUDO:
            raise ValueError(f"n_pseudo must be at most {MOST_PSEUDO}, got {self.n_pseudo!r}")
        check_choice("old_classes", self.old_classes, ("all", "absent"))
        check_choice("pseudo", self.pseudo, (*PSEUDO_KINDS, None))
        check_choice("distance", self.distance, DISTANCES)
        check_choice("bias_scale", self.bias_scale, BIAS_SCALES)

    def state_bytes(self, n_features: int, n_classes: int) -> int:
        """Return how many bytes a `PaperRule` takes at most."""
        known = moments_bytes(n_features, n_classes) + head_bytes(
            n_features, n_classes, momentum=self.momentum
        )
        if self.significance:  # two rows of a class in single precision, kept ready
            known += 8 * n_classes * n_features + 32 * room(n_classes)
        return known + samples_bytes(n_features, self.memory_size)

    def foundations(self) -> dict[str, Any]:
        """Return the parameters that what is learnt rests on."""
        return {
            "significance": self.significance,
            "momentum": self.momentum,
            "memory_size": self.memory_size,
        }


class PaperRule:
    """Moments, head, significance and, where asked for, a replay buffer.

    Parameters
    ----------
    n_features : int
    settings : PaperSettings
        May be replaced as learning goes on; what is made here (the head's bias and momentum, the significance, the
        buffer) stays as it was made.
    """

    def __init__(self, n_features: int, settings: PaperSettings) -> None:
        self.settings = settings
        self.moments = ClassMoments(n_features)
        self.head = LinearHead(n_features, bias=not settings.significance, momentum=settings.momentum)
        self.significance = Significance(n_features) if settings.significance else None
        self.reservoir = Reservoir(settings.memory_size, n_features) if settings.memory_size else None

    @property
    def counts(self) -> Float64:
        """Samples of each class, (c,)."""
        return self.moments.count

    @property
    def means(self) -> Float64:
        """Prototypes, (c, d)."""
        return self.moments.mean

    # -- learning -------------------------------------------------------------------------------------------

    def resize(self, n_classes: int) -> None:
        """Make room for `n_classes` classes."""
        self.moments.resize(n_classes)
        self.head.resize(n_classes)
        if self.significance is not None:
            self.significance.resize(n_classes)

    def learn(self, X: Features, rows: Rows, weights: Float64 | None, rng: np.random.Generator) -> None:
        """Take a batch, (n, d), of classes `rows` into the statistics, and train the head on it."""
        touched = self.moments.add(X, rows, weights)
        if self.significance is not None:
            self.significance.mark(touched)
        self._step(X, rows, weights, rng)
        if self.reservoir is not None:
            self.reservoir.add(X, rows, rng)

    def train(self, X: Features, rows: Rows, weights: Float64 | None, rng: np.random.Generator) -> None:
        """Train the head once more on samples that are in the statistics already."""
        self._step(X, rows, weights, rng)

    def _step(self, X: Features, rows: Rows, weights: Float64 | None, rng: np.random.Generator) -> None:
        """Take one step on the batch, its pseudo-features and, if there is a buffer, replayed rows."""
        features, targets, group_weights = [X], [rows], [1.0]
        pseudo, old = self._pseudo(X, rows, rng)
        if len(old):
            features.append(pseudo)
            targets.append(old)
            group_weights.append(self.settings.beta)
        if self.reservoir is not None and len(self.reservoir):
            replayed, replayed_rows = self.reservoir.draw(REPLAYED, rng)
            features.append(replayed)
            targets.append(replayed_rows)
            group_weights.append(1.0)
        every_row = row_weights([len(part) for part in targets], group_weights)
        if weights is not None:
            every_row[: len(X)] = weights / weights.sum()
        self.head.step(
            np.concatenate(features, dtype=np.float32),
            np.concatenate(targets),
            every_row,
            lr=self.settings.lr,
            weight_decay=self.settings.weight_decay,
        )

    def _pseudo(self, X: Features, rows: Rows, rng: np.random.Generator) -> tuple[Features, Rows]:
        settings, n_classes = self.settings, len(self.moments)
        nothing = np.empty((0, X.shape[1]), dtype=np.float32), np.empty(0, dtype=np.int64)
        if settings.pseudo is None or n_classes < 2:
            return nothing
        sources = draw_sources(len(X), settings.n_pseudo, rng)
        old = draw_targets(settings.old_classes, rows, sources, n_classes, rng)
        if len(old) == 0:
            return nothing
        made = pseudo_features(
            settings.pseudo,
            X[sources],
            classes=rows[sources],
            old=old,
            moments=self.moments,
            rng=rng,
            alpha=settings.alpha,
        )
        return made, old

    # -- deciding -------------------------------------------------------------------------------------------

    def scores(self, X: Features) -> Features:
        """Return the score of each class, (n, c)."""
        logits = self.head.logits(X)
        if self.significance is None:
            return logits
        distances = self.significance.distances(X, self.moments, self.settings.distance)
        return decision(softmax(logits), importance(distances, self.settings.bias_scale))

    # -- changing one's mind --------------------------------------------------------------------------------

    def unlearn(self, X: Features, rows: Rows, weights: Float64 | None) -> Rows:
        """Take samples out of statistics and buffer, exactly; return the classes that have none left."""
        touched, left = self.moments.without(X, rows, weights)
        self.moments.replace(touched, left)
        if self.significance is not None:
            self.significance.mark(touched)
        if self.reservoir is not None:
            self.reservoir.discard(X, rows)
        empty: Rows = touched[left.count == 0]
        return empty

    def drop(self, row: int) -> None:
        """Remove one class."""
        self.moments.drop(row)
        self.head.drop(row)
        if self.significance is not None:
            self.significance.drop(row)
        if self.reservoir is not None:
            self.reservoir.drop(row)

    def check_mergeable(self, other: Self) -> None:
        """Do nothing: any two of the same settings see features the same way, as they come."""

    def merge(self, other: Self, rows: Rows, rng: np.random.Generator) -> None:
        """Take in what `other` was taught: the statistics exactly, the heads weighed by their samples."""
        theirs = other.moments.read()
        self.head.merge(other.head, rows, theirs.count / (theirs.count + self.moments.count[rows]))
        self.moments.merge(theirs, rows)
        if self.reservoir is not None and other.reservoir is not None:
            self.reservoir.merge(other.reservoir, rows, rng)
        if self.significance is not None:
            self.significance.mark(rows)

    # -- state ----------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Return statistics, head and buffer; the significance follows from the statistics."""
        state = add_prefix("moments", self.moments.state()) | add_prefix("head", self.head.state())
        return state if self.reservoir is None else state | add_prefix("memory", self.reservoir.state())

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` gave, which must be of `n_classes` classes."""
        n_features = self.moments.mean.shape[1]
        self.moments = ClassMoments.from_state(strip_prefix(state, "moments"))
        if self.moments.mean.shape != (n_classes, n_features):
            raise ValueError(f"expected statistics of {n_classes} classes with {n_features} features")
        self.head.restore(strip_prefix(state, "head"), n_classes)
        if self.significance is not None:
            self.significance.resize(n_classes)
        if self.reservoir is not None:
            self.reservoir.restore(strip_prefix(state, "memory"), n_classes)
