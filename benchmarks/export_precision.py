"""How equal exported models answer: ONNX Runtime, in single precision, beside Python.

    python benchmarks/export_precision.py CASE TRAIN TEST [--samples N] [--asked N]

TRAIN and TEST are NPZ files with features `F` and labels `y`, or folders of stored features. Prints a line of
Markdown: samples asked, other labels, other verdicts, the largest difference of a probability relative to the
largest of its row, and the largest difference of novelty relative to its standard deviation.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnxruntime

from i2cansay.features import FeatureStore
from i2cansay.learners import make_learner
from i2cansay.learners.base import OnlineClassifier

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "paper": ("paper", {}),
    "paper-absolute": ("paper", {"distance": "absolute"}),
    "closed-form": ("best", {}),
    "analogies": ("i2cansay_shared", {"lift": 0}),
    "analogies-lift": ("i2cansay_shared", {"lift": 512}),
    "small": ("small", {}),
    "width-512": ("best", {"width": 512}),
}
LESSONS = 12


def features(path: Path, n: int | None) -> tuple[Any, Any, tuple[int, ...]]:
    """Return `n` features as float32, their labels, and the widths of their blocks."""
    if path.is_dir():
        store = FeatureStore.open(path, verify=False)
        X, y, blocks = store.features, store.labels, tuple(block.width for block in store.blocks)
    else:
        with np.load(path) as arrays:
            X, y = arrays["F"], arrays["y"]
        blocks = (X.shape[1],)
    rows = np.random.default_rng(0).permutation(len(X))[:n]
    return X[np.sort(rows)].astype(np.float32), y[np.sort(rows)], blocks


def compare(learner: OnlineClassifier, X: Any) -> list[str]:
    """Return the cells of the line."""
    with TemporaryDirectory() as folder:
        learner.to_onnx(f"{folder}/model.onnx")
        session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])
    wanted = ["label", "verdict", "probabilities", "novelty"]
    label, verdict, probabilities, novelty = session.run(wanted, {"features": X})
    expected, strangeness = learner.predict_proba(X), getattr(learner, "novelty")(X)  # noqa: B009
    relative = np.abs(probabilities - expected) / expected.max(axis=1, keepdims=True)
    return [
        f"{len(X):,}",
        str((label != learner.predict(X)).sum()),
        str((verdict != learner.verdicts(X)).sum()),
        f"{relative.max():.0e}",
        f"{np.abs(novelty - strangeness).max() / strangeness.std():.0e}",
    ]


def main() -> None:
    """Teach, export, ask, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", choices=CASES)
    parser.add_argument("train", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("--samples", type=int, help="to teach; all by default")
    parser.add_argument("--asked", type=int, help="to ask; all by default")
    given = parser.parse_args()
    name, parameters = CASES[given.case]
    X, y, blocks = features(given.train, given.samples)
    if len(blocks) > 1 and name != "paper":
        parameters = {**parameters, "blocks": blocks}
    learner = make_learner(name, random_state=0, **parameters)
    for rows in np.array_split(np.random.default_rng(1).permutation(len(X)), LESSONS):
        learner.partial_fit(X[rows], y[rows])
    asked, _, _ = features(given.test, given.asked)
    print("|", " | ".join([given.case, *compare(learner, asked)]), "|", flush=True)


if __name__ == "__main__":
    main()
