"""Whether sets and verdicts keep their word: half of the classes taught, half not, over many short streams.

    python benchmarks/verdicts.py [cifar10] [cifar100] [cub200] [novelty] [--seeds 20] [--records FILE] [--tables]

Runs are kept in benchmarks/records/verdicts.jsonl (``--records``): what is missing there is measured, and the
tables of docs/verdicts.md are printed from it. A stream is taught in lessons of one sample (of ten where it has more
than 500), and after every third lesson, at random, someone asks. The learner is the closed form of the shared mode
on the last layer of EfficientNet-Lite0, reduced to 256 dimensions so that a question costs milliseconds. Classes,
samples and order are drawn with the seed. Answers are judged on test rows, which nothing was chosen by.
"""

import argparse
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
from figures import Run, play
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.metrics import roc_auc_score

from i2cansay.core.types import Features, Rows
from i2cansay.experiments.report.study_tables import StudyRuns, Values, load_study_runs
from i2cansay.experiments.run.shared_features import share_features
from i2cansay.learners import make_learner
from i2cansay.learners.base import OnlineClassifier

RECORDS = Path(__file__).parent / "records" / "verdicts.jsonl"
ENCODER = "efficientnet-lite0"
DATASETS = ("cifar10", "cifar100", "cub200")
ORDERS = ("shuffled", "class by class")
SHOTS = (2, 5, 30)
WIDTH = 256
TEST_ROWS = 4000
ASKED = 1 / 3
SMALL_STREAM = 500
# A class counts among the worst if it has this many rows to be judged by.
JUDGED = 5
NOVELTY = ((5, 5), (20, 5), (20, 30), (100, 30))

Split = tuple[Features, Rows]
Flags = NDArray[np.bool_]


@cache
def read(dataset: str) -> tuple[Split, Split]:
    """Return the training and the test rows of a data set, each with labels."""
    found = share_features(dataset, ENCODER)
    return found.open("train"), found.open("test")


def draw(y: Rows, classes: Rows, shot: int, order: str, rng: np.random.Generator) -> Rows:
    """Return `shot` training rows of each of these classes, in an order."""
    rows = [rng.permutation(np.flatnonzero(y == label))[:shot] for label in classes]
    return rng.permutation(np.concatenate(rows)) if order == "shuffled" else np.concatenate(rows)


def teach(X: Features, y: Rows, rng: np.random.Generator) -> OnlineClassifier:
    """Return a learner that was taught these samples in small lessons, with questions in between."""
    model = make_learner("i2cansay_shared", analogies=False, lift=0, width=WIDTH)
    lesson = 1 if len(y) <= SMALL_STREAM else 10
    for start in range(0, len(y), lesson):
        model.partial_fit(X[start : start + lesson], y[start : start + lesson])
        if rng.random() < ASKED:
            model.class_scores(X[:1])
    return model


