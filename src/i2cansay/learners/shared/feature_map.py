"""From features as the encoder gives them to those that share a covariance: square root, random lift, fold.

All three keep a scaling of the features a scaling: what is decided on them does not depend on their unit. Nothing
random is stored, only the seed it is drawn from.

References
----------
Tukey (1977), Exploratory data analysis: the ladder of powers.
Cho, Saul (2009), Kernel methods for deep learning: random rectified projections and the kernel they tend to.
Charikar, Chen, Farach-Colton (2002), Finding frequent items in data streams: the sketch used for folding.
"""

from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse

from i2cansay.core.linalg.blas import inner
from i2cansay.core.state_parts import check_range
from i2cansay.core.statistics.signed_root import signed_root
from i2cansay.core.types import Features, Float32, State
from i2cansay.learners.parameters import check_choice, check_whole

TransformKind: TypeAlias = Literal["auto", "none", "sqrt"]
TRANSFORMS: tuple[str, ...] = get_args(TransformKind)
Lift: TypeAlias = int | Literal["auto", "wide"]

WIDEST = 4096
"""Above this many dimensions features are folded: a covariance of d dimensions takes d^2 numbers and d^3 work."""
LIFTED = {"auto": 3584, "wide": 7680}
"""How many dimensions a lift by name fills: their covariance and half its inverse take 77 and 354 MB."""


def check_feature_map(transform: TransformKind, lift: Lift) -> None:
    """Raise ValueError where `feature_transform` or `lift` makes no sense."""
    check_choice("feature_transform", transform, TRANSFORMS)
    if isinstance(lift, str):
        check_choice("lift", lift, tuple(LIFTED))
    else:
        check_whole(lift=lift)


class FeatureMap:
    """The square root of the features, folded where they are too wide, and a random lift of them beside it.

    Parameters
    ----------
    n_features : int
    transform : {"auto", "none", "sqrt"}
        "auto" takes the square root where the first batch has nothing below zero, as after a ReLU. A value below
        zero that comes later gets minus the root of its size.
    lift : int, "auto" or "wide"
        Rectified random projections beside the features: ``ReLU(R x / |x|)``, scaled to the length of the row they
        stand beside. A name has as many as fill the dimensions of `LIFTED`; a number is taken as it is.
    seed : int
        Of the projections and of the fold.

    Examples
    --------
    >>> features = FeatureMap(2, transform="auto", lift=0, seed=0)
    >>> features.decide(np.array([[4.0, 0.0]]))
    >>> features.apply(np.array([[9.0, -1.0]]))
    array([[ 3., -1.]])
    """

    def __init__(self, n_features: int, *, transform: TransformKind, lift: Lift, seed: int) -> None:
        self._transform = transform
        self._rooted = transform == "sqrt"
        self._n_features, self._seed = n_features, seed
        self._lift = max(LIFTED[lift] - min(n_features, WIDEST), 0) if isinstance(lift, str) else lift
        self._projections: Float32 | None = None
        self._folds: sparse.csr_array | None = None

    @property
    def width(self) -> int:
        """Dimensions of what `apply` returns."""
        return min(self._n_features, WIDEST) + self._lift

    @property
    def drawn_bytes(self) -> int:
        """What the projections and the fold take once they are drawn."""
        fold = 16 * self._n_features + 8 * WIDEST if self._n_features > WIDEST else 0
        return 4 * self._lift * self._n_features + fold

    @property
    def rooted(self) -> bool:
        """Whether the square root is taken."""
        return self._rooted

    @property
    def seed(self) -> int:
        """What projections and fold are drawn from."""
        return self._seed

    @property
    def random(self) -> bool:
        """Whether the seed matters."""
        return self._lift > 0 or self._n_features > WIDEST

    @property
    def precision(self) -> float:
        """How far a row may differ when it is mapped again in another batch, as a share of it: products round so."""
        return float(np.finfo(np.float32).eps) if self._lift else 0.0

    def decide(self, first: Features) -> None:
        """Settle on a transform from the first batch, (n, n_features)."""
        if self._transform == "auto":
            self._rooted = bool((first >= 0).all())

    def apply(self, X: Features) -> Features:
        """Return the rows of `X`, (n, n_features), as (n, width), in the same precision."""
        rooted = signed_root(X) if self._rooted else X
        plain = rooted if rooted.shape[1] <= WIDEST else self._folded(rooted)
        return np.concatenate([plain, self._lifted(X, rooted)], axis=1) if self._lift else plain

    def _lifted(self, X: Features, beside: Features) -> Features:
        length = np.linalg.norm(X, axis=1, keepdims=True)
        unit = X / np.where(length > 0, length, 1.0)
        lifted = np.maximum(inner(unit, self._drawn()), 0.0)
        # Half of the unit directions' squared length survives the rectifier, spread over the lift.
        lifted *= np.linalg.norm(beside, axis=1, keepdims=True) / np.sqrt(self._lift)
        return lifted.astype(X.dtype, copy=False)

    def _drawn(self) -> Float32:
        if self._projections is None:
            rng = np.random.default_rng(self._seed)
            shape = (self._lift, self._n_features)
            self._projections = rng.standard_normal(shape, dtype=np.float32)
        return self._projections

    def _folded(self, rows: Features) -> Features:
        """Add each dimension, with a random sign, to one of `WIDEST` at random: inner products stay, on average."""
        if self._folds is None:
            rng, width = np.random.default_rng((self._seed, 1)), rows.shape[1]
            place, sign = rng.integers(WIDEST, size=width), rng.choice([-1.0, 1.0], size=width)
            self._folds = sparse.csr_array((sign, (place, np.arange(width))), shape=(WIDEST, width))
        folded: Features = np.ascontiguousarray((self._folds @ rows.T).T, dtype=rows.dtype)
        return folded

    def check_same(self, other: "FeatureMap") -> None:
        """Raise ValueError unless `other`, of the same width, transform and lift, maps features the same way."""
        if self.random and self.seed != other.seed:
            raise ValueError("the two learners have different projections; give both the same random_state")
        if self.rooted != other.rooted:
            raise ValueError(
                "one learner takes the square root of its features and the other does not, as their first batches "
                "had it; give both the same feature_transform"
            )

    def state(self) -> State:
        """Return the decision and the seed."""
        return {"root_and_seed": np.array([int(self._rooted), self._seed], dtype=np.int64)}

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        if state["root_and_seed"].shape != (2,):
            raise ValueError("the feature map should be two numbers: whether the root is taken, and the seed")
        check_range("whether the root is taken", state["root_and_seed"][:1], 0, 1)
        check_range("the seed of the lift", state["root_and_seed"][1:], 0, 2.0**63)
        self._rooted, self._seed = bool(state["root_and_seed"][0]), int(state["root_and_seed"][1])
        self._projections = self._folds = None
