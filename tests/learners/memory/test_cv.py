import numpy as np
import pytest
from scipy.special import softmax

from i2cansay.learners.memory.cv import CandidatesVoting
from i2cansay.testing import check_learner
from i2cansay.testing.blobs import blobs


def by_class(model: CandidatesVoting, X: np.ndarray, y: np.ndarray) -> CandidatesVoting:
    order = np.argsort(y, kind="stable")
    for start in range(0, len(y), 10):
        batch = order[start : start + 10]
        model.partial_fit(X[batch], y[batch])
    return model


def test_keeps_the_contract_with_small_groups_and_a_full_memory() -> None:
    assert check_learner(CandidatesVoting(memory_size=7, group_size=2)) > 30


def test_groups_form_as_classes_arrive_and_do_not_change() -> None:
    X, _ = blobs(per_class=3)
    model = CandidatesVoting(group_size=2, random_state=0)
    for row, label in enumerate([30, 10, 20, 50, 40]):
        model.partial_fit(X[row : row + 1], [label])
    assert dict(zip(model.classes_.tolist(), model.groups_.tolist(), strict=True)) == {
        30: 0, 10: 0, 20: 1, 50: 1, 40: 2,
    }  # fmt: skip
    model.forget(10).partial_fit(X[:2], [60, 70])
    assert dict(zip(model.classes_.tolist(), model.groups_.tolist(), strict=True)) == {
        30: 0, 20: 1, 50: 1, 40: 2, 60: 2, 70: 3,
    }  # fmt: skip


def test_answer_is_the_vote_of_the_candidates() -> None:
    X, y = blobs(n_classes=6, per_class=20, spread=2.5)
    model = by_class(CandidatesVoting(group_size=2, temperature=0.2, random_state=0), X, y)
    state = model.state()
    logits = X @ state["head.weights"].T.astype(np.float64) + state["head.bias"]
    means = np.stack([X[y == label].mean(axis=0) for label in range(6)])
    spread = np.mean((X - means[y]) ** 2)
    answers = []
    for x, logit in zip(X, logits, strict=True):
        candidates, surety = [], []
        for group in range(3):
            share = softmax(logit[2 * group : 2 * group + 2])
            candidates.append(2 * group + int(share.argmax()))
            surety.append(share.max())
        distances = np.mean((x - means[candidates]) ** 2, axis=1) / spread
        answers.append(candidates[int(np.argmax(np.array(surety) * softmax(-distances / 0.2)))])
    assert model.predict(X).tolist() == answers


def test_a_row_trains_the_head_of_its_group_only() -> None:
    X, y = blobs(n_classes=6, per_class=10)
    model = by_class(CandidatesVoting(group_size=2, weight_decay=0.0, memory_size=1, random_state=0), X, y)
    before = model.state()
    mixed = np.flatnonzero(y <= 1)
    model.partial_fit(X[mixed], y[mixed])
    moved = np.abs(model.state()["head.weights"] - before["head.weights"]).max(axis=1) > 0
    exemplar = int(before["memory.classes"][0])  # the only one, replayed for certain
    trained = {0, exemplar // 2}
    assert set((np.flatnonzero(moved) // 2).tolist()) == trained
    assert len(trained) < 3  # so that there is a group left alone


def test_one_class_after_the_other_is_not_forgotten() -> None:
    test = blobs(seed=1, per_class=30)
    model = by_class(CandidatesVoting(memory_size=40, random_state=0), *blobs(per_class=60))
    assert model.score(test.X, test.y) > 0.9


def test_features_of_another_scale_have_the_same_prior() -> None:
    X, y = blobs()
    one, other = (CandidatesVoting(random_state=0).partial_fit(scale * X, y) for scale in (1.0, 64.0))
    np.testing.assert_allclose(other._distances(64.0 * X), one._distances(X), rtol=1e-9)


def test_group_size_below_one_is_named() -> None:
    with pytest.raises(ValueError, match="group_size must be a whole number of at least 1"):
        CandidatesVoting(group_size=0).partial_fit(np.eye(2), [0, 1])
