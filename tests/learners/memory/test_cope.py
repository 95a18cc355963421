from typing import Any

import numpy as np
import pytest

from i2cansay.learners.memory.cope import CoPE
from i2cansay.learners.memory.prototype_loss import proxy_loss, through_length, unit_rows
from i2cansay.testing import check_learner
from i2cansay.testing.blobs import blobs


def test_keeps_the_contract_with_a_full_memory_and_a_narrow_embedding() -> None:
    assert check_learner(CoPE(memory_size=7, embedding_size=3, iterations=2)) > 30


def test_prototypes_and_map_follow_the_equations() -> None:
    # A memory as large as a batch is replayed whole, so the literal loop needs none of the learner's draws.
    X, y = blobs(n_classes=3, per_class=4)
    lr, temperature, momentum = 0.1, 0.2, 0.6
    model = CoPE(lr=lr, temperature=temperature, momentum=momentum, iterations=1, memory_size=100)
    weights, prototypes, memory = np.eye(X.shape[1]), np.zeros((3, X.shape[1])), np.empty(0, dtype=np.int64)
    rank = {label: row for row, label in enumerate(np.unique(y).tolist())}
    first = np.array([np.flatnonzero(y == label)[0] for label in rank])
    rest = np.setdiff1d(np.arange(len(y)), first)
    for update, batch in enumerate([np.concatenate([first, rest[:1]]), rest[1:5], rest[5:]]):
        model.partial_fit(X[batch], y[batch])
        rows = np.concatenate([batch, memory])
        assert len(memory) <= len(batch)  # all of the memory is drawn
        classes = np.array([rank[label] for label in y[rows].tolist()])
        embedded, lengths = unit_rows(X[rows] @ weights.T)
        for c in np.unique(classes).tolist() if update == 0 else []:
            prototypes[c] = unit_rows(embedded[classes == c].mean(axis=0)[None])[0]
        loss = proxy_loss(embedded, classes, prototypes, temperature)
        weights -= lr * through_length(loss.gradient, embedded, lengths).T @ X[rows]
        for c in np.unique(classes).tolist():
            keep = min(momentum, update / (update + 1))
            moved = keep * prototypes[c] + (1 - keep) * embedded[classes == c].mean(axis=0)
            prototypes[c] = moved / np.linalg.norm(moved)
        memory = np.concatenate([memory, batch])
        np.testing.assert_allclose(model.prototypes_, prototypes, atol=1e-5)
        if len(memory) > 7:
            break
    np.testing.assert_allclose(model.state()["embedding.map"], weights, atol=1e-5)
    assert np.abs(weights - np.eye(X.shape[1])).max() > 1e-3


class StepByStep(CoPE):
    """The same with a product with the whole map, in double precision, for every iteration."""

    def _learn(self, X: np.ndarray, rows: np.ndarray, weights: np.ndarray | None) -> None:
        self._embedding.draw(self._rng)
        weight = np.ones(len(X)) if weights is None else weights * (len(X) / weights.sum())
        embedding = self._embedding.map.astype(np.float64)
        sums = np.zeros_like(self._prototypes.values)
        counts = np.zeros(len(sums))
        for iteration in range(self.iterations):
            replayed, replayed_rows = self._replay(len(X))
            features, classes = np.concatenate([X, replayed]), np.concatenate([rows, replayed_rows])
            row_weights = np.concatenate([weight, np.ones(len(replayed))])
            embedded, lengths = unit_rows(features @ embedding.T)
            if iteration == 0:
                self._prototypes.begin(embedded, classes, row_weights)
            if len(counts) > 1:
                loss = proxy_loss(embedded, classes, self._prototypes.values, self.temperature)
                gradient = through_length(loss.gradient * row_weights[:, None], embedded, lengths)
                embedding -= self.lr * gradient.T @ features
            moving = slice(0 if iteration == self.iterations - 1 else len(X), None)
            np.add.at(sums, classes[moving], embedded[moving] * row_weights[moving, None])
            np.add.at(counts, classes[moving], row_weights[moving])
        self._embedding.map[:] = embedding
        self._prototypes.move(sums, counts, momentum=self.momentum, unit=self.renormalise)
        self._memory.add(X, rows, self._rng)


