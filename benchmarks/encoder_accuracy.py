"""How accurate learners are on the low-data columns, by encoder and size of its input, and how fast each is.

    python benchmarks/encoder_accuracy.py [--encoder NAME@SIZE ...] [--dataset cifar10] [--speed]

Plays CIFAR-10 10% (step 2) and CIFAR-100 30% (step 5), tested on the whole test part. One draw of the data, three
orders of the classes. Runs are kept in benchmarks/records/encoders.jsonl (``--records``): what is missing there is
measured, and images that are not encoded yet are encoded first.

``--speed`` measures speed alone: small PNG files from bytes to features on one thread, in turns with
EfficientNet-Lite0, in processor time. `i2cansay encoder bench NAME` tells the images a second on your machine.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from encoder import small_pngs
from figures import Run
from figures import play as play_run

from i2cansay.cli.features import features_of
from i2cansay.encoders import get_encoder
from i2cansay.evaluate import last_accuracy, play
from i2cansay.experiments.report.study_tables import Values
from i2cansay.experiments.run.comparison import FeatureData
from i2cansay.learners import make_learner, make_seeded_learner
from i2cansay.streams import make_stream

RECORDS = Path(__file__).parent / "records" / "encoders.jsonl"
ORDERS = 3
YARDSTICK = "efficientnet-lite0+stages"
FILES, ROUNDS = 32, 7


class Setting(NamedTuple):
    """A low-data column of the paper."""

    dataset: str
    fraction: float
    stream: str


class Contender(NamedTuple):
    """A learner, and what it reads: the last layer or all stages, or their square root."""

    name: str
    learner: str
    parameters: dict[str, Any]
    stages: bool = False
    root: bool = False


SETTINGS = (Setting("cifar10", 0.1, "step:2"), Setting("cifar100", 0.3, "step:5"))
ENCODERS = (
    *(f"resnet50_keras+stages@{size}" for size in (32, 64, 96, 128, 224)),
    "efficientnet-lite0+stages",
    "efficientnet-lite0+stages+mirror",
    "efficientnet-lite1+stages",
    "efficientnet-lite2+stages",
)
CONTENDERS = (
    Contender("I2CANSAY", "i2cansay", {}),
    Contender("ICAN alone", "i2cansay", {"significance": False}),
    Contender("naive", "naive", {}),
    Contender("NCM", "ncm", {}),
    Contender("SLDA", "slda", {"shrinkage": "oas"}, root=True),
    Contender("best, last layer", "best", {}),
    Contender("best", "best", {}, stages=True),
    Contender("small", "small", {}, stages=True),
    Contender("SLDA, stages", "slda", {"shrinkage": "oas"}, stages=True, root=True),
)


@cache
def read(setting: Setting, encoder: str) -> FeatureData:
    """Return the features of a setting, encoding what is not encoded yet."""
    return features_of(setting.dataset, encoder, size=None, fraction=setting.fraction)


def seen_by(contender: Contender, data: FeatureData) -> FeatureData:
    """Return the features that a contender reads."""
    kept = sum(data.blocks) if contender.stages else data.blocks[0]
    change: Callable[[Any], Any] = np.sqrt if contender.root else np.asarray
    return replace(
        data,
        X=change(data.X[:, :kept]),
        X_test=change(data.X_test[:, :kept]),
        blocks=data.blocks if contender.stages else (),
    )


def accuracies(setting: Setting, encoder: str, order: int) -> Values:
    """Return the last accuracy of every contender, in percent."""
    values = {}
    for contender in CONTENDERS:
        order_free = make_learner(contender.learner, **contender.parameters).order_free
        values[contender.name] = accuracy(setting, encoder, contender.name, 0 if order_free else order)
    return values


@cache
def accuracy(setting: Setting, encoder: str, name: str, order: int) -> float:
    """Return the last accuracy of one contender, in percent."""
    contender = next(each for each in CONTENDERS if each.name == name)
    seen = seen_by(contender, read(setting, encoder))
    learner = make_seeded_learner(contender.learner, order, blocks=seen.blocks, **contender.parameters)
    learner.calibrates = False  # only labels are asked for
    outcome = play(
        learner,
        seen.X,
        seen.y,
        make_stream(setting.stream, seen.y, batch_size=50, seed=order),
        X_test=seen.X_test,
        y_test=seen.y_test,
        prequential=False,
        every_session=False,
    )
    return round(100 * last_accuracy(outcome), 2)


def speed(name: str, repeat: int) -> Values:
    """Return the images a second of one core, and as a percentage of those of the yardstick."""
    files = small_pngs(FILES)
    encoders = [get_encoder(each, threads=1) for each in (YARDSTICK, name)]
    times: list[list[float]] = [[], []]
    for _ in range(ROUNDS + 1):
        for encoder, found in zip(encoders, times, strict=True):
            begin = process_time()
            list(encoder.encode_batches(iter(files)))
            found.append(process_time() - begin)
    usual, its_own = (median(found[1:]) for found in times)  # the first round pays for caches and pages
    return {"images/s": FILES / its_own, "of Lite0": 100 * usual / its_own}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--encoder", action="append", default=[])
    parser.add_argument("--dataset", action="append", default=[])
    parser.add_argument("--speed", action="store_true", help="measure speed in place of accuracy")
    parser.add_argument("--records", type=Path, default=RECORDS)
    chosen = parser.parse_args(arguments)
    for encoder in chosen.encoder or ENCODERS:
        if chosen.speed:
            play_run(Run("encoders", f"{encoder}, speed", partial(speed, encoder)), ORDERS, chosen.records)
            continue
        for setting in SETTINGS:
            if chosen.dataset and setting.dataset not in chosen.dataset:
                continue

            def measure(order: int, setting: Setting = setting, encoder: str = encoder) -> Values:
                return accuracies(setting, encoder, order)

            play_run(Run("encoders", f"{encoder}, {setting.dataset}", measure), ORDERS, chosen.records)


if __name__ == "__main__":
    main()
