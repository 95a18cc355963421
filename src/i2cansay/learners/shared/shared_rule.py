"""What `I2CANSAY(covariance="shared")` knows and does: a closed form, and analogies on top of it."""

from typing import Any, Literal, NamedTuple, Self

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.paper.head import row_weights
from i2cansay.core.paper.ican import OldClasses, draw_sources, draw_targets
from i2cansay.core.part_bytes import linear_bytes, room, scatter_bytes
from i2cansay.core.state_parts import add_prefix, check_range, strip_prefix
from i2cansay.core.statistics.discriminant import (
    ShrunkMeans,
    a_few,
    cross_validated_penalty,
    cross_validated_shrinkage,
    largest_safe_strength,
    shrink_means,
    shrinkage_of,
)
from i2cansay.core.statistics.scatter import SharedScatter, oas_shrinkage
from i2cansay.core.types import Features, Float32, Float64, Rows, State
from i2cansay.learners.lazy import Cached
from i2cansay.learners.parameters import check_choice, check_not_negative, check_positive, check_whole
from i2cansay.learners.shared.feature_map import LIFTED, TRANSFORMS, FeatureMap, Lift, TransformKind
from i2cansay.learners.shared.preconditioned_head import PreconditionedHead

# The closed form is divided by a temperature before the head adds to it: it grows with the samples per class, at
# most up to a share of the classes. With few samples or few classes the closed form carries. Chosen on held-out
# training samples; docs/shared-mode.md says how.
SAMPLES_PER_DEGREE = 80.0
DEGREES_PER_CLASS = 0.05
# The head counts this much in the decision: one pass leaves it noisy, the more the wider the features are, and a
# third of it keeps what it knows. Chosen on held-out training samples as well.
HEAD_SHARE = 1 / 3
# The penalty is looked for from here on, in units of the last one, when there are twice as many samples; where it
# has fallen, with the next inverse already.
STEP_BACK = 0.25
CHOOSE_AGAIN = 2.0
# The head works in float32, on features and on the inverse of their covariance. With a mean variance outside of this
# one or the other would leave its range: then there are no steps, and the closed form, in float64, decides alone.
HEAD_FROM, HEAD_UP_TO = 1e-24, 1e31


class SharedSettings(NamedTuple):
    """The parameters of `I2CANSAY` that matter here, under their names there."""

    lr: float
    beta: float
    n_pseudo: float
    old_classes: OldClasses
    analogies: bool
    feature_transform: TransformKind
    shrinkage: Literal["gcv", "oas"] | float
    shrink_means: float
    lift: Lift
    prior: Literal["uniform", "empirical"]
    forgetting: float

    def check(self) -> None:
        """Raise ValueError where a parameter of this mode alone makes no sense."""
        check_choice("feature_transform", self.feature_transform, TRANSFORMS)
        check_choice("prior", self.prior, ("uniform", "empirical"))
        if isinstance(self.lift, str):
            check_choice("lift", self.lift, tuple(LIFTED))
        else:
            check_whole(lift=self.lift)
        check_not_negative(forgetting=self.forgetting, shrink_means=self.shrink_means)
        if self.forgetting >= 1:
            raise ValueError(f"forgetting must be below 1, got {self.forgetting!r}")
        if self.shrinkage not in ("gcv", "oas"):
            check_positive(shrinkage=self.shrinkage)  # type: ignore[arg-type]
            if float(self.shrinkage) > 1:
                raise ValueError(f'shrinkage must be "gcv", "oas" or at most 1, got {self.shrinkage!r}')

    def state_bytes(self, n_features: int, n_classes: int) -> int:
        """Return how many bytes a `SharedRule` takes at most."""
        features = FeatureMap(n_features, transform=self.feature_transform, lift=self.lift, seed=0)
        width = features.width
        known = scatter_bytes(width, n_classes) + linear_bytes(width, n_classes) + features.drawn_bytes
        if self.analogies:  # the whole inverse, and two rows for each class, in single precision
            known += 4 * width**2 + 8 * room(n_classes) * (width + 1) + 8 * width
        return known + 8 * n_classes

    def foundations(self) -> dict[str, Any]:
        """Return the parameters that what is learnt rests on."""
        return {
            "feature_transform": self.feature_transform,
            "lift": self.lift,
            "pseudo": self.analogies,
            "forgetting": self.forgetting > 0,
        }


