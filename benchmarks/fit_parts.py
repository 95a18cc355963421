"""What a model that is learnt in parts loses against one that learns along a stream.

    python benchmarks/fit_parts.py [--dataset digits ...] [--encoder efficientnet-lite0]

Features are looked for as `i2cansay reproduce` does: `<dataset>_<encoder>_train.npz` in the folders of
I2CANSAY_DATA, else images are encoded; `digits` takes its pixels. Prints test accuracy of the closed form alone,
with a head of analogies that is trained after the merge on a share of the rows, and with a head that learns along
the stream; and how well probabilities are calibrated by rows that were held out, against those of the stream.
"""

import argparse

import numpy as np
from threadpoolctl import threadpool_limits

from i2cansay.core.types import Features, Rows
from i2cansay.experiments.run.shared_features import share_features
from i2cansay.fitting import ArrayRows, fit_parts
from i2cansay.learners import make_learner
from i2cansay.learners.base import OnlineClassifier

SHARES = (0.0, 0.05, 0.2, 1.0)
SEEDS = 3
PARTS = 8


def calibration_error(model: OnlineClassifier, X: Features, y: Rows, bins: int = 15) -> float:
    """Return the expected calibration error: how far confidence is from accuracy, on average over bins."""
    probabilities = model.predict_proba(X)
    sure = probabilities.max(axis=1)
    right = model.classes_[probabilities.argmax(axis=1)] == y
    place = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [abs(sure[place == bin_].sum() - right[place == bin_].sum()) for bin_ in range(bins)]
    return float(np.sum(gaps) / len(y))


def measured(models: list[OnlineClassifier], X: Features, y: Rows) -> str:
    """Return accuracy and calibration error in percent, the mean over models."""
    accuracy = np.mean([model.score(X, y) for model in models])
    error = np.mean([calibration_error(model, X, y) for model in models])
    return f"{100 * accuracy:.2f} | {100 * error:.1f}"


def along_the_stream(X: Features, y: Rows, seed: int, *, analogies: bool) -> OnlineClassifier:
    """Return a learner that was taught shuffled batches of 50."""
    model = make_learner("i2cansay_shared", lift=0, analogies=analogies, random_state=seed)
    order = np.random.default_rng(seed).permutation(len(X))
    for start in range(0, len(order), 50):
        batch = order[start : start + 50]
        model.partial_fit(X[batch], y[batch])
    return model


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--dataset", action="append")
    parser.add_argument("--encoder", default="efficientnet-lite0")
    parser.add_argument("--rows", type=int, help="only so many training rows, drawn at random")
    options = parser.parse_args()
    for dataset in options.dataset or ["digits"]:
        features = share_features(dataset, "pixels" if dataset == "digits" else options.encoder)
        (X, y), (asked, right) = features.open("train"), features.open("test")
        if options.rows is not None:
            some = np.random.default_rng(0).permutation(len(X))[: options.rows]
            X, y = np.asarray(X[some]), y[some]
        print(f"\n{dataset}: {len(X)} rows, {X.shape[1]} dimensions, {PARTS} parts, {SEEDS} seeds\n")
        print("| | accuracy % | calibration error % |\n|---|---|---|")
        for share in SHARES:
            fitted = [
                fit_parts(
                    ArrayRows(X, y),
                    "i2cansay_shared",
                    {"lift": 0, "random_state": seed},
                    parts=PARTS,
                    analogies=share,
                ).learner
                for seed in range(SEEDS if share else 1)
            ]
            name = f"merged, head on {share:.0%} of the rows" if share else "merged, no head"
            print(f"| {name} | {measured(fitted, asked, right)} |", flush=True)
        for analogies in (False, True):
            taught = [along_the_stream(X, y, seed, analogies=analogies) for seed in range(SEEDS)]
            name = f"along the stream, {'with' if analogies else 'no'} head"
            print(f"| {name} | {measured(taught, asked, right)} |", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
