"""I2CANSAY past the paper: one covariance for all classes, a closed form, and analogies on top of it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from i2cansay.core.paper.ican import OldClasses
from i2cansay.core.part_bytes import linear_bytes, room, scatter_bytes
from i2cansay.core.state_parts import StatePart
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import Features, Float32, Float64, Rows
from i2cansay.learners.analogical import AnalogicalClassifier
from i2cansay.learners.base import ROUNDED_TO_FLOAT32
from i2cansay.learners.decision.steps import Step
from i2cansay.learners.lazy import Cached
from i2cansay.learners.parameters import check_choice, check_not_negative
from i2cansay.learners.shared.closed_form import ClosedForm, Solution
from i2cansay.learners.shared.decision_steps import shared_steps
from i2cansay.learners.shared.drawn_analogies import draw_analogies
from i2cansay.learners.shared.feature_map import FeatureMap, Lift, TransformKind, check_feature_map
from i2cansay.learners.shared.head_schedule import base_temperature, step_length
from i2cansay.learners.shared.preconditioned_head import PreconditionedHead, fits_float32
from i2cansay.learners.shared.relative_distance import RelativeDistance
from i2cansay.learners.shared.running_solution import running_bytes
from i2cansay.learners.shared.shrinkage_choice import Shrinkage, ShrinkageChoice, check_shrinkage
from i2cansay.learners.validation import check_features, make_generator

# The head counts this much in the decision: one pass leaves it noisy, the more the wider the features are, and a
# third of it keeps what it knows. Chosen on held-out training samples; docs/shared-mode-details.md says how.
HEAD_SHARE = 1 / 3


class SharedI2CANSAY(AnalogicalClassifier):
    """Learns classes from a stream of features in one pass, with one full covariance for all of them.

    The score of a class is the closed form of linear discriminant analysis, with the covariance shrunk as
    cross-validation from the statistics asks for and class means shrunk towards their centre, plus a head trained
    on each sample and its analogies in other classes. All spreads being one, Eq. 4 of the paper is a translation;
    steps are multiplied by the inverse covariance, which is refreshed whenever the samples have doubled.
    docs/shared-mode.md says what it does and what was seen of it.

    Parameters
    ----------
    lr : float
        Of the head's steps, in decorrelated coordinates.
    beta : float
        Weight of the analogies' loss.
    n_pseudo : float
        Analogies per sample, up to 100; fractions (of a batch) and multiples are allowed.
    old_classes : {"all", "absent"}
        Analogies are of all classes but the sample's own, or only of classes absent from the batch.
    analogies : bool
        Whether there is a head. False leaves the closed form alone, which does not depend on the order of the
        samples, except while small lessons hold a ridge (see the notes).
    blocks : sequence of int, optional
        Widths of the blocks that features are made of, as the stages of an encoder; they add up to the width of the
        features. No decision depends on the unit of a block, and the covariance is shrunk towards a sphere for each.
        None is one block.
    width : int, optional
        Dimensions that wider features are reduced to, each block to its share of them, by a random rotation that is
        never stored, and the same for all learners, so that they can be merged; 4096 where not given. The size of
        the state falls with the square.
    feature_transform : {"auto", "none", "sqrt"}
        Take the square root of features, "auto" of blocks that have nothing below zero in the first batch. A later
        value below zero gets minus the root of its size.
    shrinkage : {"gcv", "oas"} or float
        The share of the sphere in the covariance, by generalised cross-validation or the oracle approximation, both
        from the statistics alone, or given, above 0 and at most 1.
    shrink_means : float
        How far class means far out are shrunk towards the centre of the classes, so that less pronounced samples of
        theirs are not lost to classes further in; 0 is plain discriminant analysis.
    lift : int, "auto" or "wide"
        Rectified random projections beside the features, drawn from `random_state` and never stored, at the cost of
        a wider covariance: as many as fill 3584 dimensions ("auto"; none where a `width` is given), or 7680 ("wide":
        more accurate where data are plenty, in 354 MB and several times as slow). 0 is far smaller and faster.
    prior : {"uniform", "empirical"}
        Whether a class seen more often is more likely from the outset.
    forgetting : float
        How much of the statistics fades with each sample, for streams whose classes change; 0.001 remembers about
        the last 1000 samples.
    batch_size, epochs : int
        Used by `fit` only; `partial_fit` takes a batch as it comes. Epochs after the first train the head only.
    random_state : int, Generator, RandomState or None
        Seed of the analogies' classes and of the lift.

    Attributes
    ----------
    classes_ : (n_classes,) array
        Labels seen so far, sorted.
    class_counts_, class_means_ : arrays
        The statistics of `classes_`: (n_classes,), and (n_classes, width) of the features as they are mapped.
    shrinkage_ : float
    n_features_in_ : int

    Notes
    -----
    The state is half a square matrix of the features, lift included, and half its inverse: 77 MB at 3584
    dimensions, 6 MB at 1024, and 16 bytes for every class and dimension.

    The closed form answers small lessons at once: from 256 dimensions on, and samples for a quarter of them, a
    lesson of up to 16 samples chooses the ridge of the covariance, which is then held until 30% more have come. They
    update the inverse, another half matrix beside the state, and answers depend on when the ridge was chosen too.
    `refresh`, merging, unlearning and forgetting end this; streams in larger lessons never begin it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> by_class = np.argsort(y[:1500], kind="stable")  # the hardest order: one class after the other
    >>> model = SharedI2CANSAY(lift=500, random_state=0)
    >>> for start in range(0, 1500, 50):
    ...     batch = by_class[start : start + 50]
    ...     model = model.partial_fit(X[batch], y[batch])
    >>> model.score(X[1500:], y[1500:]) > 0.85  # about 0.92
    True
    """

    parts = ("_features", "_scatter", "_shrinkage", "_closed_form")  # and the head, where there is one
    caches = ("_solution",)
    summary = "past the paper: one covariance for all classes, a closed form and analogies on top"
    small_parameters = MappingProxyType({"lift": 40})
    expected_failed_checks = ROUNDED_TO_FLOAT32
    lazy: ClassVar[bool] = True
    plain_means: ClassVar[bool] = False
    size_advice: str = "a smaller lift or width"
    structural: ClassVar[tuple[str, ...]] = (
        "blocks",
        "width",
        "feature_transform",
        "lift",
        "analogies",
        "forgetting",
    )

    # Made by `_start`.
    _features: FeatureMap
    _scatter: SharedScatter
    _shrinkage: ShrinkageChoice
    _closed_form: ClosedForm
    _head: PreconditionedHead | None
    _solution: Cached[Solution]
    _relative: Cached[RelativeDistance]
    _forgetting: float  # the rate in force

    def __init__(
        self,
        *,
        lr: float = 0.02,
        beta: float = 2.0,
        n_pseudo: float = 1.0,
        old_classes: OldClasses = "all",
        analogies: bool = True,
        blocks: Sequence[int] | None = None,
        width: int | None = None,
        feature_transform: TransformKind = "auto",
        shrinkage: Shrinkage = "gcv",
        shrink_means: float = 0.02,
        lift: Lift = "auto",
        prior: Literal["uniform", "empirical"] = "uniform",
        forgetting: float = 0.0,
        batch_size: int = 50,
        epochs: int = 1,
        random_state: Any = None,
    ) -> None:
        self.lr = lr
        self.beta = beta
        self.n_pseudo = n_pseudo
        self.old_classes = old_classes
        self.analogies = analogies
        self.blocks = blocks
        self.width = width
        self.feature_transform = feature_transform
        self.shrinkage = shrinkage
        self.shrink_means = shrink_means
        self.lift = lift
        self.prior = prior
        self.forgetting = forgetting
        self.batch_size = batch_size
        self.epochs = epochs
        self.random_state = random_state

    @property
    def order_free(self) -> bool:  # type: ignore[override]
        """Whether only the closed form decides, from statistics that do not fade.

        While small lessons hold a ridge, answers are free of order after a `refresh` (see the notes). With
        ``feature_transform="auto"`` as long as the first batch, whichever it is, leads to the same decision.
        """
        return not self.analogies and not self.forgetting

    # -- parameters -----------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("analogies", self.analogies, (True, False))
        check_feature_map(self.feature_transform, self.lift, self.blocks, self.width)
        check_shrinkage(self.shrinkage)
        check_not_negative(forgetting=self.forgetting, shrink_means=self.shrink_means)
        if self.forgetting >= 1:
            raise ValueError(f"forgetting must be below 1, got {self.forgetting!r}")
        check_choice("prior", self.prior, ("uniform", "empirical"))

    def _structural_values(self) -> dict[str, Any]:
        # Statistics fade or they do not; how fast may change.
        blocks = None if self.blocks is None else tuple(self.blocks)
        return super()._structural_values() | {"blocks": blocks, "forgetting": self.forgetting > 0}

    def _parameters_changed(self, before: Mapping[str, Any]) -> None:
        if (self.forgetting > 0) == (self._forgetting > 0):
            self._forgetting = self.forgetting
        if any(getattr(self, name) != before[name] for name in ("shrinkage", "shrink_means", "prior")):
            self._start_over()

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        features = self._feature_map(n_features, seed=0)
        width = features.width
        known = scatter_bytes(width, n_classes) + linear_bytes(width, n_classes) + features.drawn_bytes
        if self.analogies:  # the whole inverse, and two rows for each class, in single precision
            known += 4 * width**2 + 8 * room(n_classes) * (width + 1) + 8 * width
        elif not self.forgetting:
            known += running_bytes(width, n_classes)
        of_novelty = 8 * min(n_classes, width) ** 2 + 16 * n_classes
        return known + of_novelty + 8 * n_classes + 32 * len(features.blocks)

    def _feature_map(self, n_features: int, seed: int) -> FeatureMap:
        blocks, width, transform = self.blocks, self.width, self.feature_transform
        return FeatureMap(
            n_features, blocks=blocks, width=width, transform=transform, lift=self.lift, seed=seed
        )

    # -- learning -------------------------------------------------------------------------------------------

    def _start(self, n_features: int) -> None:
        self._features = self._feature_map(
            n_features, seed=int(make_generator(self.random_state).integers(2**63))
        )
        self._scatter = SharedScatter(self._features.width, self._features.blocks)
        self._shrinkage = ShrinkageChoice()
        self._closed_form = ClosedForm(len(self._features.blocks))
        self._head = PreconditionedHead(self._features.width) if self.analogies else None
        self._solution, self._relative = Cached(), Cached()
        self._forgetting = self.forgetting

    def _agree(self, X: Features) -> None:
        self._features.settle(X)

    def _named_parts(self) -> dict[str, StatePart]:
        return super()._named_parts() | ({} if self._head is None else {"head": self._head})

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        if self._scatter.means.total == 0:
            self._features.decide(X)
        counted = self._fade(len(X), weights) if self._forgetting else weights
        mapped = self._features.apply(X)
        if self._head is None and not self._forgetting:
            self._closed_form.learn(self._scatter, mapped, rows, counted, self._current_shrinkage)
            return
        self._scatter.add(mapped, rows, counted)
        if self._head is None or not self._steps_fit:
            return
        due = self._head.due(self._scatter.means.total)
        if due:
            shrinkage = self._shrinkage.renew(self._scatter, self.shrinkage)
            self._head.refresh(self._scatter, shrinkage, self.shrink_means)
        preconditioned = self._head.apply_precision(mapped)
        if not due:
            share = (1.0 if counted is None else counted) / self._scatter.means.count[rows]
            self._head.shift(preconditioned, rows, share)
        self._step(mapped, rows, weights, preconditioned)

    def _train(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        if self._head is not None and self._steps_fit:
            self._step(self._features.apply(X), rows, weights)

    def _fade(self, n: int, weights: Float64 | None) -> Float64:
        """Let the statistics fade by `n` samples; return what these count, the earlier having faded since."""
        keep, before = 1 - self._forgetting, self._scatter.means.total
        self._scatter.fade(keep**n)
        if self._head is not None:
            self._head.fade(before - self._scatter.means.total)
        left: Float64 = keep ** np.arange(n - 1.0, -1.0, -1.0)
        return left if weights is None else weights * left

    def _step(self, X: Features, rows: Rows, weights: Float64 | None, ready: Float32 | None = None) -> None:
        """Take one step of the head on mapped features `X`, (n, width), and their analogies in other classes.

        `ready`, (n, width), are the features preconditioned, where they are known.
        """
        n_classes = len(self._scatter.means)
        if self._head is None or n_classes < 2:
            return
        drawn = draw_analogies(
            rows, n_classes, self.n_pseudo, self.old_classes, beta=self.beta, weights=weights, rng=self._rng
        )
        self._head.step(
            X,
            rows,
            **drawn._asdict(),
            preconditioned=ready,
            means=self._scatter.means.mean,
            temperature=base_temperature(self._scatter.means.count),
            lr=step_length(self.lr, self._scatter.means.count),
            width=self._scatter.width,
        )

    @property
    def _steps_fit(self) -> bool:
        # Without any spread there is no covariance, and a step would depend on the unit of the features.
        return self._scatter.mean_variance > 0 and fits_float32(self._scatter.spheres())

    # -- deciding -------------------------------------------------------------------------------------------

    def _scores(self, X: Features) -> Features:
        return self._mapped_scores(self._features.apply(X))

    def _mean_scores(self, chosen: Rows) -> Features:
        rows = self._labels.order[chosen]
        return self._mapped_scores(self._scatter.means.mean[rows])[:, rows]

    def _mapped_scores(self, mapped: Features) -> Features:
        scores = self._solution.get(self._solve).closed_form.scores.of(mapped)
        if self._head is None:
            return scores
        scores /= base_temperature(self._scatter.means.count)
        scores += HEAD_SHARE * self._head.logits(mapped)
        return scores

    def _solve(self) -> Solution:
        empirical = self.prior == "empirical"
        return self._closed_form.solve(
            self._scatter, self._current_shrinkage, self.shrink_means, empirical_prior=empirical
        )

    def _decision_steps(self, order: Rows) -> tuple[Step, Step | None]:
        solution, means = self._solution.get(self._solve), self._scatter.means
        return shared_steps(
            self._features, means, solution, head=self._head, head_share=HEAD_SHARE, order=order
        )

    def novelty(self, X: ArrayLike) -> Float64:
        """Return how little each row of `X`, (n, d), is like any class taught, (n,); larger is stranger.

        The squared distance to the nearest class, less that to the centre of everything, each in units of its own
        covariance: what is unusual for all classes alike is no sign of a new one. As long as there is one class, the
        distance to it. Numbers of one learner can be compared with each other; there is no threshold that suits all.

        Examples
        --------
        >>> X, y = [[0.0, 1.0], [1.0, 0.0], [8.0, 9.0], [9.0, 8.0]], ["low", "low", "high", "high"]
        >>> near, far = SharedI2CANSAY(lift=0, random_state=0).partial_fit(X, y).novelty([[0.5, 0.5], [0.0, 9.0]])
        >>> bool(near < far)
        True
        """
        self._check_ready()
        mapped = self._features.apply(check_features(self, X, reset=False))
        return self._relative.get(self._relative_distance).of(mapped)

    def _relative_distance(self) -> RelativeDistance:
        closed_form, covariance, products = self._solution.get(self._solve)
        return RelativeDistance(self._scatter.means.mean, covariance, closed_form, products)

    @property
    def shrinkage_(self) -> float:
        """The share of the sphere in the covariance as scores use it now."""
        return self._closed_form.shrinkage(self._scatter, self._current_shrinkage)

    def _current_shrinkage(self) -> float:
        return self._shrinkage.current(self._scatter, self.shrinkage)

    @property
    def class_counts_(self) -> Float64:
        """Samples taught per class, (n_classes,), in the order of `classes_`."""
        return self._scatter.means.count[self._labels.order]

    @property
    def class_means_(self) -> Float64:
        """Means of the transformed, reduced and lifted features, (n_classes, width), in the order of `classes_`."""
        return self._scatter.means.mean[self._labels.order]

    def refresh(self) -> Self:
        """Let go of the ridge that small lessons hold (see the notes): answers depend on the samples alone then."""
        if self._started and self._head is None:
            self._start_over()
        return self

    # -- changing one's mind --------------------------------------------------------------------------------

    def _unlearn(self, X: Features, rows: Rows, weights: Float64 | None) -> Rows:
        if self._forgetting:
            raise ValueError(
                "with forgetting= samples fade, so they cannot be taken out exactly; forget the class instead"
            )
        self._scatter.subtract(self._features.apply(X), rows, weights, precision=self._features.precision)
        self._start_over()
        return np.flatnonzero(self._scatter.means.count == 0)

    def _check_same_features(self, other: Self) -> None:
        self._features.check_same(other._features)

    def _merge(self, other: Self, rows: Rows) -> None:
        mine, theirs = self._scatter.means.count[rows], other._scatter.means.count
        if self._head is not None and other._head is not None:
            together = mine + theirs
            self._head.merge(other._head, rows, theirs / np.where(together > 0, together, 1.0))
        self._scatter.merge(other._scatter, rows)
        self._start_over()

    def _start_over(self) -> None:
        """Choose shrinkage and inverse anew: what they rest on has changed other than by passing samples."""
        self._shrinkage.expire()
        self._closed_form.let_go()
        if self._head is not None:
            self._head.expire()
        self._clear_caches()

    def _clear_caches(self) -> None:
        super()._clear_caches()
        self._relative.clear()  # not among `caches`: an answer does not wait for it
