"""I2CANSAY past the paper: one covariance for all classes, and only the parameters that matter there."""

from types import MappingProxyType
from typing import Any, Literal

from i2cansay.learners.i2cansay import I2CANSAY
from i2cansay.learners.shared.feature_map import Lift, TransformKind


class SharedI2CANSAY(I2CANSAY):
    """`I2CANSAY(covariance="shared")` with a random lift, under a name of its own.

    Its state is a square matrix of the features, lift included, in half, and the half of its inverse: 77 MB at 3584
    dimensions, and 16 bytes for every class and dimension.
    docs/shared-mode.md says what it does and what was seen of it.

    Parameters
    ----------
    lr, beta, n_pseudo, old_classes, batch_size, random_state
    feature_transform, shrinkage, shrink_means, prior, forgetting
        As of `I2CANSAY`.
    pseudo : {"ican"} or None
        None leaves the closed form alone: exact for any order of the samples.
    lift : int, "auto" or "wide"
        Rectified random projections beside the features: as many as fill 3584 dimensions, or 7680 ("wide": more
        accurate where data are plenty, in 354 MB and several times as slow). 0 is far smaller and faster.

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

    summary = "past the paper: one covariance for all classes, a closed form and analogies on top"
    small_parameters = MappingProxyType({"lift": 40})
    # Fixed here, so that they are no parameters: the mode, and what has no part in it.
    covariance = "shared"
    weight_decay, momentum, alpha, epochs, memory_size = 5e-5, 0.0, 1e-8, 1, 0
    significance, distance, bias_scale = True, "euclidean", "paper"

    def __init__(
        self,
        *,
        lr: float = 0.02,
        beta: float = 2.0,
        n_pseudo: float = 1.0,
        old_classes: Literal["all", "absent"] = "all",
        pseudo: Literal["ican"] | None = "ican",
        feature_transform: TransformKind = "auto",
        shrinkage: Literal["gcv", "oas"] | float = "gcv",
        shrink_means: float = 0.02,
        lift: Lift = "auto",
        prior: Literal["uniform", "empirical"] = "uniform",
        forgetting: float = 0.0,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.lr = lr
        self.beta = beta
        self.n_pseudo = n_pseudo
        self.old_classes = old_classes
        self.pseudo = pseudo
        self.feature_transform = feature_transform
        self.shrinkage = shrinkage
        self.shrink_means = shrink_means
        self.lift = lift
        self.prior = prior
        self.forgetting = forgetting
        self.batch_size = batch_size
        self.random_state = random_state
