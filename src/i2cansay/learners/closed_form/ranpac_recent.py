"""RanPAC with its published choice of the penalty: by samples of the latest session that were held out."""

from types import MappingProxyType
from typing import Any, ClassVar, Literal

from i2cansay.core.part_bytes import ridge_bytes
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.closed_form.ranpac import RanPAC
from i2cansay.learners.closed_form.recent_split import RecentSplit
from i2cansay.learners.closed_form.ridge_solution import RidgeSolution, solve_ridge
from i2cansay.learners.parameters import check_whole


class RecentRanPAC(RanPAC):
    """`RanPAC` whose penalty is the best of 17 decades, 1e-8 to 1e8, on a fifth of the latest samples.

    The publication takes 80% of the samples of a session, regresses on them alone with each penalty, and keeps the
    one with the least squared error on the other 20%. With it the regression on all samples so far is solved.
    Nobody tells a session here: a window of `window` samples takes its place. Where sessions have that many samples
    the two are the same, except that every fifth sample is held out in place of the last 20% of a random order.

    Parameters
    ----------
    n_projections : int
        Width M of the projection; 10,000 as published. The state is three matrices of M^2/2 numbers of 8 bytes
        (1.2 GB at 10,000, 300 MB at 5,000), and a solution takes some twenty times as long as one of `RanPAC` with a
        given penalty.
    window : int
        Samples that stand for a session.
    random_state : int, Generator, RandomState or None
        Seed of the projection. R itself is drawn again from the seed and never saved.

    Notes
    -----
    The choice depends on the latest samples alone, and so on the order: samples of a single class ask for another
    penalty than those of many. `merge` keeps the window of the learner that is merged into.

    References
    ----------
    McDonnell, Gong, Parvaneh, Abbasnejad, van den Hengel (2023), RanPAC: Random projections and pre-trained models
    for continual learning, NeurIPS.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = RecentRanPAC(n_projections=300, window=500, random_state=0).partial_fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.85  # about 0.91
    True
    """

    summary = "RanPAC with the penalty chosen on the latest samples, as published"
    small_parameters = MappingProxyType({"n_projections": 20, "window": 30})
    expected_failed_checks = MappingProxyType(
        {"check_sample_weight_equivalence_on_dense_data": "a copy of a sample moves which ones are held out"}
    )
    parts = ("_projection", "_statistics", "_recent")
    order_free = False
    structural: ClassVar[tuple[str, ...]] = ("n_projections", "window")

    # What `RanPAC` lets one choose is chosen here.
    penalty: float | Literal["gcv"] = 1.0
    relative = True

    def __init__(self, *, n_projections: int = 10_000, window: int = 2500, random_state: Any = None) -> None:
        self.n_projections = n_projections
        self.window = window
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole(window=self.window, at_least=10)

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        self._recent = RecentSplit(self.n_projections, self.window)

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        return super()._state_bytes(n_features, n_classes) + 2 * ridge_bytes(self.n_projections, n_classes)

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        for block, lifted in self._lifted_blocks(X):
            of_block = None if weights is None else weights[block]
            self._statistics.add(lifted, rows[block], of_block)
            self._recent.add(lifted, rows[block], of_block)

    def _solve(self) -> RidgeSolution:
        best = self._recent.best_penalty()
        statistics = self._ridge_statistics()
        if best is None:  # fewer than five samples: any penalty is as good
            return solve_ridge(statistics, self.penalty, relative=self.relative, intercept=False)
        return solve_ridge(statistics, best, relative=False, intercept=False)
