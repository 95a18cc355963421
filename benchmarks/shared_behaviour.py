"""What the shared mode does with few samples, long tails and drift; its probabilities; unknown classes; width.

    python benchmarks/shared_behaviour.py [few-shot] [long-tail] [drift] [calibration] [unknown] [fold]
        [--seeds 3] [--share 0.3] [--lift]

Each name prints one table, all of them by default. The shared mode is played without its lift, ten times as fast;
``--lift`` plays it with the lift as well where that is of interest. Features are those of EfficientNet-Lite0, found
as the command line finds them; every learner sees the same order for the same seed.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from i2cansay.core.feature_map import FeatureMap
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.experiments.shared_features import share_features
from i2cansay.experiments.statistics import spread
from i2cansay.learners import make_learner
from i2cansay.learners.base import OnlineClassifier
from i2cansay.streams import low_data, make_stream

ENCODER = "efficientnet-lite0"
SHOTS = (1, 2, 5, 10, 30)
IMBALANCE = 100.0
DRIFT = 0.4
"""How far class means move over the stream, in units of the samples' usual distance from their mean."""
BINS = 15
Contender: TypeAlias = tuple[str, str, dict[str, Any]]
PAPER: Contender = ("paper mode", "i2cansay", {})
SHARED: Contender = ("shared mode", "i2cansay_shared", {})
NO_LIFT: Contender = ("shared mode, no lift", "i2cansay_shared", {"lift": 0})
SLDA: Contender = ("SLDA", "slda", {})
WITH_LIFT: list[Contender] = []
"""The shared mode as it is, where that was asked for."""


@dataclass(frozen=True)
class Data:
    """Training and test features of a data set, with labels."""

    X: Features
    y: Rows
    X_test: Features
    y_test: Rows

    @classmethod
    def of(cls, dataset: str, *, fraction: float | None = None, seed: int = 0, every: int = 1) -> "Data":
        """Return a fraction of the training rows, and one test row of so many."""
        found = share_features(dataset, ENCODER)
        (X, y), (X_test, y_test) = found.open("train"), found.open("test")
        if fraction is not None:
            rows = low_data(y, fraction, seed)
            X, y = X[rows], y[rows]
        return cls(X, y, X_test[::every], y_test[::every])

    def taught(self, rows: Rows) -> "Data":
        """Return the same with fewer training rows."""
        return Data(self.X[rows], self.y[rows], self.X_test, self.y_test)


def learn(contender: Contender, data: Data, stream: str, seed: int) -> OnlineClassifier:
    """Return a learner that has seen the training rows in the order of a stream."""
    _, name, parameters = contender
    seeded = {"random_state": seed} if "random_state" in make_learner(name).get_params() else {}
    model = make_learner(name, **seeded, **parameters)
    for batch in make_stream(stream, data.y, seed=seed):
        model.partial_fit(data.X[batch.rows], data.y[batch.rows])
    return model


