"""The ensemble against the same, one sample and one classifier at a time."""

from math import exp, sqrt, tanh

import numpy as np
import pytest

from i2cansay.learners.memory import keyed_classifiers
from i2cansay.learners.memory.keyed_classifiers import KeyedClassifiers, look_up

N_KEYS, N_ACTIVE, N_CLASSES, WIDTH = 9, 3, 4, 5


def unit_keys(seed: int = 0) -> np.ndarray:
    keys = np.random.default_rng(seed).normal(size=(N_KEYS, WIDTH))
    unit: np.ndarray = (keys / np.linalg.norm(keys, axis=1, keepdims=True)).astype(np.float32)
    return unit


def batch(n: int = 8, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return samples each with `N_ACTIVE` keys on its own side, as among many keys it always is."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5 * n, WIDTH))
    X = X[(X @ unit_keys().T > 0.1).sum(axis=1) >= N_ACTIVE][:n]
    assert len(X) == n
    return X, rng.integers(0, N_CLASSES, n)


def restored(weights: np.ndarray, biases: np.ndarray) -> KeyedClassifiers:
    classifiers = KeyedClassifiers(N_KEYS, WIDTH)
    state = {"weights": weights, "biases": biases, "scale": np.ones(1)}
    classifiers.restore({name: array.astype(np.float32) for name, array in state.items()}, N_CLASSES)
    return classifiers


def saturated(seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Weights so large that the tanh bends."""
    rng = np.random.default_rng(seed)
    return 200 * rng.normal(size=(N_KEYS, N_CLASSES, WIDTH)), 100 * rng.normal(size=(N_KEYS, N_CLASSES))


def slow_outputs(X: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    outputs = np.zeros((len(X), N_CLASSES))
    for i, x in enumerate(X):
        encoding = x / sqrt(sum(value**2 for value in x))
        cosines = [sum(encoding * key) for key in unit_keys().astype(np.float64)]
        nearest = sorted(range(N_KEYS), key=lambda m: -cosines[m])[:N_ACTIVE]
        for c in range(N_CLASSES):
            values = [250 * tanh((sum(encoding * weights[m, c]) + biases[m, c]) / 250) for m in nearest]
            total = sum(cosines[m] * value for m, value in zip(nearest, values, strict=True))
            outputs[i, c] = total / sum(cosines[m] for m in nearest)
    return outputs


def slow_loss(X: np.ndarray, y: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> float:
    return -float(np.mean(slow_outputs(X, weights, biases)[np.arange(len(y)), y]))


@pytest.fixture(scope="module")
def numeric() -> list[np.ndarray]:
    """Return the gradients of the loss of `batch()` by all weights and biases of `saturated()`."""
    X, y = batch()
    parameters = saturated()
    gradients = []
    for array in parameters:
        gradient = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            step, before = 1e-3, array[place]
            array[place] = before + step
            above = slow_loss(X, y, *parameters)
            array[place] = before - step
            gradient[place] = (above - slow_loss(X, y, *parameters)) / (2 * step)
            array[place] = before
        gradients.append(gradient)
    return gradients


def test_outputs_are_the_mean_of_the_nearest_weighed_by_similarity() -> None:
    X, _ = batch(40)
    classifiers = restored(*saturated())
    outputs = classifiers.outputs(look_up(X, unit_keys(), N_ACTIVE))
    np.testing.assert_allclose(outputs, slow_outputs(X, *saturated()), rtol=1e-4, atol=1e-3)
    assert np.abs(outputs).max() > 100  # the bound is felt


def test_gradient_is_that_of_finite_differences(numeric: list[np.ndarray]) -> None:
    X, y = batch()
    by_weights, by_biases = numeric
    classifiers = restored(*saturated())
    samples = look_up(X, unit_keys(), N_ACTIVE)
    for row in range(N_CLASSES):
        part = samples.of(np.flatnonzero(y == row))
        touched, analytic, analytic_biases = classifiers.gradient(
            part, row, np.full(len(part.active), 1 / len(y))
        )
        whole, whole_biases = np.zeros((N_KEYS, WIDTH)), np.zeros(N_KEYS)
        whole[touched], whole_biases[touched] = analytic, analytic_biases
        np.testing.assert_allclose(whole, by_weights[:, row], atol=1e-6)
        np.testing.assert_allclose(whole_biases, by_biases[:, row], atol=1e-6)
    assert np.abs(by_weights).max() > 1e-3


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_a_step_goes_against_the_sign_of_the_gradient(decay: float, numeric: list[np.ndarray]) -> None:
    X, y = batch()
    weights, biases = saturated()
    classifiers = restored(weights, biases)
    classifiers.step(
        look_up(X, unit_keys(), N_ACTIVE), y, np.full(len(y), 1 / len(y)), lr=0.5, weight_decay=decay
    )
    for array, gradient, after in zip(
        (weights, biases), numeric, (classifiers.weights, classifiers.biases), strict=True
    ):
        sure = (np.abs(gradient) > 1e-7) | (gradient == 0)
        assert sure.mean() > 0.95
        expected = (1 - 0.5 * decay) * array - 0.5 * np.sign(gradient)
        np.testing.assert_allclose(after[sure], expected[sure], rtol=1e-5, atol=1e-4)


def test_decay_reaches_every_weight_at_every_step() -> None:
    weights, biases = saturated()
    classifiers = restored(weights, biases)
    X, y = batch(1)
    for _ in range(400):
        classifiers.step(look_up(X, unit_keys(), 1), y, np.ones(1), lr=0.1, weight_decay=0.1)
    untouched = np.ones((N_KEYS, N_CLASSES), dtype=bool)
    untouched[look_up(X, unit_keys(), 1).active[0, 0], y[0]] = False
    np.testing.assert_allclose(
        classifiers.weights[untouched], weights[untouched] * exp(400 * np.log(0.99)), rtol=1e-4
    )


def test_nothing_but_the_own_class_in_the_own_classifiers_moves() -> None:
    weights, biases = saturated()
    classifiers = restored(weights, biases)
    X, _ = batch(1)
    samples = look_up(X, unit_keys(), N_ACTIVE)
    classifiers.step(samples, np.array([2]), np.ones(1), lr=0.5, weight_decay=0.0)
    moved = (classifiers.weights != weights.astype(np.float32)).any(axis=2)
    assert set(zip(*np.nonzero(moved), strict=True)) == {(m, 2) for m in samples.active[0].tolist()}


def test_look_up_takes_the_highest_cosines_whatever_the_length() -> None:
    X, _ = batch(20)
    keys = unit_keys()
    samples, longer = look_up(X, keys, N_ACTIVE), look_up(1e3 * X, keys, N_ACTIVE)
    cosines = X @ keys.T / np.linalg.norm(X, axis=1, keepdims=True)
    for i in range(20):
        best = np.argsort(-cosines[i])[:N_ACTIVE]
        assert set(samples.active[i].tolist()) == set(longer.active[i].tolist()) == set(best.tolist())
    np.testing.assert_allclose(samples.shares.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(samples.encodings, axis=1), 1, rtol=1e-5)


def test_a_sample_at_the_origin_and_too_few_keys_are_no_trouble() -> None:
    samples = look_up(np.zeros((2, WIDTH)), unit_keys(), 100)
    assert samples.active.shape == (2, N_KEYS)
    np.testing.assert_allclose(samples.shares, 1 / N_KEYS, rtol=1e-5)
    opposite = look_up(-unit_keys()[:1], unit_keys()[:1], 1)
    np.testing.assert_array_equal(opposite.shares, 1)


def test_classes_come_and_go() -> None:
    weights, biases = saturated()
    classifiers = restored(weights, biases)
    classifiers.resize(30)
    assert not classifiers.weights[:, N_CLASSES:].any()
    classifiers.drop(1)
    assert classifiers.weights.shape == (N_KEYS, 29, WIDTH)
    np.testing.assert_array_equal(classifiers.weights[:, :3], weights[:, [0, 2, 3]].astype(np.float32))
    np.testing.assert_array_equal(classifiers.biases[:, :3], biases[:, [0, 2, 3]].astype(np.float32))
    assert not classifiers.weights[:, 3:].any()
    with pytest.raises(ValueError, match=r"expected weights of shape \(9, 2, 5\)"):
        restored(weights, biases).restore(classifiers.state(), 2)


def test_more_classes_than_a_block_holds_are_taught_scored_and_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = batch(20)
    samples = look_up(X, unit_keys(), N_ACTIVE)
    outputs = []
    for size in (16, 3):
        monkeypatch.setattr(keyed_classifiers, "CLASS_BLOCK", size)
        classifiers = restored(*saturated())
        classifiers.step(samples, y, np.full(len(y), 0.05), lr=0.5, weight_decay=0.1)
        outputs.append(classifiers.outputs(samples))
    np.testing.assert_allclose(outputs[1], outputs[0], rtol=1e-5, atol=1e-4)
    classifiers.drop(1)
    np.testing.assert_allclose(classifiers.outputs(samples), outputs[1][:, [0, 2, 3]], rtol=1e-5, atol=1e-4)
