"""Answers in blocks of rows and classes are those of one block, and take bounded memory."""

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest

from i2cansay import I2CANSAY, SharedI2CANSAY
from i2cansay.core import score_blocks
from i2cansay.learners import make_learner
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.verdicts import relative_distance as of_paper
from i2cansay.testing.blobs import batches, blobs

LEARNERS: dict[str, OnlineClassifier] = {
    "paper": I2CANSAY(random_state=0),
    "shared": SharedI2CANSAY(lift=8, random_state=0),
    "closed form": SharedI2CANSAY(lift=0, analogies=False, random_state=0),
    "ncm": make_learner("ncm"),
}


def answers(model: OnlineClassifier, X: np.ndarray) -> dict[str, Any]:
    labels, probabilities = model.top(X, 3)
    numbers = {
        "scores": model.class_scores(X),
        "probabilities": model.predict_proba(X),
        "top": probabilities,
    }
    if hasattr(model, "novelty"):
        numbers["novelty"] = model.novelty(X)
    words = {
        "predict": model.predict(X),
        "rejected": model.predict(X, reject_below=0.5, unknown=-1),
        "sets": model.predict_set(X, error=0.2),
        "verdicts": model.verdicts(X, error=0.2),
        "labels": labels,
    }
    return {"numbers": numbers, "words": words}


@pytest.mark.parametrize("n_classes", [3, 20], ids=["few classes", "more classes than dimensions"])
@pytest.mark.parametrize("name", list(LEARNERS))
def test_blocks_give_the_answers_of_one_block(
    name: str, n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = blobs(n_classes, 12, 8)
    learner = LEARNERS[name]
    model = type(learner)(**learner.get_params())
    for X, y in batches(samples, (20,)):
        model.partial_fit(X, y)
    X = samples.X[:53]
    whole = answers(model, X)
    monkeypatch.setattr(score_blocks, "SCORES_AT_A_TIME", 7 * n_classes)
    monkeypatch.setattr(of_paper, "CLASSES_AT_A_TIME", 6)
    model._clear_caches()
    parts = answers(model, X)
    for key, expected in whole["numbers"].items():
        np.testing.assert_allclose(parts["numbers"][key], expected, rtol=1e-4, atol=1e-6, err_msg=key)
    for key, expected in whole["words"].items():
        assert np.mean(parts["words"][key] == expected) > 0.97, key


@pytest.mark.parametrize("name", ["paper", "closed form"])
def test_the_likeliest_of_many_classes_take_bounded_memory(name: str) -> None:
    n_classes, n_rows = 3000, 4000
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_classes, 8)).astype(np.float32)
    learner = LEARNERS[name]
    model = type(learner)(**learner.get_params())
    y = np.repeat(np.arange(n_classes), 2)
    model.partial_fit(centres[y] + 0.01 * rng.normal(size=(len(y), 8)).astype(np.float32), y)
    X = centres[rng.integers(0, n_classes, n_rows)]
    model.top(X[:5])
    tracemalloc.start()
    labels, _ = model.top(X, 5)
    model.verdicts(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert labels.shape == (n_rows, 5)
    # The scores alone would be 96 MB in double precision; a block with its temporaries is bounded.
    assert peak < 6 * 8 * score_blocks.SCORES_AT_A_TIME
    np.testing.assert_array_equal(labels[:, 0], model.predict(X))


@pytest.mark.parametrize("name", list(LEARNERS))
def test_learning_samples_of_many_classes_takes_bounded_memory(name: str) -> None:
    n_classes, n_rows = 10_000, 2000
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_classes, 8)).astype(np.float32)
    learner = LEARNERS[name]
    model = type(learner)(**learner.get_params())
    model.calibrates = False
    for y in np.array_split(np.concatenate([np.arange(100), np.arange(n_classes)]), 10):
        model.partial_fit(centres[y] + 0.1 * rng.normal(size=(len(y), 8)).astype(np.float32), y)
    model.calibrates = True
    y = rng.permutation(n_classes)[:n_rows]
    tracemalloc.start()
    model.partial_fit(centres[y], y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model._evidence.n_scored >= 16
    # The scores alone would be 160 MB in double precision, and 800 MB with all temporaries.
    assert peak < 6 * 8 * score_blocks.SCORES_AT_A_TIME


def test_sets_of_many_classes_take_little_more_than_themselves() -> None:
    n_classes, n_rows = 10_000, 1200
    X = np.random.default_rng(0).normal(size=(n_classes, 8)).astype(np.float32)
    model = make_learner("ncm").partial_fit(X, np.arange(n_classes))
    tracemalloc.start()
    found = model.predict_set(X[:n_rows])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < found.nbytes + 5 * 8 * score_blocks.SCORES_AT_A_TIME


def test_fewer_classes_than_asked_for_are_all_returned() -> None:
    model = I2CANSAY(random_state=0).partial_fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    labels, probabilities = model.top([[0.2]], k=9)
    assert labels.tolist() == [["a", "b"]]
    assert probabilities.sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="k must be"):
        model.top([[0.2]], k=0)


def test_rows_of_a_data_frame_are_judged_without_a_warning() -> None:
    frame = pd.DataFrame(blobs(3, 8, 4).X, columns=list("abcd"))
    model = I2CANSAY(random_state=0).partial_fit(frame, np.arange(24) % 3)
    assert len(model.verdicts(frame)) == 24
    assert model.top(frame, 2)[0].shape == (24, 2)
