"""What the files of the shared mode give away, in numbers; docs/service.md says them in words, under Privacy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "attacks"))

from covariance import cosine, sample_between, share_of_one_file

from i2cansay.core.types import Float32
from i2cansay.learners.model_file import load_with_extra
from i2cansay.service.model.exchange import export
from i2cansay.service.model.requests import Forget, Learn, Undo
from i2cansay.service.model.served_model import ServedModel
from tests.service.material import new_model

BLOCKS = [250, 150]
KINDS: dict[str, dict[str, Any]] = {"best": {}, "small": {"width": 160}}


def model_of(folder: Path, kind: str) -> ServedModel:
    parameters = {"analogies": False, "lift": 0, "blocks": BLOCKS, **KINDS[kind]}
    return new_model(folder, learner="i2cansay_shared", parameters=parameters)


def features(labels: list[str], rng: np.random.Generator) -> Float32:
    """Return rows like those of images: not below zero, some values far larger than most."""
    centres = [np.random.default_rng(list(label.encode())).gamma(1.0, size=sum(BLOCKS)) for label in labels]
    made: Float32 = (np.array(centres) * rng.gamma(0.6, size=(len(labels), sum(BLOCKS)))).astype(np.float32)
    return made


def teach(model: ServedModel, X: Float32, labels: list[str]) -> str:
    answer: Any = model.teach(Learn(X, tuple(labels))).result()
    assert all(answer.durable)
    return str(answer.lesson)


def attacked(model: ServedModel, folder: Path) -> Any:
    """Return the learner as an attacker has it: from the bytes of an export."""
    path = folder / "stolen.i2cs"
    path.write_bytes(export(model.state()))
    return load_with_extra(path)[0]


def taught(folder: Path, kind: str, n_classes: int, each: int) -> tuple[Any, Float32, NDArray[Any]]:
    labels = [f"class {number}" for number in range(n_classes)] * each
    X = features(labels, np.random.default_rng(5))
    model = model_of(folder, kind)
    teach(model, X, labels)
    stolen = attacked(model, folder)
    model.close()
    return stolen, X, np.array(labels)


@pytest.mark.parametrize("kind", KINDS)
def test_the_only_two_samples_of_a_model_are_in_its_file(tmp_path: Path, kind: str) -> None:
    stolen, X, labels = taught(tmp_path, kind, 1, 2)
    share = share_of_one_file(stolen, X, labels, np.random.default_rng(0))
    assert share.mean > 0.999999  # all of the deviation, and the class mean is there as well


def test_pairs_of_few_classes_come_out_of_the_full_matrix(tmp_path: Path) -> None:
    stolen, X, labels = taught(tmp_path, "best", 5, 2)
    share = share_of_one_file(stolen, X, labels, np.random.default_rng(0))
    assert share.mean > 0.8  # 0.96, where directions at random have half
    assert share.mean > share.chance + 0.2


def test_the_more_samples_the_less_of_each(tmp_path: Path) -> None:
    shares = []
    for number, (n_classes, each) in enumerate([(1, 2), (5, 4), (5, 20)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        stolen, X, labels = taught(folder, "best", n_classes, each)
        shares.append(share_of_one_file(stolen, X, labels, np.random.default_rng(0)).mean)
    assert shares[0] > shares[1] > shares[2]
    assert shares[2] < 0.4  # 0.25 with 95 dimensions


@pytest.mark.parametrize("kind", KINDS)
def test_two_files_one_sample_apart_give_it_away(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(0)
    model = model_of(tmp_path, kind)
    teach(model, features(["a", "b"] * 10, rng), ["a", "b"] * 10)
    before = attacked(model, tmp_path)
    secret = features(["a"], rng)
    teach(model, secret, ["a"])
    after = attacked(model, tmp_path)
    model.close()
    found = sample_between(before, after, "a")
    mapped = after._features.apply(secret)[0]
    np.testing.assert_allclose(after._features.apply(found[None])[0], mapped, atol=1e-5 * mapped.max())
    if kind == "best":
        np.testing.assert_allclose(found, secret[0], atol=1e-5 * secret.max())
    else:  # 160 of 400 dimensions are kept: exactly what the learner sees of it, and not all of the feature
        assert cosine(found, secret[0].astype(np.float64)) < 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_a_forgotten_class_stays_in_the_matrix_and_an_undone_lesson_does_not(
    tmp_path: Path, kind: str
) -> None:
    rng = np.random.default_rng(1)
    model = model_of(tmp_path, kind)
    teach(model, features(["a", "b"] * 5, rng), ["a", "b"] * 5)
    before = model.state().learner.state()["scatter.matrix"]
    secrets = features(["c", "c"], rng)
    lesson = teach(model, secrets, ["c", "c"])
    with_class = model.state().learner.state()["scatter.matrix"]
    model.teach(Undo(lesson)).result()
    undone = model.state().learner.state()["scatter.matrix"]
    np.testing.assert_allclose(undone, before, atol=1e-9 * float(np.abs(before).max()))
    teach(model, secrets, ["c", "c"])
    model.teach(Forget("c")).result()
    forgotten = model.state().learner.state()["scatter.matrix"]
    model.close()
    np.testing.assert_allclose(forgotten, with_class, atol=1e-9 * float(np.abs(before).max()))
    assert float(np.abs(forgotten - before).max()) > 1e-3 * float(np.abs(before).max())
