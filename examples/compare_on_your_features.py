"""
Compare learners on features of your own
========================================

The same order for the same seed, one pass, one table.

``python examples/compare_on_your_features.py TRAIN.npz TEST.npz``, each file with arrays X (n, d) and y (n,).
Without files it takes the digits of scikit-learn.
"""

import sys

import numpy as np
from sklearn.datasets import load_digits

from i2cansay import make_learner
from i2cansay.evaluate import average_accuracy, forgetting, last_accuracy, play
from i2cansay.streams import make_stream

LEARNERS = ("i2cansay", "slda", "ncm", "naive")
SEEDS = 3


def main(*files: str) -> None:
    """Play every learner over the same streams and print what it knows at the end."""
    (X, y), (X_test, y_test) = map(read, files) if files else digits()
    print(
        f"{len(y)} rows of width {X.shape[1]}, {len(np.unique(y))} classes, one class after the other, {SEEDS} seeds"
    )
    print(f"{'learner':10} {'last %':>8} {'average %':>10} {'forgetting':>11}")
    for name in LEARNERS:
        outcomes = []
        for seed in range(SEEDS):
            stream = make_stream("step:1", y, seed=seed)
            outcomes.append(play(make_learner(name), X, y, stream, X_test=X_test, y_test=y_test))
        last, average, lost = (
            100 * np.mean([metric(outcome) for outcome in outcomes])
            for metric in (last_accuracy, average_accuracy, forgetting)
        )
        print(f"{name:10} {last:8.1f} {average:10.1f} {lost:11.1f}")


def read(path: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels of a file."""
    with np.load(path) as arrays:
        return arrays["X"], arrays["y"]


def digits() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return 1,200 digits to learn and the others to test with, as their 64 pixels."""
    X, y = load_digits(return_X_y=True)
    return (X[:1200] / 16, y[:1200]), (X[1200:] / 16, y[1200:])


if __name__ == "__main__":
    if len(sys.argv) not in (1, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
