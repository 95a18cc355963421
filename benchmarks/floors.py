"""Do GDumb and DSDM reach what their own memory allows? Low-data streams, the test set.

    python benchmarks/floors.py [--dataset cifar10] [--seeds 2]

GDumb should not be more than 1 point below a logistic regression on its own buffer (scikit-learn's, the best of
several penalties by the test set, so flattered), DSDM not more than 1 below the nearest of its own rows. All methods
against plain replay of as many samples: ``i2cansay reproduce floors``.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from i2cansay.core.types import Features
from i2cansay.evaluate import last_accuracy, play
from i2cansay.experiments.run.shared_features import share_features
from i2cansay.learners import make_learner
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.memory.dsdm import DSDM
from i2cansay.streams import low_data, make_stream

METHODS = ("gdumb", "dsdm")
PENALTIES = (3e-4, 1e-3, 3e-3, 1e-2, 1e-1)


@dataclass(frozen=True)
class Case:
    """A data set as Table 1 has it with little data."""

    dataset: str
    fraction: float
    stream: str
    memory_size: int


CASES = (Case("cifar10", 0.10, "step:2", 2000), Case("cifar100", 0.30, "step:5", 6000))


def regression_on(learner: OnlineClassifier, X: Features, y: NDArray[np.int64]) -> float:
    """Return the accuracy of the best logistic regression on the samples GDumb stores."""
    state = learner.state()
    scaler = StandardScaler().fit(state["buffer.rows"])
    rows, asked = (scaler.transform(part).astype(np.float32) for part in (state["buffer.rows"], X))
    targets = learner._labels.arrived()[state["buffer.classes"]]  # the state numbers classes as they arrived
    fits = (LogisticRegression(C=C, max_iter=1000).fit(rows, targets) for C in PENALTIES)
    return max(100 * float(np.mean(fit.predict(asked) == y)) for fit in fits)


def nearest_row_of(learner: DSDM, X: Features, y: NDArray[np.int64]) -> float:
    """Return the accuracy of the class that the nearest row of DSDM's memory speaks for most."""
    rows = learner.addresses_
    # Up to the square of each sample, which does not change who is nearest.
    squares = np.einsum("md,md->m", rows, rows)
    nearest = np.concatenate(
        [(squares - 2 * (part @ rows.T)).argmin(axis=1) for part in np.array_split(X, 20)]
    )
    spoken_for = learner.classes_[learner.contents_[nearest].argmax(axis=1)]
    return 100 * float(np.mean(spoken_for == y))


def play_case(name: str, case: Case, seed: int, encoder: str) -> tuple[float, float]:
    """Return the last accuracy of a method, and that of the yardstick of its own."""
    source = share_features(case.dataset, encoder)
    (X, y), (X_test, y_test) = source.open("train"), source.open("test")
    rows = low_data(y, case.fraction, seed)
    seeded = {} if name == "dsdm" else {"random_state": seed}
    learner = make_learner(name, memory_size=case.memory_size, **seeded)
    outcome = play(
        learner,
        X[rows],
        y[rows],
        make_stream(case.stream, y[rows], seed=seed),
        X_test=X_test,
        y_test=y_test,
        prequential=False,
        every_session=False,
    )
    if isinstance(learner, DSDM):
        return 100 * last_accuracy(outcome), nearest_row_of(learner, X_test, y_test)
    return 100 * last_accuracy(outcome), regression_on(learner, X_test, y_test)


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", choices=[case.dataset for case in CASES])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--encoder", default="efficientnet-lite0")
    options = parser.parse_args()
    print("| method | stream | seed | last, % | its yardstick | difference |\n|---|---|---:|---:|---:|---:|")
    with threadpool_limits(1):
        for case in CASES:
            if options.dataset not in (None, case.dataset):
                continue
            for seed in range(options.seeds):
                for name in METHODS:
                    last, own = play_case(name, case, seed, options.encoder)
                    stream = f"{case.dataset} {case.fraction:.0%} {case.stream}"
                    print(
                        f"| {name} | {stream} | {seed} | {last:.1f} | {own:.1f} | {last - own:+.1f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
