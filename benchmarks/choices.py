"""The three choices side by side, as the service has them: accuracy, size, bytes written and time for a lesson.

    python benchmarks/choices.py [accuracy] [cost] [table]

Runs are kept in benchmarks/records/choices.jsonl (``--records``): what is missing there is measured. ``accuracy`` is
that on training samples held out, after one pass class by class in batches of 50; no test sample is looked at.
``cost`` teaches a service 20 samples of each of 100 classes of CIFAR-100, then one sample at a time, with a question
after each: the size of the model's file, the bytes written until the lesson is durable (log and file), and the time
from the lesson to the answer. The choices take turns; the processor time is what other work on the machine disturbs
least. ``table`` prints the table of docs/service.md.
"""

import argparse
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
from figures import Run, play

from i2cansay.core.types import Float32, Rows
from i2cansay.datasets import get_dataset
from i2cansay.encoders import get_encoder
from i2cansay.experiments.report.study_tables import Values, load_study_runs
from i2cansay.features import encode_dataset
from i2cansay.learners import make_seeded_learner
from i2cansay.learners.choices import CHOICES
from i2cansay.service.model.requests import Learn, Question
from i2cansay.service.service import Service

RECORDS = Path(__file__).parent / "records" / "choices.jsonl"
TABLE = "the three choices in the service"
SPLITS, LESSONS, EACH = 3, 10, 20


class Part(NamedTuple):
    """How many images of a data set are read, and how many of each class are learnt and held out."""

    title: str
    images: int | None
    learnt: int
    held: int


PARTS = {
    "cifar10": Part("CIFAR-10", None, 60, 60),
    "cifar100": Part("CIFAR-100", None, 10, 10),
    "fashion_mnist": Part("Fashion-MNIST", 3000, 60, 60),
}


@cache
def features(dataset: str) -> tuple[Float32, Rows, tuple[int, ...]]:
    """Return stage features of training images, their labels, and the widths of their blocks."""
    encoder = get_encoder("efficientnet-lite0+stages")
    store = encode_dataset(get_dataset(dataset), encoder, "train", limit=PARTS[dataset].images)
    blocks = tuple(block.width for block in encoder.blocks)
    return np.asarray(store.features), np.asarray(store.labels, dtype=np.int64), blocks


def of_choice(choice: str, X: Float32, blocks: tuple[int, ...]) -> tuple[Float32, tuple[int, ...]]:
    """Return what a choice reads of stage features, in float32: all, or the last layer, which is the first block."""
    staged = CHOICES[choice].features == "stages"
    return (X if staged else X[:, : blocks[0]]).astype(np.float32), blocks if staged else blocks[:1]


def accuracy(choice: str, dataset: str, seed: int) -> Values:
    """Learn some samples of each class, class by class; return the share of others that is right, in percent."""
    X, y, blocks = features(dataset)
    part, rng = PARTS[dataset], np.random.default_rng(seed)
    drawn = [rng.permutation(np.flatnonzero(y == label)) for label in rng.permutation(np.unique(y))]
    learnt = np.concatenate([rows[: part.learnt] for rows in drawn])
    held = np.concatenate([rows[part.learnt : part.learnt + part.held] for rows in drawn])
    read, widths = of_choice(choice, X[learnt], blocks)
    learner = make_seeded_learner(choice, seed, blocks=widths)
    for start in range(0, len(read), 50):
        learner.partial_fit(read[start : start + 50], y[learnt[start : start + 50]])
    return {"%": 100 * float(learner.score(of_choice(choice, X[held], blocks)[0], y[held]))}


# -- what a lesson costs in the service ---------------------------------------------------------------------


class Times(NamedTuple):
    """One lesson: seconds on the wall and of the processor, and bytes written."""

    wall: float
    processor: float
    written: int


