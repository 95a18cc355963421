"""Speed of the compared methods, before and after a change: the same cell in two source trees, in turn.

    python benchmarks/rivals_speed.py --before OTHER_CHECKOUT [LEARNER ...] [--width 2048]

Without --before only this tree is timed. A cell is four sessions of 1,000 synthetic features, ten new classes each,
and a test after every session on the classes so far; methods that are not told sessions get batches of 50. The
prompt methods get 200 images of 96 px in batches of 50 with replay of 50, on a random network of the shape of
DeiT-Tiny. Each tree has a process of its own, with one thread; they take turns, and medians of processor time are
compared. "same answers" is the share of test samples that both trees give the same label: of methods that train by
many small steps in single precision, rounding may decide a few.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SESSIONS = ("ewc", "lwf", "icarl", "eeil", "fearnet", "ilugan")
STREAMED = ("dsdm", "cope", "cndpm", "ensemble", "aser")
PROMPTS = ("l2p", "dualprompt", "coda", "single_prompt")
N_SESSIONS, NEW_CLASSES, ROWS = 4, 10, 1000
BATCH, IMAGES, SIDE, TOKEN = 50, 200, 96, 192


def features(
    width: int,
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]:
    """Return training rows in the order of their sessions and test rows, not negative, with overlapping classes."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(N_SESSIONS * NEW_CLASSES, width))
    each = ROWS // NEW_CLASSES
    sessions = np.repeat(np.arange(len(centres)), each).reshape(N_SESSIONS, -1)
    y = np.concatenate([rng.permutation(session) for session in sessions])
    y_test = np.repeat(np.arange(len(centres)), 40)
    X, X_test = (
        np.maximum(0.15 * centres[labels] + rng.normal(size=(len(labels), width)), 0).astype(np.float32)
        for labels in (y, y_test)
    )
    return X, y, X_test, y_test


def play_features(name: str, width: int) -> tuple[float, float, NDArray[np.int64]]:
    """Return seconds of learning and of answering, and the last answers."""
    from i2cansay.learners import learner_class, make_seeded_learner

    known = learner_class(name)().get_params()
    given: dict[str, Any] = {"memory_size": 1000} if "memory_size" in known else {}
    learner: Any = make_seeded_learner(name, 0, **given)
    X, y, X_test, y_test = features(width)
    size = ROWS if learner.needs_boundaries else BATCH
    learning = answering = 0.0
    answers = y_test
    for session in range(N_SESSIONS):
        start = process_time()
        for row in range(session * ROWS, (session + 1) * ROWS, size):
            learner.partial_fit(X[row : row + size], y[row : row + size])
        learning += process_time() - start
        start = process_time()
        answers = learner.predict(X_test[y_test < (session + 1) * NEW_CLASSES])
        answering += process_time() - start
    return learning, answering, answers


def play_images(name: str, precision: str | None) -> tuple[float, float, NDArray[np.int64]]:
    """Return the same for a method that reads images; `precision` is given where it is not the default."""
    import torch

    from i2cansay.learners import make_seeded_learner
    from i2cansay.learners.prompts.transformer_weights import random_transformer

    torch.set_num_threads(1)
    network = random_transformer(side=SIDE, patch=16, width=TOKEN, depth=12, heads=3)
    rng = np.random.default_rng(0)
    X = rng.random((IMAGES + 2 * BATCH, TOKEN + 3 * SIDE**2), dtype=np.float32)
    y = rng.integers(0, 10, len(X))
    given: dict[str, Any] = {} if precision is None else {"precision": precision}
    blocks = (TOKEN, 3 * SIDE**2)
    learner: Any = make_seeded_learner(name, 0, network=network, blocks=blocks, memory_size=1000, **given)
    learner.partial_fit(X[:BATCH], y[:BATCH])
    learner._calibrate_at = 2**62  # a long stream is rarely scored before it is learnt
    start = process_time()
    for row in range(BATCH, BATCH + IMAGES, BATCH):
        learner.partial_fit(X[row : row + BATCH], y[row : row + BATCH])
    learning = process_time() - start
    start = process_time()
    answers = learner.predict(X)
    return learning, process_time() - start, answers


def work(name: str, width: int) -> None:
    """Play a cell whenever a line comes in; print its times and the answers."""
    method, _, precision = name.partition(":")
    for _ in sys.stdin:
        played = play_images(method, precision or None) if method in PROMPTS else play_features(method, width)
        learning, answering, answers = played
        print(learning, answering, *answers.tolist(), flush=True)


def accuracy(answers: NDArray[np.int64]) -> float:
    """Return the percentage of right answers after the last session; the labels do not depend on the width."""
    return float(100 * np.mean(answers == features(1)[3]))


class Played(NamedTuple):
    """Seconds of learning and of answering, and the last answers."""

    learning: float
    answering: float
    answers: list[int]


class Tree:
    """A process that plays cells with the package of one source tree."""

    def __init__(self, tree: Path, name: str, width: int) -> None:
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, __file__, name, "--width", str(width), "--worker"],
            env={**os.environ, **threads, "PYTHONPATH": str(tree / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def play(self) -> Played:
        """Return what the process measured."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        learning, answering, *answers = self._process.stdout.readline().split()
        return Played(float(learning), float(answering), [int(answer) for answer in answers])

    def stop(self) -> None:
        """End the process."""
        self._process.communicate()


def compare(name: str, width: int, before: Path | None, rounds: int) -> str:
    """Return a line of the table."""
    here = Path(__file__).resolve().parents[1]
    old_name = name.partition(":")[0]  # an older tree may not know other precisions
    trees = {"after": Tree(here, name, width)}
    if before is not None:
        trees["before"] = Tree(before.resolve(), old_name, width)
    played: dict[str, list[Played]] = {tree: [] for tree in trees}
    for _ in range(rounds):
        for tree, process in trees.items():
            played[tree].append(process.play())
    for process in trees.values():
        process.stop()
    learning = {tree: median(run.learning for run in runs) for tree, runs in played.items()}
    answering = {tree: median(run.answering for run in runs) for tree, runs in played.items()}
    cells = [f"{learning[tree]:.2f} + {answering[tree]:.2f}" for tree in ("before", "after") if tree in trees]
    if before is not None:
        old, new = (np.array(played[tree][0].answers) for tree in ("before", "after"))
        cells += [
            f"{learning['before'] / learning['after']:.2f}",
            f"{answering['before'] / answering['after']:.2f}",
            f"{100 * np.mean(old == new):.1f}%",
            "" if old_name in PROMPTS else f"{accuracy(old):.1f}, {accuracy(new):.1f}",
        ]
    return f"| `{name}` | {'96 px' if old_name in PROMPTS else width} | {' | '.join(cells)} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "learners", nargs="*", help="all of them by default; l2p:bfloat16 for another precision"
    )
    parser.add_argument("--before", type=Path, help="another checkout, whose package is timed in turn")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work(given.learners[0], given.width)
        return
    columns = ["learner", "width", "seconds (learning + answering)"]
    if given.before is not None:
        columns[2:] = [
            "before, s (learning + answering)",
            "after",
            "ratio, learning",
            "answering",
            "same answers",
            "accuracy, before and after",
        ]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    for name in given.learners or (*SESSIONS, *STREAMED, *PROMPTS):
        print(compare(name, given.width, given.before, given.rounds), flush=True)


if __name__ == "__main__":
    main()
