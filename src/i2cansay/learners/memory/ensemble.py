"""An ensemble of linear classifiers behind fixed random keys, trained by the sign of the gradient."""

from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from i2cansay.core.types import Features, Float32, Float64, Rows
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.memory.keyed_classifiers import CLASS_BLOCK, KeyedClassifiers, Lookup, look_up
from i2cansay.learners.memory.running_mean import RunningMean
from i2cansay.learners.parameters import check_choice, check_not_negative, check_positive, check_whole
from i2cansay.learners.seeded_draw import SeededDraw

# Samples scored together: enough for each classifier to be asked about several.
BLOCK = 4096
# Samples after which the centre of `centred_on="first"` stays: a batch of a stream, or as many single samples.
SETTLED = 50


class Ensemble(OnlineClassifier):
    """Each sample asks and teaches the few classifiers whose keys are nearest to it.

    No sample is stored. What the paper's tables call the memory of this method is the parameters of its
    classifiers: ``n_classifiers * classes * (features + 1)`` numbers of 4 bytes (525 MB for 100 classes of 1280
    features as published; `n_classifiers` scales it). It does not grow with the samples.

    Parameters
    ----------
    n_classifiers : int
        Classifiers and keys.
    n_active : int
        How many of them a sample asks and teaches.
    lr : float
        Length of a step. From weights at zero it only scales the outputs, until they come near the bound of 250
        (at the published 1e-4 after tens of thousands of steps): it decides nothing.
    weight_decay : float
    centre : bool
        Take a mean of samples from the features before they are looked up. The keys are drawn around the origin, and
        so are the encodings they were published with (False); features behind a ReLU are not, and without this they
        all ask the same few classifiers.
    centred_on : {"all", "first"}
        Whose mean that is. "all": of all samples so far; as it moves, a sample may ask classifiers other than those
        it has taught. "first": of the first batch (of the first batches, until 50 samples have passed); it stays,
        and a sample always asks the classifiers it has taught. On held-out training samples "all" is level or
        better, over five seeds (docs/compared-methods.md).
    batch_size : int
        Used by `fit` only; `partial_fit` takes a batch as it comes.
    random_state : int, Generator, RandomState or None
        Seed of the keys and of the order of `fit`. The keys are drawn again from the seed and never saved.

    Notes
    -----
    Departs from the published form: features are centred (``centre=False`` is as published); weights start at
    zero instead of small random values (of about half a step), as classes arrive at any time; the authors' code adds
    the decay with the opposite sign, which at ``lr * weight_decay = 1e-8`` a step is beyond telling.

    References
    ----------
    Shanahan, Kaplanis, Mitrović (2021), Encoders and ensembles for task-free continual learning, arXiv:2105.13327.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> by_class = np.argsort(y[:1500], kind="stable")  # one class after the other
    >>> model = Ensemble(random_state=0)
    >>> for start in range(0, 1500, 50):
    ...     batch = by_class[start : start + 50]
    ...     model = model.partial_fit(X[batch], y[batch])
    >>> model.score(X[1500:], y[1500:]) > 0.8  # about 0.89
    True
    """

    summary = "1024 linear classifiers behind random keys"
    small_parameters = MappingProxyType({"n_classifiers": 64, "n_active": 8})
    parts = ("_keys", "_classifiers", "_mean")
    size_advice = "fewer n_classifiers"

    def __init__(
        self,
        *,
        n_classifiers: int = 1024,
        n_active: int = 32,
        lr: float = 1e-4,
        weight_decay: float = 1e-4,
        centre: bool = True,
        centred_on: Literal["all", "first"] = "all",
        batch_size: int = 60,
        random_state: Any = None,
    ) -> None:
        self.n_classifiers = n_classifiers
        self.n_active = n_active
        self.lr = lr
        self.weight_decay = weight_decay
        self.centre = centre
        self.centred_on = centred_on
        self.batch_size = batch_size
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("centred_on", self.centred_on, ("all", "first"))
        check_positive(lr=self.lr)
        check_not_negative(weight_decay=self.weight_decay)
        if self.lr * self.weight_decay >= 1:
            raise ValueError(
                f"lr * weight_decay must be below 1, or the weights change their sign, got {self.lr:g} and "
                f"{self.weight_decay:g}"
            )
        check_whole(n_classifiers=self.n_classifiers, n_active=self.n_active, at_least=1)
        check_whole(batch_size=self.batch_size, at_least=1)

    def _start(self, n_features: int) -> None:
        self._keys: SeededDraw[Float32] = SeededDraw(self.random_state)
        self._classifiers = KeyedClassifiers(self.n_classifiers, n_features)
        self._mean = RunningMean(n_features)

    def _draw(self, rng: np.random.Generator) -> Float32:
        keys = rng.standard_normal((self.n_classifiers, self.n_features_in_))
        keys /= np.linalg.norm(keys, axis=1, keepdims=True)
        return keys.astype(np.float32)

    def _look_up(self, X: Features) -> Lookup:
        centred = X - self._mean.value if self.centre else X
        return look_up(centred, self._keys.get(self._draw), self.n_active)

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        room = -(-n_classes // CLASS_BLOCK) * CLASS_BLOCK  # as `KeyedClassifiers` grows
        keys = self.n_classifiers * n_features
        return 4 * (self.n_classifiers * room * (n_features + 1) + keys) + 8 * n_features

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        every_row = np.ones(len(X)) if weights is None else weights
        if self.centred_on == "all" or self._mean.total < SETTLED:
            self._mean.add(X, every_row)
        self._classifiers.step(
            self._look_up(X), rows, every_row / every_row.sum(), lr=self.lr, weight_decay=self.weight_decay
        )

    def _scores(self, X: Features) -> Features:
        scores = np.empty((len(X), len(self._labels)), dtype=np.float32)
        for start in range(0, len(X), BLOCK):
            block = slice(start, start + BLOCK)
            scores[block] = self._classifiers.outputs(self._look_up(X[block]))
        return scores
