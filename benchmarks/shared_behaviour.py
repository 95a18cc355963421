"""What the shared mode does with few samples, long tails and drift; its probabilities; unknown classes.

    python benchmarks/shared_behaviour.py [few-shot] [long-tail] [drift] [calibration] [unknown]

Runs are kept in benchmarks/records/shared_behaviour.jsonl (``--records``): what is missing there is measured.
The shared mode is played without its lift, ten times as fast. Features are those of
EfficientNet-Lite0, found as the command line finds them; every learner sees the same order for the same seed.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from figures import Run, play
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from i2cansay.core.types import Features, Float64, Rows
from i2cansay.experiments.report.study_tables import Values
from i2cansay.experiments.run.shared_features import share_features
from i2cansay.learners import make_learner
from i2cansay.learners.base import OnlineClassifier
from i2cansay.streams import low_data, make_stream

RECORDS = Path(__file__).parent / "records" / "shared_behaviour.jsonl"
ENCODER = "efficientnet-lite0"
SHARE = 0.1
"""Of CIFAR-100, where not all of it is used."""
SHOTS = (1, 2, 5, 10, 30)
IMBALANCE = 100.0
RARE = 20
DRIFT = (0.0, 0.2, 0.4)
"""How far class means move over the stream, in units of the samples' usual distance from their mean."""
BINS = 15
Contender: TypeAlias = tuple[str, dict[str, Any]]
PAPER: Contender = ("i2cansay", {})
NO_LIFT: Contender = ("i2cansay_shared", {"lift": 0})
SLDA: Contender = ("slda", {})


@dataclass(frozen=True)
class Data:
    """Training and test features of a data set, with labels."""

    X: Features
    y: Rows
    X_test: Features
    y_test: Rows

    def taught(self, rows: Rows) -> "Data":
        """Return the same with fewer training rows."""
        return Data(self.X[rows], self.y[rows], self.X_test, self.y_test)


@cache
def read(dataset: str, every: int = 1) -> Data:
    """Return all training rows of a data set, and one test row of so many."""
    found = share_features(dataset, ENCODER)
    (X, y), (X_test, y_test) = found.open("train"), found.open("test")
    return Data(X, y, X_test[::every], y_test[::every])


def part(dataset: str, seed: int, every: int = 1) -> Data:
    """Return CUB-200, or the share of CIFAR-100 that is drawn with a seed."""
    data = read(dataset, every)
    return data if dataset == "cub200" else data.taught(low_data(data.y, SHARE, seed))


def learn(contender: Contender, data: Data, stream: str, seed: int) -> OnlineClassifier:
    """Return a learner that has seen the training rows in the order of a stream."""
    name, parameters = contender
    seeded = {"random_state": seed} if "random_state" in make_learner(name).get_params() else {}
    model = make_learner(name, **seeded, **parameters)
    for batch in make_stream(stream, data.y, seed=seed):
        model.partial_fit(data.X[batch.rows], data.y[batch.rows])
    return model


# -- few samples --------------------------------------------------------------------------------------------------


def few_shot() -> Iterator[Run]:
    """Measure the accuracy after 1 to 30 samples of each class, in random order."""
    rows: dict[str, Contender] = {
        "paper mode": PAPER,
        "SLDA": SLDA,
        "SLDA, OAS": ("slda", {"shrinkage": "oas"}),
        "nearest mean": ("ncm", {}),
        "ridge, GCV": ("ridge", {"penalty": "gcv"}),
        "shared mode, no lift": NO_LIFT,
    }

    def measure(dataset: str, contender: Contender, shot: int, seed: int) -> Values:
        data = read(dataset, 1 if dataset == "cub200" else 4)
        model = learn(contender, data.taught(draw(data.y, shot, seed)), "iid", seed)
        return {"accuracy": 100 * float(model.score(data.X_test, data.y_test))}

    for dataset in ("cub200", "cifar100"):
        for name, contender in rows.items():
            for shot in SHOTS:
                yield Run(
                    f"few samples, {dataset}", f"{name}, {shot}", partial(measure, dataset, contender, shot)
                )


def draw(y: Rows, shot: int, seed: int) -> Rows:
    """Return rows with `shot` samples of every class, or all it has."""
    rng = np.random.default_rng(seed)
    chosen = [rng.permutation(np.flatnonzero(y == label))[:shot] for label in np.unique(y)]
    return np.concatenate(chosen)