class SharedRule:
    """Statistics, closed form and head of features that share one covariance.

    Parameters
    ----------
    n_features : int
    settings : SharedSettings
    seed : int
        Of the lift and the fold, where there are any.
    """

    def __init__(self, n_features: int, settings: SharedSettings, seed: int) -> None:
        self.settings = settings
        self.features = FeatureMap(
            n_features, transform=settings.feature_transform, lift=settings.lift, seed=seed
        )
        self.scatter = SharedScatter(self.features.width)
        self._head = PreconditionedHead(self.features.width) if settings.analogies else None
        # The penalty of the best regression, and how many samples there have to be before it is chosen anew.
        self._penalty, self._choose_at = 0.0, 0.0
        # How far the head's steps draw means in: as the closed form, when the last inverse was made.
        self._shrink_means = 0.0
        self._rule: Cached[ShrunkMeans] = Cached()

    @property
    def counts(self) -> Float64:
        """Samples of each class, (c,)."""
        return self.scatter.means.count

    @property
    def means(self) -> Float64:
        """Prototypes of the transformed, lifted and folded features, a row for each class."""
        return self.scatter.means.mean

    def change(self, settings: SharedSettings) -> None:
        """Go on with other settings: features stay as they were mapped, and fade or do not as they did."""
        if bool(settings.forgetting) != bool(self.settings.forgetting):
            settings = settings._replace(forgetting=self.settings.forgetting)
        if settings != self.settings:
            self.settings = settings
            self._start_over()

    # -- learning -------------------------------------------------------------------------------------------

    def resize(self, n_classes: int) -> None:
        """Make room for `n_classes` classes."""
        self.scatter.resize(n_classes)
        if self._head is not None:
            self._head.resize(n_classes)
        self._rule.clear()

    def learn(self, X: Features, rows: Rows, weights: Float64 | None, rng: np.random.Generator) -> None:
        """Take a batch, (n, d), of classes `rows` into the statistics, and train the head on it."""
        if self.scatter.means.total == 0:
            self.features.decide(X)
        if self.settings.forgetting:
            self._fade((1 - self.settings.forgetting) ** len(X))
        mapped = self.features.apply(X)
        self.scatter.add(mapped, rows, self._fading(len(X), weights))
        self._rule.clear()
        if self._head is not None and self._steps_fit:
            due = self._head.due(self.scatter.means.total)
            if due:
                self._head.follow(self.scatter, self._choose())
                self._shrink_means = largest_safe_strength(
                    self.settings.shrink_means, self._head.products(self.scatter)
                )
            pulled = self._head.pull(mapped)
            if not due:
                fading = self._fading(len(X), weights)
                share = (1.0 if fading is None else fading) / self.scatter.means.count[rows]
                self._head.shift(pulled, rows, share)
            self._step(mapped, rows, weights, rng, pulled)

    def train(self, X: Features, rows: Rows, weights: Float64 | None, rng: np.random.Generator) -> None:
        """Train the head once more on samples that are in the statistics already."""
        if self._head is not None:
            self._step(self.features.apply(X), rows, weights, rng)
            self._rule.clear()

    def _fade(self, keep: float) -> None:
        before = self.scatter.means.total
        self.scatter.fade(keep)
        lost = before - self.scatter.means.total
        self._choose_at -= lost
        if self._head is not None:
            self._head.fade(lost)

    def _fading(self, n: int, weights: Float64 | None) -> Float64 | None:
        """Return what the samples of a batch count in the statistics: the earlier have faded since, if any do."""
        if not self.settings.forgetting:
            return weights
        left: Float64 = (1 - self.settings.forgetting) ** np.arange(n - 1.0, -1.0, -1.0)
        return left if weights is None else weights * left

    def _step(
        self,
        X: Features,
        rows: Rows,
        weights: Float64 | None,
        rng: np.random.Generator,
        pulled: Float32 | None = None,
    ) -> None:
        n_classes = len(self.scatter.means)
        # Without any spread there is no covariance, and a step would depend on the unit of the features.
        if self._head is None or n_classes < 2 or not self._steps_fit:
            return
        settings = self.settings
        sources = draw_sources(len(X), settings.n_pseudo, rng)
        old = draw_targets(settings.old_classes, rows, sources, n_classes, rng)
        groups = [(len(rows), 1.0), (len(old), settings.beta)]
        every_row = row_weights([n for n, _ in groups if n], [w for n, w in groups if n])
        if weights is not None:
            every_row[: len(rows)] = weights / weights.sum()
        self._head.step(
            X,
            rows,
            pulled_own=pulled,
            sources=sources[: len(old)],
            old=old,
            means=self.scatter.means.mean,
            weights=every_row,
            temperature=self.temperature,
            lr=settings.lr,
            shrink_means=self._shrink_means,
        )

    @property
    def _steps_fit(self) -> bool:
        return HEAD_FROM <= self.scatter.mean_variance <= HEAD_UP_TO

    @property
    def temperature(self) -> float:
        """What the closed form is divided by before the head adds to it."""
        per_class = float(self.scatter.means.count.mean()) / SAMPLES_PER_DEGREE
        return max(1.0, min(per_class, DEGREES_PER_CLASS * len(self.scatter.means)))

    # -- the shrinkage --------------------------------------------------------------------------------------

    def shrinkage(self) -> float:
        """Return the share of the sphere in the covariance as scores use it now."""
        chosen = self.settings.shrinkage
        if chosen == "oas":
            return oas_shrinkage(self.scatter.matrix, self.scatter.means.total)
        if chosen != "gcv":
            return float(chosen)
        # Without a head nothing but the statistics may matter, so that order and batches do not.
        if self._head is None or not self._penalty:
            return cross_validated_shrinkage(self.scatter)
        return shrinkage_of(self.scatter, self._penalty)

    def _choose(self) -> float:
        """Return the shrinkage for a new inverse."""
        total = self.scatter.means.total
        if self.settings.shrinkage == "gcv" and total >= self._choose_at:
            before = self._penalty
            self._penalty = cross_validated_penalty(self.scatter, begin=STEP_BACK * before)
            self._choose_at = total if self._penalty < before else CHOOSE_AGAIN * total
        return self.shrinkage()

    # -- deciding -------------------------------------------------------------------------------------------

    def scores(self, X: Features) -> Features:
        """Return the score of each class, (n, c)."""
        mapped = self.features.apply(X)
        base = self._closed_form().scores.of(mapped)
        if self._head is None:
            return base
        base /= self.temperature
        base += HEAD_SHARE * self._head.logits(mapped)
        return base

    def novelty(self, X: Features) -> Float64:
        """Return how far each row of `X`, (n, d), lies from what was taught, (n,): see `I2CANSAY.novelty`.

        The distance to the nearest class under A, less the distance to the centre of the classes under the
        covariance of everything, ``A + mean_c p_c p_c^T`` with means p_c from that centre. By Woodbury's identity
        the two differ by products of scores only: ``f A^-1 f``, the one costly term, is in both.
        """
        mapped, means = self.features.apply(X), self.scatter.means.mean
        if len(means) == 1:  # everything is that class then
            away = mapped - means[0]
            distance: Float64 = np.einsum("nd,nd->n", away, self.scatter.solve_shrunk(away, self.shrinkage()))
            return distance
        rule, factors = self._closed_form()
        projected = rule._replace(offset=np.zeros(len(means))).of(mapped) * factors
        if len(means) > self.features.width:  # the same with a matrix of as many rows as there are dimensions
            away, shrinkage = mapped - rule.centre, self.shrinkage()
            inside = self.scatter.solve_shrunk(away, shrinkage)
            inside -= self.scatter.solve_with_means(away, shrinkage, rule.centre)
            explained: Float64 = np.einsum("nd,nd->n", away, inside)
            squared = np.concatenate(
                [
                    np.einsum("cd,cd->c", means[some] - rule.centre, rule.weights[some])
                    for some in a_few(len(means))
                ]
            )
            squared *= factors
        else:
            lengths = inner(means - rule.centre, rule.weights) * factors
            among = len(means) * np.eye(len(means)) + lengths
            explained = np.einsum("nc,nc->n", projected, np.linalg.solve(among, projected.T).T)
            squared = np.diagonal(lengths)
        relative: Float64 = (squared - 2 * projected).min(axis=1) + explained
        return relative

    def _closed_form(self) -> ShrunkMeans:
        settings = self.settings
        return self._rule.get(
            lambda: shrink_means(
                self.scatter,
                self.shrinkage(),
                settings.shrink_means,
                empirical_prior=settings.prior == "empirical",
            )
        )

    # -- changing one's mind --------------------------------------------------------------------------------

    def unlearn(self, X: Features, rows: Rows, weights: Float64 | None) -> Rows:
        """Take samples out of the statistics, exactly; return the classes that have none left."""
        if self.settings.forgetting:
            raise ValueError(
                "with forgetting= samples fade, so they cannot be taken out exactly; forget the class instead"
            )
        self.scatter.subtract(self.features.apply(X), rows, weights, precision=self.features.precision)
        self._start_over()
        return np.flatnonzero(self.scatter.means.count == 0)

    def drop(self, row: int) -> None:
        """Remove one class; what its samples told about the shared covariance stays."""
        self.scatter.drop(row)
        if self._head is not None:
            self._head.drop(row)
        self._rule.clear()

    def check_mergeable(self, other: Self) -> None:
        """Raise unless the two see features the same way."""
        mine, theirs = self.features, other.features
        if mine.random and mine.seed != theirs.seed:
            raise ValueError("the two learners have different projections; give both the same random_state")
        if mine.rooted != theirs.rooted:
            raise ValueError(
                "one learner takes the square root of its features and the other does not, as their first batches "
                "had it; give both the same feature_transform"
            )

    def merge(self, other: Self, rows: Rows, rng: np.random.Generator) -> None:
        """Take in what `other` was taught: the statistics exactly, the heads weighed by their samples.

        Nothing is drawn here.
        """
        mine, theirs = self.scatter.means.count[rows], other.scatter.means.count
        if self._head is not None and other._head is not None:
            together = mine + theirs
            self._head.merge(other._head, rows, theirs / np.where(together > 0, together, 1.0))
        self.scatter.merge(other.scatter, rows)
        self._start_over()

    def _start_over(self) -> None:
        """Choose shrinkage and inverse anew: what they rest on has changed other than by passing samples."""
        self._penalty = self._choose_at = 0.0
        if self._head is not None:
            self._head.expire()
        self._rule.clear()

    # -- state ----------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Return the statistics, the decisions made and the head."""
        state = {**self.scatter.state(), **self.features.state()}
        state["shrinkage"] = np.array([self._penalty, self._choose_at, self._shrink_means])
        return add_prefix("shared", state if self._head is None else state | self._head.state())

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` gave, which must be of `n_classes` classes."""
        own = strip_prefix(state, "shared")
        self.features.restore(own)
        self.scatter.restore(own, n_classes)
        if own["shrinkage"].shape != (3,):
            raise ValueError(
                "the shrinkage should be three numbers: penalty, the count to choose it anew at, how far to draw in"
            )
        check_range("the penalty and how far to draw in", own["shrinkage"][::2], 0, np.inf)
        self._penalty, self._choose_at, self._shrink_means = own["shrinkage"].tolist()
        if self._head is not None:
            self._head.restore(own, n_classes)
        self._rule.clear()
