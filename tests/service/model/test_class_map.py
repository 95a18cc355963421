"""The map of classes: distances as the learner decides, in two dimensions, the same each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.service.errors import ServiceError
from i2cansay.service.model.class_map import MOST_CLASSES, ClassMap, scaled_to_plane, squared_distances
from i2cansay.service.model.requests import Forget, Learn
from i2cansay.service.model.served_model import ServedModel
from tests.service.material import SHARED, new_model, rows, teach

KINDS: dict[str, dict[str, Any]] = {"paper": {"learner": "i2cansay"}, "slda": {"learner": "slda"}, **SHARED}
LABELS = ["a", "b", "c", "d"]


def taught(folder: Path, made: dict[str, Any], labels: list[str], each: int = 8) -> ServedModel:
    model = new_model(folder, **made)
    rng = np.random.default_rng(0)
    for _ in range(each // 2):
        teach(model, labels * 2, rng)
    return model


@pytest.mark.parametrize("kind", KINDS)
def test_the_map_has_every_class_and_is_the_same_each_time(tmp_path: Path, kind: str) -> None:
    model = taught(tmp_path, KINDS[kind], LABELS)
    learner: Any = model.state().learner
    first = model.snapshot.class_map
    again = ClassMap.of(learner, dict.fromkeys(LABELS, 8))
    assert first == again
    assert [(point.label, point.n) for point in first.classes] == [(label, 8) for label in LABELS]
    assert [len({pair.a, pair.b}) for pair in first.closest] == [2] * 6
    distances = [pair.distance for pair in first.closest]
    assert distances == sorted(distances)
    assert distances[0] > 0
    assert 0.5 < first.shown <= 1
    model.close()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "paper"])
def test_the_two_classes_that_are_alike_are_closest(tmp_path: Path, kind: str) -> None:
    model = new_model(tmp_path, **KINDS[kind])
    rng = np.random.default_rng(0)
    for _ in range(4):
        X = rows(["a", "b", "c", "c"] * 2, rng)
        X[3::4, :3] += 0.5  # d is a c with a little more of three features
        model.teach(Learn(X, ("a", "b", "c", "d") * 2)).result()
    found = model.snapshot.class_map
    assert (found.closest[0].a, found.closest[0].b) == ("c", "d")
    at = {point.label: np.array([point.x, point.y]) for point in found.classes}
    assert np.linalg.norm(at["c"] - at["d"]) < np.linalg.norm(at["c"] - at["a"])
    model.close()


def test_distances_are_those_of_the_shared_covariance() -> None:
    rng = np.random.default_rng(0)
    means, root = rng.normal(size=(6, 4)), rng.normal(size=(4, 4))
    precision = root @ root.T + np.eye(4)
    scores = means @ precision @ means.T - np.einsum("cd,de,ce->c", means, precision, means) / 2 + 7.0
    away = means[:, None] - means[None]
    expected = np.einsum("abd,de,abe->ab", away, precision, away)
    np.testing.assert_allclose(squared_distances(scores), expected, atol=1e-9)
    # In a plane nothing is lost: distances on the map are the distances.
    flat = means[:, :2]
    squared = ((flat[:, None] - flat[None]) ** 2).sum(axis=2)
    places, shown = scaled_to_plane(squared)
    np.testing.assert_allclose(((places[:, None] - places[None]) ** 2).sum(axis=2), squared, atol=1e-9)
    assert shown == pytest.approx(1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_few_classes(tmp_path: Path, kind: str) -> None:
    model = new_model(tmp_path, **KINDS[kind])
    rng = np.random.default_rng(0)
    assert model.snapshot.class_map == ClassMap()
    teach(model, ["a"], rng)  # in memory only
    one = model.snapshot.class_map
    assert [(point.label, point.x, point.y, point.n) for point in one.classes] == [("a", 0.0, 0.0, 1)]
    assert (one.closest, one.shown) == ((), 1.0)
    teach(model, ["a", "b", "b"], rng)
    two = model.snapshot.class_map
    assert [point.y for point in two.classes] == [0.0, 0.0]
    assert two.classes[0].x == pytest.approx(-two.classes[1].x)
    assert two.classes[0].x - two.classes[1].x == pytest.approx(two.closest[0].distance)
    model.teach(Forget("b")).result()
    assert len(model.snapshot.class_map.classes) == 1
    model.close()


def test_classes_of_the_same_samples_lie_on_one_another(tmp_path: Path) -> None:
    model = new_model(tmp_path, learner="slda")
    X = rows(["a"] * 4, np.random.default_rng(0))
    for label in ("a", "b", "c"):
        model.teach(Learn(X, (label,) * 4)).result()
    found = model.snapshot.class_map
    assert all(abs(value) < 1e-3 for point in found.classes for value in (point.x, point.y))
    assert all(np.isfinite(pair.distance) for pair in found.closest)
    model.close()


@pytest.mark.parametrize("kind", ["paper", "small"])
def test_of_many_classes_the_largest_are_shown(tmp_path: Path, kind: str) -> None:
    model = new_model(tmp_path, **KINDS[kind])
    rng = np.random.default_rng(0)
    labels = [f"{number:03}" for number in range(MOST_CLASSES + 50)]
    for start in range(0, len(labels), 125):
        part = labels[start : start + 125] * 2
        model.teach(Learn(rows(part, rng), tuple(part))).result()
    teach(model, labels[-10:], rng)
    found = model.snapshot.class_map
    assert (len(found.classes), len(found.closest), found.left_out) == (MOST_CLASSES, 10, 50)
    assert [point.label for point in found.classes] == [*labels[: MOST_CLASSES - 10], *labels[-10:]]
    model.close()


def test_a_learner_without_means_has_no_map(tmp_path: Path) -> None:
    model = new_model(tmp_path, learner="ridge")
    teach(model, ["a", "b"] * 2, np.random.default_rng(0))
    with pytest.raises(ServiceError, match="keeps no class means") as refusal:
        _ = model.snapshot.class_map
    assert refusal.value.status == 409
    model.close()


def test_classes_too_far_apart_are_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = taught(tmp_path, KINDS["slda"], LABELS)
    learner: Any = model.snapshot.learner
    monkeypatch.setattr(type(learner), "_mean_scores", lambda _, chosen: np.eye(len(chosen)) * 1.7e308)
    with pytest.raises(ServiceError, match="too far apart"):
        ClassMap.of(learner, dict.fromkeys(LABELS, 8))
    model.close()
