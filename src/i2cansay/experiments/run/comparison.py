"""Several learners over the same streams: for the same seed, every learner sees the same order."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from i2cansay.core.statistics.signed_root import signed_root
from i2cansay.core.types import Features
from i2cansay.evaluate import Outcome, play, show_progress
from i2cansay.learners import learner_class, make_learner, make_seeded_learner
from i2cansay.learners.lessons import check_reads_features
from i2cansay.streams import low_data, make_stream


@dataclass(frozen=True)
class FeatureData:
    """Features and labels to stream, and others to be measured on; `blocks` are the widths of their blocks."""

    title: str
    X: Features
    y: NDArray[Any]
    X_test: Features
    y_test: NDArray[Any]
    blocks: tuple[int, ...] = ()

    def low_data(self, fraction: float, seed: int = 0) -> "FeatureData":
        """Return the same data with only a share of each class's training rows."""
        rows = low_data(self.y, fraction, seed)
        return replace(self, title=f"{self.title} {fraction:.0%}", X=self.X[rows], y=self.y[rows])

    @property
    def has_roots(self) -> bool:
        """Whether no feature is below zero, as after a ReLU: then square roots suit a linear classifier better."""
        return bool(self.X.min(initial=0.0) >= 0)

    def rooted(self) -> "FeatureData":
        """Return the same data by the square roots of their features; as they are where some are negative.

        Examples
        --------
        >>> import numpy as np
        >>> X, y = np.array([[4.0, 9.0]]), np.array([0])
        >>> FeatureData("positive", X, y, X, y).rooted().X, FeatureData("signed", -X, y, X, y).rooted().X
        (array([[2., 3.]]), array([[-4., -9.]]))
        """
        if not self.has_roots:
            return self
        return replace(self, X=signed_root(self.X), X_test=signed_root(self.X_test))


def compare(
    data: FeatureData,
    learners: Sequence[str],
    *,
    stream: str,
    seeds: Iterable[int],
    batch_size: int = 50,
    parameters: Mapping[str, Any] | None = None,
    progress: bool = False,
) -> dict[str, list[Outcome]]:
    """Return the outcomes of each learner, one per seed.

    Examples
    --------
    >>> import numpy as np
    >>> from i2cansay.evaluate import last_accuracy
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 3
    >>> X = 4 * np.eye(3)[y] + rng.normal(size=(300, 3))
    >>> data = FeatureData("blobs", X[:200], y[:200], X[200:], y[200:])
    >>> outcomes = compare(data, ["i2cansay", "naive"], stream="step:1", seeds=[0, 1])
    >>> ours, naive = (last_accuracy(outcomes[name][0]) for name in ("i2cansay", "naive"))
    >>> ours > 0.9, naive < 0.85  # about 1.0 and 0.7
    (True, True)
    """
    seeds = list(seeds)
    _check_settings(learners, parameters or {})
    outcomes: dict[str, list[Outcome]] = {name: [] for name in learners}
    for name in learners:
        kind = learner_class(name)
        settings = dict(parameters or {})
        if len(learners) > 1:  # a parameter of one of several learners is not set on the others
            known = kind().get_params(deep=False)
            settings = {key: value for key, value in settings.items() if key in known}
        for seed in seeds:
            order = make_stream(stream, data.y, batch_size=batch_size, seed=seed)
            learner = make_seeded_learner(name, seed, **{"blocks": data.blocks, **settings})
            with show_progress(f"{name}, seed {seed}") as bar:
                outcome = play(
                    learner,
                    data.X,
                    data.y,
                    order,
                    X_test=data.X_test,
                    y_test=data.y_test,
                    prequential=not learner.lazy,
                    every_session=kind.streaming,
                    progress=bar if progress else None,
                )
            outcomes[name].append(outcome)
    return outcomes


def _check_settings(learners: Sequence[str], parameters: Mapping[str, Any]) -> None:
    if "random_state" in parameters:
        raise ValueError("random_state is the seed of each run; leave it out and choose the seeds instead")
    for name in learners:
        check_reads_features(make_learner(name))
    known = {name for learner in learners for name in learner_class(learner)().get_params(deep=False)}
    if unknown := sorted(set(parameters) - known):
        raise ValueError(
            f"none of the learners has a parameter {', '.join(unknown)}; they have {', '.join(sorted(known))}"
        )