def measure(dataset: str, shot: int, order: str, seed: int) -> Values:
    """Teach half of the classes and judge the answers about all of them."""
    (X, y), (X_test, y_test) = read(dataset)
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.unique(y))
    rows = draw(y, labels[: len(labels) // 2], shot, order, rng)
    model = teach(X[rows], y[rows], rng)
    asked = np.sort(rng.permutation(len(y_test))[:TEST_ROWS])
    return judge(model, X_test[asked], y_test[asked])


def judge(model: OnlineClassifier, X: Features, y: Rows) -> Values:
    """Return in % what became of rows, (n, d), of classes taught and not taught, (n,)."""
    known = np.isin(y, model.classes_)
    columns = np.searchsorted(model.classes_, y[known])
    right: Flags = model.predict(X[known]) == y[known]
    values: dict[str, float] = {"accuracy": float(right.mean())}
    for error in (0.05, 0.1):
        sets = model.predict_set(X[known], error=error)
        inside: Flags = sets[np.arange(len(columns)), columns]
        words = model.verdicts(X, error=error)
        sure = words[known] == "sure"
        values |= {
            f"inside, {error:g}": float(inside.mean()),
            f"inside, worst class, {error:g}": _worst(inside, columns, lowest=True),
            f"classes in the set, {error:g}": float(sets.sum(axis=1).mean()) / 100,
            f"sure, {error:g}": float(sure.mean()),
            f"unknown called sure, {error:g}": float(np.mean(words[~known] == "sure")),
        }
        if sure.any():
            values[f"wrong among sure, {error:g}"] = float(np.mean(~right[sure]))
            values[f"wrong among sure, worst class, {error:g}"] = _worst(
                ~right[sure], columns[sure], lowest=False
            )
    values["known called new"] = float(np.mean(words[known] == "new"))
    values["unknown called new"] = float(np.mean(words[~known] == "new"))
    values["area"] = float(roc_auc_score(~known, model.novelty(X)))
    return {name: 100 * value for name, value in values.items()} | {"scored": float(model._evidence.n_scored)}


def _worst(flags: Flags, columns: Rows, *, lowest: bool) -> float:
    shares = [
        float(flags[columns == column].mean())
        for column in np.unique(columns)
        if (columns == column).sum() >= JUDGED
    ]
    if not shares:
        return float(flags.mean())
    return min(shares) if lowest else max(shares)


def measure_novelty(learner: str, n_classes: int, shot: int, seed: int) -> Values:
    """Return the area under the curve of novelty on birds, as many never taught as taught."""
    (X, y), (X_test, y_test) = read("cub200")
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.unique(y))
    known, unknown = labels[:n_classes], labels[100 : 100 + n_classes]
    rows = draw(y, known, shot, "shuffled", rng)
    more = {"analogies": False, "lift": 0} if learner == "i2cansay_shared" else {"random_state": seed}
    model = make_learner(learner, **more)
    for start in range(0, len(rows), 50):
        model._calibrate_at = len(rows)  # no scores are asked for here
        batch = rows[start : start + 50]
        model.partial_fit(X[batch], y[batch])
    asked = np.flatnonzero(np.isin(y_test, np.concatenate([known, unknown])))
    strange = np.isin(y_test[asked], unknown)
    novelty = model.novelty(X_test[asked])
    return {"area": 100 * float(roc_auc_score(strange, novelty))}


def streams(dataset: str) -> Iterator[Run]:
    """Yield the runs of a data set."""
    for order in ORDERS:
        for shot in SHOTS:
            yield Run(f"verdicts, {dataset}", f"{order}, {shot}", partial(measure, dataset, shot, order))


def novelties() -> Iterator[Run]:
    """Yield the runs that compare novelty."""
    for learner in ("i2cansay", "i2cansay_shared"):
        for n_classes, shot in NOVELTY:
            name = f"{learner}, {n_classes} x {shot}"
            yield Run("novelty, cub200", name, partial(measure_novelty, learner, n_classes, shot))


# -- tables -------------------------------------------------------------------------------------------------------


def bound(numbers: list[float], side: int) -> float:
    """Return the one-sided 95% limit of a mean over streams: lower for -1, upper for 1."""
    spread = float(np.std(numbers, ddof=1)) / np.sqrt(len(numbers)) if len(numbers) > 1 else 0.0
    reach = float(student.ppf(0.95, max(len(numbers) - 1, 1))) * spread
    return float(np.mean(numbers)) + side * reach


def place(runs: StudyRuns, table: str, run: str, value: str, side: int = 0) -> str:
    """Return the mean of a value over the streams that have it, its limit, and how many streams if not all."""
    seeds = [values for (t, r, _), values in runs.items() if (t, r) == (table, run)]
    numbers = [values[value] for values in seeds if value in values]
    if not numbers:
        return "-"
    text = f"{np.mean(numbers):.1f}"
    if side:
        text += f" ({'≥' if side < 0 else '≤'} {bound(numbers, side):.1f})"
    return text if len(numbers) == len(seeds) else f"{text}, in {len(numbers)} of {len(seeds)}"


COLUMNS: dict[str, tuple[tuple[str, str, int], ...]] = {
    "Sets: labels inside, in %": (
        ("right answers", "accuracy", 0),
        ("inside at 5%", "inside, 0.05", -1),
        ("worst class", "inside, worst class, 0.05", 0),
        ("classes in the set", "classes in the set, 0.05", 0),
        ("inside at 10%", "inside, 0.1", -1),
        ("classes in the set at 10%", "classes in the set, 0.1", 0),
    ),
    "Sure, in %": (
        ("sure at 5%", "sure, 0.05", 0),
        ("wrong among them", "wrong among sure, 0.05", 1),
        ("worst class", "wrong among sure, worst class, 0.05", 0),
        ("sure at 10%", "sure, 0.1", 0),
        ("wrong among sure at 10%", "wrong among sure, 0.1", 1),
        ("unknown called sure at 5%", "unknown called sure, 0.05", 1),
    ),
    "New, in %": (
        ("known called new", "known called new", 1),
        ("unknown called new", "unknown called new", 0),
        ("area under the curve", "area", 0),
        ("samples scored", "scored", 0),
    ),
}


def tables(runs: StudyRuns) -> Iterator[str]:
    """Yield the lines of all tables of docs/verdicts.md."""
    for title, columns in COLUMNS.items():
        yield from (
            f"### {title}",
            "",
            f"| stream | streams | {' | '.join(head for head, _, _ in columns)} |",
        )
        yield "|---" * (len(columns) + 2) + "|"
        for dataset in DATASETS:
            for order in ORDERS:
                for shot in SHOTS:
                    table, run = f"verdicts, {dataset}", f"{order}, {shot}"
                    cells = [place(runs, table, run, value, side) for _, value, side in columns]
                    n = sum((t, r) == (table, run) for t, r, _ in runs)
                    yield f"| {dataset}, {order}, {shot} per class | {n} | {' | '.join(cells)} |"
        yield ""
    yield from ("### Novelty: area under the curve on birds never taught, in %", "")
    yield f"| learner | {' | '.join(f'{c} classes x {n}' for c, n in NOVELTY)} |"
    yield "|---" * (len(NOVELTY) + 1) + "|"
    for learner in ("i2cansay", "i2cansay_shared"):
        cells = [place(runs, "novelty, cub200", f"{learner}, {c} x {n}", "area") for c, n in NOVELTY]
        yield f"| `{learner}` | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", nargs="*", default=[*DATASETS, "novelty"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--tables", action="store_true", help="print the tables, measure nothing")
    asked = parser.parse_args()
    if not asked.tables:
        for what in asked.what:
            runs = list(novelties()) if what == "novelty" else list(streams(what))
            for seeds in range(
                1, asked.seeds + 1
            ):  # a seed of each at a time: stopped early, all have as many
                for run in runs:
                    play(run, min(seeds, 5) if what == "novelty" else seeds, asked.records)
    print("\n".join(tables(load_study_runs([asked.records]))))


if __name__ == "__main__":
    main()