def show(title: str, heads: Sequence[str], lines: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Print a Markdown table, each line as soon as it is known."""
    print(f"\n### {title}\n\n| | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|", sep="\n")
    for name, places in lines:
        print(f"| {name} | " + " | ".join(places) + " |", flush=True)


def percent(values: Iterable[float]) -> str:
    """Return mean and deviation of shares, in percent."""
    over = spread([100 * value for value in values])
    return f"{over.mean:.1f}" + (f" ± {over.std:.1f}" if over.n > 1 else "")


# -- few samples --------------------------------------------------------------------------------------------------


def few_shot(seeds: int, share: float) -> None:
    """Print the accuracy after 1 to 30 samples of each class, in random order."""
    rows: tuple[Contender, ...] = (
        PAPER,
        SLDA,
        ("nearest mean", "ncm", {}),
        ("ridge, GCV", "ridge", {"penalty": "gcv"}),
        NO_LIFT,
        *WITH_LIFT,
    )
    del share  # a few samples are a few samples
    for dataset, every in (("cub200", 1), ("cifar100", 4)):
        data = Data.of(dataset, every=every)

        def accuracies(contender: Contender, shot: int, data: Data = data) -> Iterable[float]:
            for seed in range(seeds):
                model = learn(contender, data.taught(draw(data.y, shot, seed)), "iid", seed)
                yield float(model.score(data.X_test, data.y_test))

        heads = [f"{shot} per class" for shot in SHOTS]
        title = f"Few samples: {dataset}, test accuracy in %, {seeds} seeds"
        show(title, heads, ((row[0], [percent(accuracies(row, shot)) for shot in SHOTS]) for row in rows))


def draw(y: Rows, shot: int, seed: int) -> Rows:
    """Return rows with `shot` samples of every class, or all it has."""
    rng = np.random.default_rng(seed)
    chosen = [rng.permutation(np.flatnonzero(y == label))[:shot] for label in np.unique(y)]
    return np.concatenate(chosen)


# -- long tails ---------------------------------------------------------------------------------------------------


def long_tail(seeds: int, share: float) -> None:
    """Print balanced accuracy after streams in which some classes come a hundred times as often as others."""
    rows: tuple[Contender, ...] = (
        PAPER,
        SLDA,
        NO_LIFT,
        ("shared mode, no lift, empirical prior", "i2cansay_shared", {"lift": 0, "prior": "empirical"}),
        ("closed form, no lift", "i2cansay_shared", {"lift": 0, "pseudo": None}),
        (
            "closed form, no lift, means not drawn in",
            "i2cansay_shared",
            {"lift": 0, "pseudo": None, "draw_in": 0.0},
        ),
        *WITH_LIFT,
    )
    del share  # the tail is cut from all of it
    data = Data.of("cifar100", every=4)

    def places(contender: Contender) -> list[str]:
        found: list[str] = []
        for stream in ("iid", "step:5"):
            tails = [data.taught(tail(data.y, seed)) for seed in range(seeds)]
            models = [learn(contender, part, stream, seed) for seed, part in enumerate(tails)]
            answers = [model.predict(data.X_test) for model in models]
            found.append(percent(balanced_accuracy_score(data.y_test, answer) for answer in answers))
            rare = [np.bincount(part.y, minlength=100) < 20 for part in tails]
            found.append(
                percent(
                    np.mean((answer == data.y_test)[few[data.y_test]])
                    for answer, few in zip(answers, rare, strict=True)
                )
            )
        return found

    heads = ["any order, all classes", "below 20 samples", "by class, all classes", "below 20 samples"]
    title = f"Long tail: CIFAR-100, 500 to 5 samples a class, balanced accuracy in %, {seeds} seeds"
    show(title, heads, ((row[0], places(row)) for row in rows))


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


def drift(seeds: int, share: float) -> None:
    """Print the accuracy at the end of a stream in which the mean of every class has moved."""
    rows: tuple[Contender, ...] = (
        PAPER,
        *(
            (f"shared mode, forgetting {rate:g}", "i2cansay_shared", {"forgetting": rate, "lift": 0})
            for rate in (0.0, 1e-4, 1e-3)
        ),
    )
    amounts = (0.0, DRIFT / 2, DRIFT)

    def places(contender: Contender, settled: bool = False) -> list[str]:
        found = []
        for amount in amounts:
            scores = []
            for seed in range(seeds):
                data = Data.of("cifar100", fraction=share, seed=seed, every=4)
                model, moved = drifted(contender, data, amount, seed, settled)
                scores.append(float(model.score(moved, data.y_test)))
            found.append(percent(scores))
        return found

    heads = [f"moved by {amount:g}" for amount in amounts]
    title = f"Drift: CIFAR-100 {share:.0%}, random order, accuracy in % where the classes end, {seeds} seeds"
    lines = [(row[0] + ("" if row is PAPER else ", no lift"), row, False) for row in rows]
    lines.append(("shared mode, no lift, had the classes been there from the start", NO_LIFT, True))
    show(title, heads, ((name, places(row, settled)) for name, row, settled in lines))


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
    _, name, parameters = contender
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


def calibration(seeds: int, share: float) -> None:
    """Print the expected calibration error of `predict_proba`."""
    rows = (PAPER, SLDA, NO_LIFT, *WITH_LIFT)

    def places(contender: Contender) -> list[str]:
        found = []
        for dataset, fraction, every in (("cub200", None, 1), ("cifar100", share, 2)):
            for stream in ("step:5", "gaussian"):
                errors = []
                for seed in range(seeds):
                    data = Data.of(dataset, fraction=fraction, seed=seed, every=every)
                    model = learn(contender, data, stream, seed)
                    right = model.predict(data.X_test) == data.y_test
                    errors.append(calibration_error(model.predict_proba(data.X_test), right))
                found.append(percent(errors))
        return found

    cifar = f"CIFAR-100 {share:.0%}"
    heads = ["CUB-200, step", "CUB-200, gaussian", f"{cifar}, step", f"{cifar}, gaussian"]
    title = f"Calibration: expected calibration error in %, {BINS} bins, {seeds} seeds"
    show(title, heads, ((row[0], places(row)) for row in rows))


# -- unknown classes ----------------------------------------------------------------------------------------------


def unknown(seeds: int, share: float) -> None:
    """Print how well scores tell samples of classes never taught from others, on training and on test rows."""
    heads, columns = [], []
    for dataset, fraction, every in (("cub200", None, 1), ("cifar100", share, 2)):
        for held_out in (True, False):
            heads.append(f"{dataset}, {'held-out training' if held_out else 'test'} rows")
            columns.append([strangers(dataset, fraction, every, held_out, seed) for seed in range(seeds)])
    names = list(columns[0][0])
    lines = [(name, [percent(run[name] for run in column) for column in columns]) for name in names]
    title = f"Unknown classes: a quarter of the classes never taught, no lift, AUROC in %, {seeds} seeds"
    show(title, heads, lines)


def strangers(
    dataset: str, fraction: float | None, every: int, held_out: bool, seed: int
) -> dict[str, float]:
    """Return the AUROC of each score; with `held_out` no test row is looked at."""
    data, rng = Data.of(dataset, fraction=fraction, seed=seed, every=every), np.random.default_rng(seed)
    labels = np.unique(data.y)
    hidden = rng.choice(labels, len(labels) // 4, replace=False)
    kept = np.ones(len(data.y), dtype=bool)
    if held_out:
        kept[rng.permutation(len(kept))[: len(kept) // 4]] = False
    asked, truth = (data.X[~kept], data.y[~kept]) if held_out else (data.X_test, data.y_test)
    model = learn(NO_LIFT, data.taught(np.flatnonzero(kept & ~np.isin(data.y, hidden))), "step:5", seed)
    is_new = np.isin(truth, hidden)
    return {name: float(roc_auc_score(is_new, score)) for name, score in strangeness(model, asked).items()}


def strangeness(model: Any, X: Features) -> dict[str, Float64]:
    """Return every score of strangeness that was considered."""
    rule, mapped = model._rule._closed_form().scores, model._rule.features.apply(X).astype(np.float64)
    closed = rule.of(mapped)
    far = mapped - rule.centre
    length = np.einsum("nd,nd->n", far, model._rule.scatter.solve_shrunk(far, model._rule.shrinkage()))
    probabilities = model.predict_proba(X)
    scores = model.class_scores(X).astype(np.float64) / model._temperature.value
    return {
        "relative distance (`novelty`)": model.novelty(X),
        "distance to the nearest class": length - 2 * closed.max(axis=1),
        "minus the highest closed-form score": -closed.max(axis=1),
        "1 - highest probability": 1 - probabilities.max(axis=1),
        "energy": -logsumexp(scores, axis=1),
    }


# -- width --------------------------------------------------------------------------------------------------------


def fold(seeds: int, share: float) -> None:
    """Print what folding wide features costs."""
    del seeds, share  # one is enough: the closed forms do not depend on the order
    data = Data.of("cub200")
    heads = ["width", "accuracy, %"]

    def lines() -> Iterable[tuple[str, list[str]]]:
        for width in (4096, 6000, 10_000):
            lift = FeatureMap(data.X.shape[1], transform="sqrt", lift=width - data.X.shape[1], seed=7)
            wide = Data(lift_rows(lift, data.X), data.y, lift_rows(lift, data.X_test), data.y_test)
            exact = ("closed form, OAS, at full width", "slda", {"shrinkage": "oas"})
            plain = {"lift": 0, "feature_transform": "none"}
            rows: list[Contender] = [
                ("closed form, folded to 4096", "i2cansay_shared", plain | {"pseudo": None}),
                (
                    "closed form, OAS, folded to 4096",
                    "i2cansay_shared",
                    plain | {"pseudo": None, "shrinkage": "oas"},
                ),
            ]
            for contender in [exact, *rows] if width <= 6000 else rows:
                model = make_learner(contender[1], **contender[2]).partial_fit(wide.X, wide.y)
                score = float(model.score(wide.X_test, wide.y_test))
                yield contender[0], [f"{width:,}", f"{100 * score:.1f}"]

    show("Width: CUB-200 features beside random rectified projections of them", heads, lines())


def lift_rows(lift: FeatureMap, X: Features) -> Features:
    """Return features with a lift beside them, not folded."""
    plain = np.sqrt(np.maximum(X, 0.0))
    return np.concatenate([plain, lift._lifted(X, plain)], axis=1).astype(np.float32)


TABLES: dict[str, Callable[[int, float], None]] = {
    "few-shot": few_shot,
    "long-tail": long_tail,
    "drift": drift,
    "calibration": calibration,
    "unknown": unknown,
    "fold": fold,
}


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)}; all by default")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--share", type=float, default=0.3, help="of CIFAR-100, where not all of it is used")
    parser.add_argument("--lift", action="store_true", help="play the shared mode with its lift as well")
    wish = parser.parse_args()
    WITH_LIFT.extend([SHARED] if wish.lift else [])
    for name in wish.tables or TABLES:
        TABLES[name](wish.seeds, wish.share)


if __name__ == "__main__":
    main()