@pytest.mark.parametrize("parameters", [{}, {"embedding_size": 9, "lr": 0.1}, {"renormalise": False}])
def test_predicts_as_if_every_iteration_changed_the_map(parameters: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 40)
    X = np.abs(rng.normal(size=(6, 24))[y] + 1.2 * rng.normal(size=(240, 24)))
    weights = rng.uniform(0.5, 2.0, 240)
    one, other = (kind(memory_size=40, random_state=0, **parameters) for kind in (CoPE, StepByStep))
    for start in range(0, 240, 20):
        batch = slice(start, start + 20)
        for model in (one, other):
            model.partial_fit(X[batch], y[batch], sample_weight=weights[batch])
    np.testing.assert_allclose(one.class_scores(X), other.class_scores(X), atol=1e-4)
    assert np.mean(one.predict(X) == other.predict(X)) > 0.99
    start_map = CoPE(random_state=0, **parameters).partial_fit(X[:1], y[:1]).state()["embedding.map"]
    assert np.abs(one.state()["embedding.map"] - start_map).max() > 1e-3  # something was learnt


def test_prototypes_that_are_not_renormalised_are_means_of_units() -> None:
    X, y = blobs()
    model = CoPE(renormalise=False, random_state=0).partial_fit(X, y)
    lengths = np.linalg.norm(model.prototypes_, axis=1)
    assert lengths.max() < 1
    assert lengths.min() > 0.1
    embedded = X @ model.state()["embedding.map"].T
    products = embedded @ model.prototypes_.T / np.linalg.norm(embedded, axis=1, keepdims=True)
    np.testing.assert_allclose(model.class_scores(X), products, atol=1e-5)


def test_answers_the_nearest_prototype_by_cosine() -> None:
    X, y = blobs()
    model = CoPE(random_state=0).partial_fit(X, y)
    embedded = X @ model.state()["embedding.map"].T
    cosines = embedded @ model.prototypes_.T / np.linalg.norm(embedded, axis=1, keepdims=True)
    np.testing.assert_allclose(model.class_scores(X), cosines, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(model.prototypes_, axis=1), 1.0)


def test_features_of_another_scale_give_the_same_answers() -> None:
    X, y = blobs()
    one, other = (CoPE(random_state=0).partial_fit(scale * X, y) for scale in (1.0, 64.0))
    np.testing.assert_allclose(other.class_scores(64.0 * X), one.class_scores(X), atol=1e-4)


def test_memory_is_balanced_and_bounded() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [300, 60, 40])
    model = CoPE(memory_size=30, iterations=1, random_state=0)
    for start in range(0, 400, 20):
        batch = slice(start, start + 20)
        model.partial_fit(rng.normal(size=(20, 3)), y[batch])
    assert np.bincount(model.state()["memory.classes"]).tolist() == [10, 10, 10]


def test_old_classes_are_not_forgotten() -> None:
    X, y = blobs(per_class=60)
    test = blobs(seed=1, per_class=30)
    model = CoPE(memory_size=40, random_state=0)
    for label in range(4):
        rows = np.flatnonzero(y == label)
        for start in range(0, 60, 10):
            model.partial_fit(X[rows[start : start + 10]], y[rows[start : start + 10]])
    assert model.score(test.X, test.y) > 0.9


@pytest.mark.parametrize("momentum", [-0.1, 1.0])
def test_momentum_outside_its_range_is_named(momentum: float) -> None:
    with pytest.raises(ValueError, match="momentum must be a number from 0 to below 1"):
        CoPE(momentum=momentum).partial_fit(np.eye(2), [0, 1])