def bytes_written() -> int:
    """Return what this process has written so far, as Linux counts it."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("wchar")).split()[1])


def teacher(
    service: Service, choice: str, X: Float32, y: Rows, blocks: tuple[int, ...]
) -> Callable[[int], Times]:
    """Make a model and teach it `EACH` samples per class; return what teaches it one more and asks."""
    read, widths = of_choice(choice, X, blocks)
    parameters = {"blocks": list(widths)} if len(widths) > 1 else {}
    model = service.create(choice, learner=choice, parameters=parameters, encoder=None)
    labels = [f"class {label}" for label in y]
    n = EACH * len(np.unique(y))
    for start in range(0, n, 500):
        rows = slice(start, min(start + 500, n))
        model.teach(Learn(read[rows], tuple(labels[rows]))).result()

    def lesson(number: int) -> Times:
        row = n + 2 * number
        written, wall, processor = bytes_written(), perf_counter(), process_time()
        model.teach(Learn(read[row : row + 1], (labels[row],))).result()
        model.ask(Question(read[row + 1 : row + 2])).result()
        return Times(perf_counter() - wall, process_time() - processor, bytes_written() - written)

    return lesson


@cache
def costs(seed: int) -> dict[str, Values]:
    """Return what a lesson costs each choice; they take turns."""
    X, y, blocks = features("cifar100")
    rng = np.random.default_rng(seed)
    order = np.stack([rng.permutation(np.flatnonzero(y == label))[: EACH + 1] for label in np.unique(y)])
    rows = order.T.reshape(-1)  # a sample of each class in turn
    times: dict[str, list[Times]] = {choice: [] for choice in CHOICES}
    with TemporaryDirectory() as folder:
        service = Service(Path(folder))
        lessons = {choice: teacher(service, choice, X[rows], y[rows], blocks) for choice in CHOICES}
        for number in range(3):  # the first ones choose a ridge and make what the next ones update
            for lesson in lessons.values():
                lesson(number)
        for number in range(3, 3 + LESSONS):
            for choice, lesson in lessons.items():
                times[choice].append(lesson(number))
        sizes = {choice: service.model(choice).file_bytes() for choice in CHOICES}
        service.close()
    return {
        choice: {
            "MB": sizes[choice] / 1e6,
            "MB written": median(each.written for each in found) / 1e6,
            "processor ms": 1e3 * median(each.processor for each in found),
            "wall ms": 1e3 * median(each.wall for each in found),
        }
        for choice, found in times.items()
    }


def cost(choice: str, seed: int) -> Values:
    """Return what a lesson costs one choice."""
    return costs(seed)[choice]


def table(records: Path) -> str:
    """Return the table of the records, in Markdown."""
    runs = load_study_runs([records])

    def values(run: str, of: str) -> list[float]:
        return [found[of] for (_, name, _), found in sorted(runs.items()) if name == run and of in found]

    titles = [f"{part.title} %" for part in PARTS.values()]
    head = [
        "choice",
        *titles,
        "MB on disk",
        "MB written per lesson",
        "ms of processor time, lesson to answer",
    ]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for choice in CHOICES:
        cells = []
        for part in PARTS.values():
            found = values(f"{choice}, {part.title}", "%")
            cells.append(f"{mean(found):.1f} ± {np.std(found, ddof=1):.1f}" if len(found) > 1 else "")
        run = f"{choice}, cost"
        cells += [f"{mean(values(run, of)):.1f}" for of in ("MB", "MB written")]
        cells.append(f"{mean(values(run, 'processor ms')):.0f}")
        lines.append(f"| `{choice}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="*", help="of accuracy, cost and table; all by default")
    parser.add_argument("--records", type=Path, default=RECORDS)
    wish = parser.parse_args()
    studies = wish.studies or ["accuracy", "cost", "table"]
    if "accuracy" in studies:
        for dataset, part in PARTS.items():
            for choice in CHOICES:
                play(
                    Run(TABLE, f"{choice}, {part.title}", partial(accuracy, choice, dataset)),
                    SPLITS,
                    wish.records,
                )
    if "cost" in studies:
        for choice in CHOICES:
            play(Run(TABLE, f"{choice}, cost", partial(cost, choice)), 1, wish.records)
    if "table" in studies:
        print(table(wish.records))


if __name__ == "__main__":
    main()
