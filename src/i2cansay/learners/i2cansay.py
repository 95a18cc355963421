"""I2CANSAY: class statistics, pseudo-features of old classes, a linear head and its significance correction."""

from os import PathLike
from typing import Any, Literal, Self

from numpy.typing import ArrayLike

from i2cansay.core.paper.ican import PseudoKind
from i2cansay.core.paper.isay import BiasScale, Distance
from i2cansay.core.types import Features, Float32, Float64, Rows, State
from i2cansay.learners.base import WEIGHTS_ARE_NOT_COPIES, OnlineClassifier
from i2cansay.learners.labels import as_labels
from i2cansay.learners.merging import check_mergeable, merge_into
from i2cansay.learners.paper_rule import PaperRule, PaperSettings
from i2cansay.learners.parameters import check_choice, check_whole
from i2cansay.learners.rule import Rule
from i2cansay.learners.shared.feature_map import Lift, TransformKind
from i2cansay.learners.shared.shared_rule import SharedRule, SharedSettings
from i2cansay.learners.validation import check_features, check_sample_weight, make_generator


class I2CANSAY(OnlineClassifier):
    """Learns classes from a stream of features in one pass and keeps none of them.

    The defaults are the paper's. Every batch updates mean and standard deviation of its classes (Eq. 1-2), makes
    one pseudo-feature of another class per sample (Eq. 3-4) and takes one step on both (Eq. 5). The decision adds
    to the head's softmax a correction from the distances to all classes, weighed by how steady each dimension is
    for each class (Eq. 6-9).

    Parameters
    ----------
    lr, weight_decay, momentum : float
        Of the head's SGD. The step acts on the squared norm of the features: 0.02 is the paper's value for its
        encoders, not a law.
    beta : float
        Weight of the pseudo-features' loss.
    alpha : float
        Keeps a standard deviation of zero from dividing.
    n_pseudo : float
        Pseudo-features per sample, up to 100; fractions (of a batch) and multiples are allowed.
    old_classes : {"all", "absent"}
        Pseudo-features come from all classes but the sample's own, or only from classes absent from the batch.
    pseudo : {"ican", "gaussian", "radius", "translation", "prototype"} or None
        How they are made, see `i2cansay.core.paper.ican.pseudo_features`; None makes none.
    significance : bool
        Whether to correct the decision (ISAY). Without it the head has a trained bias.
    distance : {"euclidean", "squared", "absolute"}
        The weighted distance of Eq. 7.
    bias_scale : {"paper", "mean"}
        The correction as printed, which grows with the number of classes and from about 100 classes on decides
        alone, or divided by that number.
    memory_size : int
        Rows in an optional replay buffer (Table 5 of the paper). Above 0 the learner stores samples.
    covariance : {"diagonal", "shared"}
        "diagonal": spread per class and dimension, as the paper has it. "shared": one full covariance for all
        classes, which is ours (docs/shared-mode.md); see Notes.
    feature_transform : {"auto", "none", "sqrt"}
        With ``covariance="shared"``: take the square root of features, "auto" where the first batch has nothing
        below zero. A later value below zero gets minus the root of its size.
    shrinkage : {"gcv", "oas"} or float
        With ``covariance="shared"``: the share of the sphere in the covariance, by generalised cross-validation or
        the oracle approximation, both from the statistics alone, or given, above 0 and at most 1.
    shrink_means : float
        With ``covariance="shared"``: how far class means far out are drawn in towards the centre of the classes,
        so that less pronounced samples of theirs are not lost to classes further in; 0 is plain discriminant
        analysis.
    lift : int, "auto" or "wide"
        With ``covariance="shared"``: rectified random projections beside the features, drawn from `random_state`
        and never stored, at the cost of a wider covariance. "auto" has as many as fill 3584 dimensions, "wide" 7680.
    prior : {"uniform", "empirical"}
        With ``covariance="shared"``: whether a class seen more often is more likely from the outset.
    forgetting : float
        With ``covariance="shared"``: how much of the statistics fades with each sample, for streams whose classes
        change; 0.001 remembers about the last 1000 samples.
    batch_size, epochs : int
        Used by `fit` only; `partial_fit` takes a batch as it comes. Epochs after the first train the head only.
    random_state : int, Generator, RandomState or None
        Seed of the pseudo-features' classes, and with ``covariance="shared"`` of lift and fold.

    Attributes
    ----------
    classes_ : (n_classes,) array
        Labels seen so far, sorted.
    class_counts_, class_means_, class_stds_ : arrays
        The statistics of `classes_`: (n_classes,), (n_classes, d), (n_classes, d).
    n_features_in_ : int

    Notes
    -----
    Departs from the paper: the spread is accumulated as centred squares in float64 instead of E(f^2) - p^2, which
    is the same number without its cancellation. What the paper leaves open (the classes drawn from, alpha, zero
    initial weights) is a parameter or named above.

    With ``covariance="shared"`` the score of a class is the closed form of linear discriminant analysis, with the
    covariance shrunk as cross-validation from the statistics asks for and means drawn in towards their centre, plus
    a head trained on each sample and its analogies in other classes. All spreads being one, Eq. 4 is a translation;
    steps are multiplied by the inverse covariance, which is made anew on a schedule, some 20 times in 50,000
    samples. `lr`, `beta`, `n_pseudo`, `old_classes` and `epochs` mean what they mean above; ``pseudo=None`` leaves
    the closed form alone, which does not depend on the order of the samples. The correction by significance,
    `weight_decay`, `momentum`, `alpha` and `memory_size` have no part in it. Features wider than 4096 are folded to
    4096; a lift is as wide as asked for.

    Many threads may ask at the same time, but not while another teaches; see `OnlineClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> by_class = np.argsort(y[:1500], kind="stable")  # the hardest order: one class after the other
    >>> model = I2CANSAY(random_state=0)
    >>> for start in range(0, 1500, 50):
    ...     batch = by_class[start : start + 50]
    ...     model = model.partial_fit(X[batch], y[batch])
    >>> model.score(X[1500:], y[1500:]) > 0.75  # about 0.86; a softmax layer would know the last class alone: 0.1
    True
    """

    summary = "the paper, to the letter"
    expected_failed_checks = WEIGHTS_ARE_NOT_COPIES
    _rule: Rule  # made by `_start`

    def __init__(
        self,
        *,
        lr: float = 0.02,
        weight_decay: float = 5e-5,
        momentum: float = 0.0,
        beta: float = 2.0,
        alpha: float = 1e-8,
        n_pseudo: float = 1.0,
        old_classes: Literal["all", "absent"] = "all",
        pseudo: PseudoKind | None = "ican",
        significance: bool = True,
        distance: Distance = "euclidean",
        bias_scale: BiasScale = "paper",
        memory_size: int = 0,
        covariance: Literal["diagonal", "shared"] = "diagonal",
        feature_transform: TransformKind = "auto",
        shrinkage: Literal["gcv", "oas"] | float = "gcv",
        shrink_means: float = 0.02,
        lift: Lift = 0,
        prior: Literal["uniform", "empirical"] = "uniform",
        forgetting: float = 0.0,
        batch_size: int = 50,
        epochs: int = 1,
        random_state: Any = None,
    ) -> None:
        self.lr = lr
        self.weight_decay = weight_decay
        self.momentum = momentum
        self.beta = beta
        self.alpha = alpha
        self.n_pseudo = n_pseudo
        self.old_classes = old_classes
        self.pseudo = pseudo
        self.significance = significance
        self.distance = distance
        self.bias_scale = bias_scale
        self.memory_size = memory_size
        self.covariance = covariance
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
    def stores_samples(self) -> bool:  # type: ignore[override]
        """Whether a replay buffer is kept."""
        return self.memory_size > 0

    @property
    def order_free(self) -> bool:  # type: ignore[override]
        """Whether only the closed form decides, from statistics that do not fade.

        With ``feature_transform="auto"`` as long as the first batch, whichever it is, leads to the same decision.
        """
        return self.covariance == "shared" and self.pseudo is None and not self.forgetting

    @property
    def lazy(self) -> bool:  # type: ignore[override]
        """Whether there is a closed form to solve."""
        return self.covariance == "shared"

    @property
    def plain_means(self) -> bool:  # type: ignore[override]
        """Whether `class_means_` are of the features as they came, not of roots or lifts of them."""
        return self.covariance != "shared"

    @property
    def size_advice(self) -> str:  # type: ignore[override]
        """What makes the state smaller."""
        if self.covariance == "shared":
            return "a smaller lift"
        return "a smaller memory_size" if self.memory_size else OnlineClassifier.size_advice

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as scikit-learn has it.

        Those that nothing learnt depends on (of the steps, the analogies, the distance, the shrinkage, the prior)
        count from the next batch or question on; the others when learning begins anew, and until then what was
        learnt cannot be saved or merged.
        """
        before = self.get_params(deep=False)
        try:
            super().set_params(**params)
            if self._started:
                self._change_rule()
        except ValueError:
            super().set_params(**before)
            raise
        return self

    def _change_rule(self) -> None:
        """Let the rule go on with the present parameters, as far as what it has learnt allows."""
        settings = self._paper_settings()
        settings.check()
        if isinstance(self._rule, PaperRule):
            self._rule.settings = settings
        elif isinstance(self._rule, SharedRule):
            self._check_shared()
            self._rule.change(self._shared_settings())

    def _foundations(self) -> dict[str, Any]:
        """Return the parameters that what is learnt rests on."""
        settings = self._shared_settings() if self.covariance == "shared" else self._paper_settings()
        return {"covariance": self.covariance, **settings.foundations()}

    def _check_foundations(self) -> None:
        """Raise where parameters were changed that wait for a new beginning."""
        if not self._started:
            return
        founded_on, wished = self._founded_on, self._foundations()
        waiting = [name for name in founded_on if name in wished and wished[name] != founded_on[name]]
        if waiting:
            raise ValueError(
                f"{', '.join(waiting)} changed after learning began, and what was learnt does not fit; "
                "set it back, or begin anew with fit"
            )

    def save(self, path: str | PathLike[str]) -> None:
        """Write parameters and state to one file, atomically; `i2cansay.load` reads it."""
        self._check_foundations()
        super().save(path)

    # -- learning -------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and learn `X`, (n, d), with labels `y`, (n,): shuffled, `epochs` times.

        Parameters
        ----------
        sample_weight : (n,) weights, optional
            As in `partial_fit`.
        """
        super().fit(X, y, sample_weight)
        if self.epochs > 1:
            X, rows = check_features(self, X, reset=False), self._labels.rows(as_labels(y))
            weights = check_sample_weight(sample_weight, len(X))
            if weights is not None:  # those of weight 0 may be of classes that are not known
                X, rows, weights = X[weights > 0], rows[weights > 0], weights[weights > 0]
            for _ in range(self.epochs - 1):
                for batch in self._batches(len(X)):
                    own = None if weights is None else weights[batch]
                    self._rule.train(X[batch], rows[batch], own, self._rng)
        return self

    def _start(self, n_features: int) -> None:
        self._founded_on = self._foundations()
        self._rule = (
            self._shared_rule(n_features)
            if self.covariance == "shared"
            else PaperRule(n_features, self._paper_settings())
        )

    def _check_parameters(self) -> None:
        check_whole(batch_size=self.batch_size, epochs=self.epochs, at_least=1)
        # In either mode: a parameter that has no part in it must make sense all the same.
        self._paper_settings().check()
        check_choice("covariance", self.covariance, ("diagonal", "shared"))
        if self.covariance == "shared":
            self._check_shared()

    def _paper_settings(self) -> PaperSettings:
        return PaperSettings(
            lr=self.lr,
            weight_decay=self.weight_decay,
            momentum=self.momentum,
            beta=self.beta,
            alpha=self.alpha,
            n_pseudo=self.n_pseudo,
            old_classes=self.old_classes,
            pseudo=self.pseudo,
            significance=self.significance,
            distance=self.distance,
            bias_scale=self.bias_scale,
            memory_size=self.memory_size,
        )

    def _shared_rule(self, n_features: int) -> SharedRule:
        seed = int(make_generator(self.random_state).integers(2**63))
        return SharedRule(n_features, self._shared_settings(), seed)

    def _check_shared(self) -> None:
        self._shared_settings().check()
        if self.pseudo not in ("ican", "translation", None):
            raise ValueError(
                f'with covariance="shared" pseudo must be "ican", "translation" (the same there) or None, '
                f"got {self.pseudo!r}"
            )
        if self.memory_size:
            raise ValueError('a replay buffer (memory_size) goes with covariance="diagonal" only')

    def _shared_settings(self) -> SharedSettings:
        return SharedSettings(
            lr=self.lr,
            beta=self.beta,
            n_pseudo=self.n_pseudo,
            old_classes=self.old_classes,
            analogies=self.pseudo is not None,
            feature_transform=self.feature_transform,
            shrinkage=self.shrinkage,
            shrink_means=self.shrink_means,
            lift=self.lift,
            prior=self.prior,
            forgetting=self.forgetting,
        )

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        settings = self._shared_settings() if self.covariance == "shared" else self._paper_settings()
        return settings.state_bytes(n_features, n_classes)

    def _grow(self, n_classes: int) -> None:
        self._rule.resize(n_classes)

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._rule.learn(X, rows, weights, self._rng)

    # -- deciding -------------------------------------------------------------------------------------------

    def _scores(self, X: Features) -> Features:
        return self._rule.scores(X)

    def novelty(self, X: ArrayLike) -> Float64:
        """Return how little each row of `X`, (n, d), is like any class taught, (n,); larger is stranger.

        With ``covariance="shared"`` only. The squared distance to the nearest class, less that to the centre of
        everything, each in units of its own covariance: what is unusual for all classes alike is no sign of a new
        one. As long as there is one class, the distance to it. Numbers of one learner can be compared with each
        other; there is no threshold that suits all.

        References
        ----------
        Ren, Fort, Liu, Guha Roy, Padhy, Lakshminarayanan (2021), A simple fix to Mahalanobis distance for improving
        near-OOD detection, arXiv:2106.09022.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_digits
        >>> X, y = load_digits(return_X_y=True)
        >>> known = y < 8
        >>> model = I2CANSAY(covariance="shared", random_state=0).fit(X[:1500][known[:1500]], y[:1500][known[:1500]])
        >>> strange, known = model.novelty(X[1500:]), known[1500:]
        >>> bool(np.median(strange[~known]) > np.quantile(strange[known], 0.9))
        True
        """
        self._check_ready()
        if not isinstance(self._rule, SharedRule):
            raise ValueError(
                'novelty needs covariance="shared": with covariance="diagonal" there is no distance that '
                "compares classes; use predict(X, reject_below=...) instead"
            )
        return self._rule.novelty(check_features(self, X, reset=False))

    @property
    def class_counts_(self) -> Float64:
        """Samples taught per class, (n_classes,), in the order of `classes_`."""
        return self._rule.counts[self._labels.order]

    @property
    def class_means_(self) -> Float64:
        """Prototypes, (n_classes, d), in the order of `classes_`.

        With ``covariance="shared"`` those of the transformed, lifted and folded features.
        """
        return self._rule.means[self._labels.order]

    @property
    def class_stds_(self) -> Float32:
        """Standard deviation by dimension, (n_classes, d), in the order of `classes_`."""
        if not isinstance(self._rule, PaperRule):
            raise AttributeError('with covariance="shared" classes have no standard deviations of their own')
        return self._rule.moments.std(self._labels.order)

    # -- changing one's mind --------------------------------------------------------------------------------

    def unlearn(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Take samples that were taught, (n, d) with labels (n,), out of the statistics, exactly.

        For a wrong label: unlearn with the wrong one, learn with the right one. A class that has no sample left is
        forgotten. The steps the head took on them stay, and so does what was learnt from scoring them: the
        temperature of `predict_proba`, and how many samples have passed.

        Exactly means that the statistics are those of the other samples alone, up to a millionth of their spread.
        Where an outlier has left more rounding than that, a ValueError says so and nothing changes; `forget` the
        class then, and teach it anew.
        """
        X, rows, weights = self._check_taught(X, y, sample_weight)
        empty = self._rule.unlearn(X, rows, weights)
        for label in self._labels.arrived()[empty].tolist():
            self.forget(label)
        return self

    def _drop(self, row: int) -> None:
        self._rule.drop(row)

    def merge(self, other: "I2CANSAY") -> Self:
        """Take in what another learner of the same parameters has learnt from other samples.

        The statistics become exactly those of both streams. The heads meet class by class: each weight row is
        the mean of the two, weighed by the samples of that class; a class only one of them knows keeps its row.
        `other` is not changed.
        """
        check_mergeable(self, other)
        self._check_foundations()
        other._check_foundations()
        if self._started and other._started:
            self._rule.check_mergeable(other._rule)
        merge_into(self, other, lambda rows: self._rule.merge(other._rule, rows, self._rng))
        return self

    # -- state ----------------------------------------------------------------------------------------------

    def _state(self) -> State:
        return self._rule.state()

    def _restore(self, state: State) -> None:
        self._rule.restore(state, len(self._labels))
