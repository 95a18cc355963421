"""From features as the encoder gives them to those that share a covariance: square root, reduction, random lift.

Features may be made of several blocks, as the stages of an encoder, each in a unit of its own. All three keep a
scaling of a block a scaling of a block: what is decided on them does not depend on any unit. Nothing random is
stored, only the seed it is drawn from.

References
----------
Tukey (1977), Exploratory data analysis: the ladder of powers.
Cho, Saul (2009), Kernel methods for deep learning: random rectified projections and the kernel they tend to.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.state_parts import check_range
from i2cansay.core.statistics.blocks import Blocks
from i2cansay.core.statistics.signed_root import signed_root
from i2cansay.core.types import Features, Float32, Float64, State
from i2cansay.learners.decision.steps import Columns, Given, Joined, Mapped, PositiveOr, Product, RowSum, Step
from i2cansay.learners.parameters import check_choice, check_whole
from i2cansay.learners.shared.reduction import Reduction

TransformKind: TypeAlias = Literal["auto", "none", "sqrt"]
TRANSFORMS: tuple[str, ...] = get_args(TransformKind)
Lift: TypeAlias = int | Literal["auto", "wide"]

WIDEST = 4096
"""What features are reduced to where no width is given: a covariance of d dimensions takes d^2 numbers, d^3 work."""
LIFTED = {"auto": 3584, "wide": 7680}
"""How many dimensions a lift by name fills: their covariance and half its inverse take 77 and 354 MB."""


def check_feature_map(
    transform: TransformKind, lift: Lift, blocks: Sequence[int] | None = None, width: int | None = None
) -> None:
    """Raise ValueError where `feature_transform`, `lift`, `blocks` or `width` makes no sense."""
    check_choice("feature_transform", transform, TRANSFORMS)
    if isinstance(lift, str):
        check_choice("lift", lift, tuple(LIFTED))
    else:
        check_whole(lift=lift)
    if width is not None:
        check_whole(width=width, at_least=1)
    if blocks is None:
        return
    if not isinstance(blocks, Sequence) or isinstance(blocks, str | bytes) or not len(blocks):
        raise ValueError(f"blocks must be None or the widths of the blocks, as (1280, 1152), got {blocks!r}")
    for each in blocks:
        check_whole(at_least=1, **{"the width of each of the blocks": each})
    if len(blocks) > (width or WIDEST):
        raise ValueError(
            f"blocks need a dimension each, got {len(blocks)} blocks for a width of {width or WIDEST}"
        )


class FeatureMap:
    """The square root of the features, reduced where they are too wide, and a random lift of them beside it.

    Parameters
    ----------
    n_features : int
    blocks : sequence of int, optional
        Widths of the blocks that the features are made of; one block where not given.
    transform : {"auto", "none", "sqrt"}
        "auto" takes the square root of blocks that have nothing below zero in the first batch, as after a ReLU. A
        value below zero that comes later gets minus the root of its size.
    width : int, optional
        What wider features are reduced to after the root, block by block (`Reduction`); `WIDEST` where not given.
    lift : int, "auto" or "wide"
        Rectified random projections beside the features: ``ReLU(R x / |x|)``, scaled to the length of the row they
        stand beside. A name has as many as fill the dimensions of `LIFTED`, but "auto" none where a width is given;
        a number is taken as it is. Beside several blocks the lift is a further one, of their directions after the
        root, each divided by its own length.
    seed : int
        Of the projections.

    Examples
    --------
    >>> features = FeatureMap(3, blocks=(2, 1), transform="auto", lift=0, seed=0)
    >>> features.decide(np.array([[4.0, 0.0, -1.0]]))
    >>> features.apply(np.array([[9.0, -1.0, 25.0]]))
    array([[ 3., -1., 25.]])
    """

    def __init__(
        self,
        n_features: int,
        *,
        blocks: Sequence[int] | None = None,
        width: int | None = None,
        transform: TransformKind,
        lift: Lift,
        seed: int,
    ) -> None:
        if blocks is not None and sum(blocks) != n_features:
            raise ValueError(
                f"expected blocks that add up to the width of the features, {n_features}, got "
                f"{', '.join(map(str, blocks))}, which add up to {sum(blocks)}; was the encoder changed?"
            )
        self._blocks = Blocks((n_features,) if blocks is None else blocks)
        self._transform = transform
        self._rooted = (transform == "sqrt",) * len(self._blocks)
        self._n_features, self._seed = n_features, seed
        self._reduction = Reduction(self._blocks.widths.tolist(), width or WIDEST)
        self._lift = _lift_beside(self._reduction.widths, lift, narrow=width is not None)
        self._projections: Float32 | None = None
        self._settled = False

    @property
    def width(self) -> int:
        """Dimensions of what `apply` returns."""
        return sum(self._reduction.widths) + self._lift

    @property
    def blocks(self) -> tuple[int, ...]:
        """Widths of the blocks of what `apply` returns; a lift beside several is one more."""
        plain = self._reduction.widths
        if len(plain) == 1:
            return (self.width,)
        return (*plain, self._lift) if self._lift else plain

    @property
    def drawn_bytes(self) -> int:
        """What projections and reduction take once they are drawn."""
        return 4 * self._lift * self._n_features + self._reduction.drawn_bytes

    @property
    def rooted(self) -> tuple[bool, ...]:
        """Of which blocks the square root is taken."""
        return self._rooted

    @property
    def seed(self) -> int:
        """What projections are drawn from."""
        return self._seed

    @property
    def random(self) -> bool:
        """Whether the seed matters."""
        return self._lift > 0

    @property
    def precision(self) -> Float64:
        """How far a row may differ when it is mapped again in another batch, by block, as a share of it.

        Products round so: of several blocks only the lift is one.
        """
        precision = np.zeros(len(self.blocks))
        if self._lift:
            precision[-1] = np.finfo(np.float32).eps
        return precision

    def decide(self, first: Features) -> None:
        """Decide on a transform of each block from the first batch, (n, n_features), unless it is settled."""
        if self._transform == "auto" and not self._settled:
            self._rooted = tuple(bool((first[:, block] >= 0).all()) for block in self._blocks)

    def settle(self, X: Features) -> None:
        """Decide by the rows `X`, (n, n_features), once and for all: parts that are taught apart have to agree."""
        self.decide(X)
        self._settled = True

    def apply(self, X: Features) -> Features:
        """Return the rows of `X`, (n, n_features), as (n, width), in the same precision; reduced ones in float64."""
        rooted = self._roots(X)
        plain = self._reduction.apply(rooted) if self._reduction.needed else rooted
        return np.concatenate([plain, self._lifted(X, rooted)], axis=1) if self._lift else plain

    def _roots(self, X: Features) -> Features:
        if not any(self._rooted):
            return X
        if all(self._rooted):
            return signed_root(X)
        roots = X.copy()
        for block, rooted in zip(self._blocks, self._rooted, strict=True):
            if rooted:
                roots[:, block] = signed_root(X[:, block])
        return roots

    def _lifted(self, X: Features, beside: Features) -> Features:
        if len(self._blocks) > 1:  # any one length of the row would depend on the units of its blocks
            unit, length = self._directions(beside), np.ones((len(X), 1))
        else:
            unit, length = _unit(X), np.linalg.norm(beside, axis=1, keepdims=True)
        lifted = np.maximum(inner(unit, self._drawn()), 0.0)
        # Half of the unit directions' squared length survives the rectifier, spread over the lift.
        lifted *= length / np.sqrt(self._lift)
        return lifted.astype(X.dtype, copy=False)

    def _directions(self, rows: Features) -> Features:
        """Return the direction of each block, so long that its dimensions count like those of the others."""
        directions = np.empty_like(rows)
        for block, width in zip(self._blocks, self._blocks.widths, strict=True):
            # float64: squares of small float32 features would be zero.
            directions[:, block] = _unit(rows[:, block].astype(np.float64)) * np.sqrt(
                width / self._n_features
            )
        return directions

    # -- the same as steps ----------------------------------------------------------------------------------

    def steps(self) -> Step:
        """Return the steps to the rooted features and the lift beside them, (n, n_features + lift).

        The reduction is not among them: `fold` puts it into weights, where it takes no further product.
        """
        given = Given()
        rooted = self._root_steps(given)
        return Joined((rooted, self._lift_steps(given, rooted))) if self._lift else rooted

    def _root_steps(self, given: Step) -> Step:
        if not any(self._rooted):
            return given
        if all(self._rooted):
            return Mapped("signed_root", given)
        parts = [Columns(given, block.start, block.stop) for block in self._blocks]
        pairs = zip(parts, self._rooted, strict=True)
        return Joined(tuple(Mapped("signed_root", part) if rooted else part for part, rooted in pairs))

    def _lift_steps(self, given: Step, rooted: Step) -> Step:
        scale = float(1 / np.sqrt(self._lift))
        if len(self._blocks) == 1:
            lifted = Mapped("rectify", Product(_unit_steps(given), self._drawn()))
            return lifted * scale * _length_steps(rooted)
        directions = tuple(
            _unit_steps(Columns(rooted, block.start, block.stop)) * float(np.sqrt(width / self._n_features))
            for block, width in zip(self._blocks, self._blocks.widths, strict=True)
        )
        return Mapped("rectify", Product(Joined(directions), self._drawn())) * scale

    def fold(self, weights: Float64) -> Float64:
        """Return weights of mapped rows, (c, width), as weights of what `steps` gives, (c, n_features + lift)."""
        plain = self.width - self._lift
        folded = self._reduction.fold(weights[:, :plain]) if self._reduction.needed else weights[:, :plain]
        return np.concatenate([folded, weights[:, plain:]], axis=1)

    def expand(self, row: Float64) -> Float64:
        """Return a row of what `steps` gives, (n_features + lift,), that is mapped to `row`, (width,)."""
        if not self._reduction.needed:
            return row
        plain = self.width - self._lift
        return np.concatenate([self._reduction.expand(row[None, :plain])[0], row[plain:]])

    def _drawn(self) -> Float32:
        if self._projections is None:
            rng = np.random.default_rng(self._seed)
            shape = (self._lift, self._n_features)
            self._projections = rng.standard_normal(shape, dtype=np.float32)
        return self._projections

    def check_same(self, other: "FeatureMap") -> None:
        """Raise ValueError unless `other`, of the same blocks, transform and lift, maps features the same way."""
        if self.random and self.seed != other.seed:
            raise ValueError("the two learners have different projections; give both the same random_state")
        for number, (mine, theirs) in enumerate(zip(self.rooted, other.rooted, strict=True), start=1):
            if mine != theirs:
                which = f"of block {number} of its features" if len(self.rooted) > 1 else "of its features"
                raise ValueError(
                    f"one learner takes the square root {which} and the other does not, as their first batches "
                    "had it; give both the same feature_transform"
                )

    def resize(self, n_classes: int) -> None:
        """Do nothing: classes have no part in it."""

    def drop(self, row: int) -> None:
        """Do nothing."""

    def state(self) -> State:
        """Return the decision for each block, and the seed."""
        return {"root_and_seed": np.array([*self._rooted, self._seed], dtype=np.int64)}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` gave."""
        given, n_blocks = state["root_and_seed"], len(self._blocks)
        if given.shape != (n_blocks + 1,):
            raise ValueError(
                "the feature map should be two numbers: whether the root is taken, and the seed"
                if n_blocks == 1
                else f"the feature map should be {n_blocks + 1} numbers: whether the root of each block is taken, "
                "and the seed"
            )
        check_range("whether the root is taken", given[:-1], 0, 1)
        check_range("the seed of the lift", given[-1:], 0, 2.0**63)
        self._rooted, self._seed = tuple(bool(root) for root in given[:-1]), int(given[-1])
        self._projections = None


def _lift_beside(widths: Sequence[int], lift: Lift, *, narrow: bool) -> int:
    """Return how many projections stand beside blocks of these widths; `narrow` where a width was asked for."""
    if not isinstance(lift, str):
        return lift
    return 0 if narrow and lift == "auto" else max(LIFTED[lift] - sum(widths), 0)


def _unit(X: Features) -> Features:
    """Return the rows of `X` divided by their length; those of zero as they are."""
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1.0)


def _length_steps(rows: Step) -> Step:
    return Mapped("root", RowSum(Mapped("square", rows)))


def _unit_steps(rows: Step) -> Step:
    return rows / PositiveOr(_length_steps(rows), 1.0)