# -- long tails ---------------------------------------------------------------------------------------------------


def long_tail() -> Iterator[Run]:
    """Measure balanced accuracy after streams in which some classes come a hundred times as often as others."""
    rows: dict[str, Contender] = {
        "paper mode": PAPER,
        "SLDA": SLDA,
        "shared mode, no lift": NO_LIFT,
        "shared mode, no lift, empirical prior": ("i2cansay_shared", {"lift": 0, "prior": "empirical"}),
        "closed form, no lift": ("i2cansay_shared", {"lift": 0, "analogies": False}),
        "closed form, no lift, means not shrunk": (
            "i2cansay_shared",
            {"lift": 0, "analogies": False, "shrink_means": 0.0},
        ),
        "GACL 5,000": ("gacl", {}),
        "AIR 5,000": ("air", {}),
    }

    def measure(contender: Contender, stream: str, seed: int) -> Values:
        data = read("cifar100", 4)
        tailed = data.taught(tail(data.y, seed))
        answers = learn(contender, tailed, stream, seed).predict(data.X_test)
        rare = np.bincount(tailed.y, minlength=100) < RARE
        return {
            "all classes": 100 * float(balanced_accuracy_score(data.y_test, answers)),
            "rare classes": 100 * float(np.mean((answers == data.y_test)[rare[data.y_test]])),
        }

    for name, contender in rows.items():
        for stream in ("iid", "step:5"):
            yield Run("long tail", f"{name}, {stream}", partial(measure, contender, stream))


def tail(y: Rows, seed: int) -> Rows:
    """Return rows whose class sizes fall exponentially by `IMBALANCE`, classes in random order."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.unique(y))
    chosen = []
    for place, label in enumerate(labels):
        own = rng.permutation(np.flatnonzero(y == label))
        size = round(len(own) * IMBALANCE ** (-place / (len(labels) - 1)))
        chosen.append(own[:size])
    return np.concatenate(chosen)


# -- drift --------------------------------------------------------------------------------------------------------


def drift() -> Iterator[Run]:
    """Measure the accuracy at the end of a stream in which the mean of every class has moved."""
    rows: dict[str, tuple[Contender, bool]] = {"paper mode": (PAPER, False)}
    for rate in (0.0, 1e-4, 1e-3):
        rows[f"shared mode, no lift, forgetting {rate:g}"] = (
            ("i2cansay_shared", {"forgetting": rate, "lift": 0}),
            False,
        )
    rows["shared mode, no lift, had the classes been there from the start"] = (NO_LIFT, True)

    def measure(contender: Contender, settled: bool, amount: float, seed: int) -> Values:
        data = part("cifar100", seed, every=4)
        model, moved = drifted(contender, data, amount, seed, settled)
        return {"accuracy": 100 * float(model.score(moved, data.y_test))}

    for name, (contender, settled) in rows.items():
        for amount in DRIFT:
            yield Run("drift", f"{name}, {amount:g}", partial(measure, contender, settled, amount))


def drifted(
    contender: Contender, data: Data, amount: float, seed: int, settled: bool
) -> tuple[OnlineClassifier, NDArray[np.float32]]:
    """Return a learner taught while classes move, each in a direction of its own, and the test rows at the end.

    With `settled` they have moved before the stream begins. Classes that part are easier to tell: a column can be
    compared within itself only.
    """
    rng = np.random.default_rng(seed)
    n_classes = int(data.y.max()) + 1
    means = np.stack([data.X[data.y == label].mean(axis=0) for label in range(n_classes)])
    usual = np.sqrt(((data.X - means[data.y]) ** 2).sum(axis=1).mean())
    # Away from one's own mean and towards that of another class, without leaving the features' range.
    direction = means[rng.permutation(n_classes)] - means
    direction *= usual / np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-12)
    name, parameters = contender
    model, done = make_learner(name, random_state=seed, **parameters), 0
    for batch in make_stream("iid", data.y, seed=seed):
        way = amount * (1.0 if settled else done / len(data.y))
        shifted = np.maximum(data.X[batch.rows] + way * direction[data.y[batch.rows]], 0.0)
        model.partial_fit(shifted.astype(np.float32), data.y[batch.rows])
        done += len(batch.rows)
    end: NDArray[np.float32] = np.maximum(data.X_test + amount * direction[data.y_test], 0.0).astype(
        np.float32
    )
    return model, end


# -- probabilities ------------------------------------------------------------------------------------------------


def calibration_error(probabilities: Float64, right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error: |accuracy - confidence| over bins of confidence, weighed by size."""
    sure = probabilities.max(axis=1)
    bins = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    size = np.bincount(bins, minlength=BINS)
    gap = np.bincount(bins, right, minlength=BINS) - np.bincount(bins, sure, minlength=BINS)
    return float(np.abs(gap)[size > 0].sum() / len(right))


