"""The whole method against a slow reference, and what a user does with it."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from i2cansay import I2CANSAY
from i2cansay.core.paper.ican import PSEUDO_KINDS
from i2cansay.core.types import Features, Rows


def stream(n_classes: int = 4, n: int = 120, d: int = 6, seed: int = 0) -> tuple[Features, Rows]:
    rng = np.random.default_rng(seed)
    y = np.sort(rng.permutation(n) % n_classes)
    return rng.normal(size=(n_classes, d))[y] * 2 + rng.normal(size=(n, d)), y


def taught(X: Features, y: NDArray[Any], batch: int = 10, **parameters: Any) -> I2CANSAY:
    model = I2CANSAY(**({"random_state": 0} | parameters))
    for start in range(0, len(X), batch):
        model.partial_fit(X[start : start + batch], y[start : start + batch])
    return model


class Slow:
    """Eq. 1-9 with lists and loops, float64, from stored samples; draws its classes as the learner does."""

    def __init__(self, d: int, seed: int, lr: float, beta: float, decay: float) -> None:
        self.samples: dict[int, list[Features]] = {}
        self.order: list[int] = []
        self.W: dict[int, Features] = {}
        self.d, self.lr, self.beta, self.decay = d, lr, beta, decay
        self.rng = np.random.default_rng(seed)

    def moments(self, c: int) -> tuple[Features, Features]:
        own = np.array(self.samples[c])
        return own.mean(axis=0), own.std(axis=0)

    def learn(self, X: Features, y: Rows) -> None:
        for x, c in zip(X, y.tolist(), strict=True):
            if c not in self.samples:
                self.samples[c], self.W[c] = [], np.zeros(self.d)
                self.order.append(c)
            self.samples[c].append(x)
        pairs = [(x, c, 1.0 / len(X)) for x, c in zip(X, y.tolist(), strict=True)]
        if len(self.order) > 1:
            drawn = self.rng.integers(0, len(self.order) - 1, size=len(X))
            for i, (x, c) in enumerate(zip(X, y.tolist(), strict=True)):
                own = self.order.index(c)
                old = self.order[drawn[i] + (drawn[i] >= own)]
                (p, r), (p_old, r_old) = self.moments(c), self.moments(old)
                pairs.append(((x - p) * r_old / (r + 1e-8) + p_old, old, self.beta / len(X)))
        gradient = {c: np.zeros(self.d) for c in self.order}
        for x, target, weight in pairs:
            logits = np.array([x @ self.W[c] for c in self.order])
            p = np.exp(logits - logits.max())
            p /= p.sum()
            for k, c in enumerate(self.order):
                gradient[c] += weight * (p[k] - (c == target)) * x
        for c in self.order:
            self.W[c] = (1 - self.lr * self.decay) * self.W[c] - self.lr * gradient[c]

    def scores(self, X: Features) -> Features:
        result = []
        for x in X:
            gamma, logits = [], []
            for c in sorted(self.order):
                p, r = self.moments(c)
                u = np.exp(r.max() - r) / np.exp(r.max() - r).sum()
                gamma.append(np.sqrt(sum(u[k] * (x[k] - p[k]) ** 2 for k in range(self.d))))
                logits.append(x @ self.W[c])
            soft = np.exp(np.array(logits) - max(logits))
            result.append(soft / soft.sum() + sum(gamma) / np.array(gamma))
        return np.array(result)


def test_eq1_to_eq9_the_whole_stream_against_a_slow_reference() -> None:
    X, y = stream()
    slow = Slow(6, seed=0, lr=0.02, beta=2.0, decay=5e-5)
    model = I2CANSAY(random_state=0)
    for start in range(0, len(X), 10):
        slow.learn(X[start : start + 10], y[start : start + 10])
        model.partial_fit(X[start : start + 10], y[start : start + 10])
    test = np.random.default_rng(9).normal(size=(40, 6)) * 2
    np.testing.assert_allclose(model.class_scores(test), slow.scores(test), rtol=1e-5, atol=1e-5)


def test_renaming_the_classes_permutes_the_scores() -> None:
    X, y = stream()
    names = np.array([30, 10, 0, 20])
    scores, renamed = taught(X, y).class_scores(X), taught(X, names[y]).class_scores(X)
    np.testing.assert_array_equal(renamed, scores[:, np.argsort(names)])


@pytest.mark.parametrize(
    "parameters",
    [{"pseudo": kind} for kind in (*PSEUDO_KINDS, None)]
    + [{"pseudo": kind, "source": "nearest"} for kind in ("ican", "translation")]
    + [{"distance": distance} for distance in ("squared", "absolute")]
    + [
        {"bias_scale": "mean"},
        {"significance": False},
        {"old_classes": "absent"},
        {"n_pseudo": 0.25},
        {"n_pseudo": 3},
        {"momentum": 0.9},
        {"memory_size": 20},
    ],
    ids=str,
)
def test_every_variant_learns_and_resumes(parameters: dict[str, Any]) -> None:
    X, y = stream(d=12)
    model = taught(X, y, **parameters)
    assert model.score(X, y) > 0.6
    again = I2CANSAY(**({"random_state": 0} | parameters)).set_state(model.state())
    for learner in (model, again):
        learner.partial_fit(X[:20], y[:20])
    np.testing.assert_array_equal(again.class_scores(X), model.class_scores(X))


def test_squaring_the_distance_changes_no_nearest_class() -> None:
    X, y = stream()
    plain, squared = (taught(X, y, distance=d, n_pseudo=0, lr=1e-9) for d in ("euclidean", "squared"))
    np.testing.assert_array_equal(plain.predict(X), squared.predict(X))


def test_an_untrained_head_and_isay_reduce_to_the_nearest_weighted_prototype() -> None:
    X, y = stream()
    model = taught(X, y, lr=1e-12)
    weights = np.exp(-model.class_stds_)
    weights /= weights.sum(axis=1, keepdims=True)
    gamma = (((X[:, None] - model.class_means_) ** 2) * weights).sum(axis=2)
    np.testing.assert_array_equal(model.predict(X), model.classes_[gamma.argmin(axis=1)])


def test_without_pseudo_features_the_head_forgets_and_with_them_it_does_not() -> None:
    X, y = load_digits(return_X_y=True)
    order = np.argsort(y[:1400], kind="stable")
    remembered, forgot = (
        taught(X[order], y[order], batch=50, lr=1e-3, significance=False, pseudo=pseudo).score(
            X[1400:], y[1400:]
        )
        for pseudo in ("ican", None)
    )
    assert remembered > forgot + 0.3


def test_forget_removes_a_class_and_leaves_the_others_as_if_its_column_were_gone() -> None:
    X, y = stream()
    model, plain = taught(X, y), taught(X, y, significance=False)
    means, stds = model.class_means_[[0, 1, 3]], model.class_stds_[[0, 1, 3]]
    before = plain.class_scores(X)
    logits = X @ model.state()["head.weights"][model._labels.order][[0, 1, 3]].T
    for learner in (model, plain):
        learner.forget(2)
        assert learner.classes_.tolist() == [0, 1, 3]
    np.testing.assert_allclose(plain.class_scores(X), before[:, [0, 1, 3]], rtol=1e-6)
    # With ISAY softmax and correction run over the classes that are left.
    weights = np.exp(-stds) / np.exp(-stds).sum(axis=1, keepdims=True)
    gamma = np.sqrt((((X[:, None] - means) ** 2) * weights).sum(axis=2))
    soft = np.exp(logits - logits.max(axis=1, keepdims=True))
    expected = soft / soft.sum(axis=1, keepdims=True) + gamma.sum(axis=1, keepdims=True) / gamma
    np.testing.assert_allclose(model.class_scores(X), expected, rtol=1e-5)
    with pytest.raises(ValueError, match="not a known class"):
        model.forget(2)
    model.partial_fit(X[y == 2][:5], y[y == 2][:5])
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.class_counts_.tolist() == [30, 30, 5, 30]


def test_forgetting_every_class_asks_for_a_new_one() -> None:
    model = I2CANSAY().partial_fit([[0.0], [1.0]], ["a", "b"])
    model.forget("a").forget("b")
    with pytest.raises(ValueError, match="forgotten"):
        model.predict([[0.0]])
    assert model.partial_fit([[0.0]], [7]).predict([[1.0]]).tolist() == [7]


def test_unlearning_a_wrong_label_restores_the_statistics() -> None:
    X, y = stream()
    clean, model = taught(X, y), taught(X, y)
    wrong = np.full(3, 1)
    model.partial_fit(X[-3:] + 1, wrong)
    model.unlearn(X[-3:] + 1, wrong)
    np.testing.assert_allclose(model.class_means_, clean.class_means_, atol=1e-12)
    np.testing.assert_allclose(model.class_stds_, clean.class_stds_, rtol=1e-6)
    model.unlearn(X[y == 3], y[y == 3])
    assert 3 not in model.classes_


def test_unlearning_what_was_never_taught_changes_nothing() -> None:
    X, y = stream()
    model = taught(X, y)
    before = model.state()
    for samples, labels in ((X[:1] + 1e6, y[:1]), (X[:1], [99]), (np.tile(X[y == 0], (2, 1)), [0] * 60)):
        with pytest.raises(ValueError):
            model.unlearn(samples, labels)
    for name, array in model.state().items():
        np.testing.assert_array_equal(array, before[name])


def test_merging_halves_gives_the_statistics_of_one_pass() -> None:
    X, y = stream(n_classes=5)
    one, a, b = taught(X, y), taught(X[y < 3], y[y < 3]), taught(X[y >= 2], y[y >= 2])
    b.unlearn(X[y == 2], y[y == 2])
    b.partial_fit(X[y == 4][:4], y[y == 4][:4])
    one.partial_fit(X[y == 4][:4], y[y == 4][:4])
    other = b.state()
    assert a.merge(b) is a
    np.testing.assert_allclose(a.class_counts_, one.class_counts_)
    np.testing.assert_allclose(a.class_means_, one.class_means_, atol=1e-12)
    np.testing.assert_allclose(a.class_stds_, one.class_stds_, rtol=1e-5)
    for name, array in b.state().items():
        np.testing.assert_array_equal(array, other[name])
    assert a.score(X, y) > 0.7


def test_merging_into_an_empty_learner_is_a_copy() -> None:
    X, y = stream()
    model = taught(X, y)
    np.testing.assert_array_equal(
        I2CANSAY(random_state=5).merge(model).class_scores(X), model.class_scores(X)
    )


def test_two_learners_that_forgot_everything_merge_and_go_on() -> None:
    X, y = stream()
    models = [taught(X, y), taught(X[:30], y[:30])]
    for model in models:
        for label in model.classes_:
            model.forget(label)
    merged = models[0].merge(models[1]).partial_fit(X, y)
    assert np.isfinite(merged.class_scores(X)).all()
    assert merged.score(X, y) > 0.8


def test_a_sample_of_no_weight_is_a_sample_not_given() -> None:
    X, y = stream(n=40)
    weights = np.r_[np.ones(30), np.zeros(10)]
    weighted = I2CANSAY(random_state=0).partial_fit(X, y, sample_weight=weights)
    fewer = I2CANSAY(random_state=0).partial_fit(X[:30], y[:30], sample_weight=weights[:30])
    np.testing.assert_array_equal(weighted.class_scores(X), fewer.class_scores(X))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (I2CANSAY(beta=1.0).partial_fit([[1.0, 2.0]], [0]), "beta"),
        (I2CANSAY().partial_fit([[1.0]], [0]), "width"),
        (I2CANSAY().partial_fit([[1.0, 2.0]], ["a"]), "type of label"),
    ],
)
def test_merging_what_does_not_fit_raises_and_changes_nothing(other: I2CANSAY, message: str) -> None:
    model = I2CANSAY().partial_fit([[1.0, 2.0]], [0])
    before = model.state()
    with pytest.raises(ValueError, match=message):
        model.merge(other)
    for name, array in model.state().items():
        np.testing.assert_array_equal(array, before[name])
    with pytest.raises(ValueError, match="another"):
        model.merge(model)


@pytest.mark.parametrize(
    "parameters",
    [
        {"lr": 0},
        {"beta": -1.0},
        {"pseudo": "noise"},
        {"distance": "cosine"},
        {"bias_scale": "full"},
        {"epochs": 0},
    ],
    ids=str,
)
def test_a_wrong_parameter_is_named(parameters: dict[str, Any]) -> None:
    (name,) = parameters
    with pytest.raises(ValueError, match=name):
        I2CANSAY(**parameters).partial_fit([[0.0]], [0])


def test_weights_count_like_repeated_samples_in_the_statistics() -> None:
    X, y = stream(n=40)
    weights = np.tile([1.0, 2.0], 20)
    weighted = I2CANSAY(random_state=0).partial_fit(X, y, sample_weight=weights)
    repeated = np.repeat(np.arange(40), weights.astype(int))
    twice = I2CANSAY(random_state=0).partial_fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.class_means_, twice.class_means_, atol=1e-12)
    np.testing.assert_allclose(weighted.class_stds_, twice.class_stds_, rtol=1e-5)


def test_more_epochs_train_the_head_and_count_once() -> None:
    X, y = stream()
    one, many = I2CANSAY(random_state=0).fit(X, y), I2CANSAY(random_state=0, epochs=5).fit(X, y)
    np.testing.assert_array_equal(many.class_counts_, one.class_counts_)
    assert not np.array_equal(many.class_scores(X), one.class_scores(X))


def test_probabilities_are_calibrated_by_the_stream() -> None:
    X, y = load_digits(return_X_y=True)
    model = taught(X[:1400], y[:1400], batch=25, lr=1e-4)
    probabilities = model.predict_proba(X[1400:])
    confidence, right = probabilities.max(axis=1), model.predict(X[1400:]) == y[1400:]
    assert abs(confidence.mean() - right.mean()) < 0.15


def test_the_buffer_is_declared_and_bounded() -> None:
    X, y = stream()
    model = taught(X, y, memory_size=15)
    assert model.stores_samples
    assert not I2CANSAY().stores_samples
    assert len(model.state()["memory.rows"]) == 15


def test_parameters_set_between_batches_count_from_the_next_on() -> None:
    X, y = stream()
    later: dict[str, Any] = {"lr": 0.3, "beta": 0.5, "pseudo": "translation", "distance": "squared"}
    model = taught(X[:60], y[:60])
    again = I2CANSAY(random_state=0, **later).set_state(model.state())
    before = model.class_scores(X)
    assert model.set_params(**later) is model
    assert not np.array_equal(model.class_scores(X), before)  # the distance is another one already
    for learner in (model, again):
        learner.partial_fit(X[60:], y[60:])
    np.testing.assert_array_equal(model.class_scores(X), again.class_scores(X))