def calibration() -> Iterator[Run]:
    """Measure the expected calibration error of `predict_proba`."""
    rows = {"paper mode": PAPER, "SLDA": SLDA, "shared mode, no lift": NO_LIFT}
    columns = {
        f"{title}, {stream.split(':')[0]}": (dataset, stream)
        for title, dataset in (("CUB-200", "cub200"), (f"CIFAR-100 {SHARE:.0%}", "cifar100"))
        for stream in ("step:5", "gaussian")
    }

    def measure(contender: Contender, dataset: str, stream: str, seed: int) -> Values:
        data = part(dataset, seed)
        model = learn(contender, data, stream, seed)
        right = model.predict(data.X_test) == data.y_test
        return {"error": 100 * calibration_error(model.predict_proba(data.X_test), right)}

    for name, contender in rows.items():
        for column, (dataset, stream) in columns.items():
            yield Run("calibration", f"{name}, {column}", partial(measure, contender, dataset, stream))


# -- unknown classes ----------------------------------------------------------------------------------------------


def unknown() -> Iterator[Run]:
    """Measure how well scores tell samples of classes never taught from others, on training and on test rows."""
    for title, dataset in (("CUB-200", "cub200"), (f"CIFAR-100 {SHARE:.0%}", "cifar100")):
        for held_out in (True, False):
            name = f"{title}, {'held-out training' if held_out else 'test'} rows"
            yield Run("unknown classes", name, partial(strangers, dataset, held_out))


def strangers(dataset: str, held_out: bool, seed: int) -> Values:
    """Return the AUROC of each score; with `held_out` no test row is looked at."""
    data, rng = part(dataset, seed), np.random.default_rng(seed)
    labels = np.unique(data.y)
    hidden = rng.choice(labels, len(labels) // 4, replace=False)
    kept = np.ones(len(data.y), dtype=bool)
    if held_out:
        kept[rng.permutation(len(kept))[: len(kept) // 4]] = False
    asked, truth = (data.X[~kept], data.y[~kept]) if held_out else (data.X_test, data.y_test)
    model = learn(NO_LIFT, data.taught(np.flatnonzero(kept & ~np.isin(data.y, hidden))), "step:5", seed)
    is_new = np.isin(truth, hidden)
    scores = strangeness(model, asked)
    return {name: 100 * float(roc_auc_score(is_new, score)) for name, score in scores.items()}


def strangeness(model: Any, X: Features) -> dict[str, Float64]:
    """Return every score of strangeness that was considered."""
    rule = model._solution.get(model._solve).closed_form.scores
    mapped = model._features.apply(X).astype(np.float64)
    closed = rule.of(mapped)
    far = mapped - rule.centre
    length = np.einsum("nd,nd->n", far, model._scatter.solve_shrunk(far, model.shrinkage_))
    probabilities = model.predict_proba(X)
    scores = model.class_scores(X).astype(np.float64) / model._temperature.value
    return {
        "relative distance (`novelty`)": model.novelty(X),
        "distance to the nearest class": length - 2 * closed.max(axis=1),
        "minus the highest closed-form score": -closed.max(axis=1),
        "1 - highest probability": 1 - probabilities.max(axis=1),
        "energy": -logsumexp(scores, axis=1),
    }


STUDIES: Mapping[str, Callable[[], Iterator[Run]]] = {
    "few-shot": few_shot,
    "long-tail": long_tail,
    "drift": drift,
    "calibration": calibration,
    "unknown": unknown,
}


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="*", help=f"of {', '.join(STUDIES)}; all by default")
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--seeds", type=int, default=3)
    wish = parser.parse_args()
    for name in wish.studies or STUDIES:
        for run in STUDIES[name]():
            play(run, wish.seeds, wish.records)


if __name__ == "__main__":
    main()
