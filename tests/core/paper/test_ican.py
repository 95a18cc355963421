"""Eq. 3 and 4, and the ways pseudo-features are compared with."""

from typing import get_args

import numpy as np
import pytest
from scipy import stats

from i2cansay.core.paper import ican
from i2cansay.core.paper.ican import (
    PSEUDO_KINDS,
    PseudoKind,
    draw_absent_classes,
    draw_old_classes,
    draw_sources,
    mean_radius,
    nearest_sources,
    pseudo_features,
    transfer,
)
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.types import Features, Rows


def world(n_classes: int = 3, n: int = 60, d: int = 5, seed: int = 0) -> tuple[Features, Rows, ClassMoments]:
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % n_classes
    X = rng.normal(size=(n_classes, d))[classes] * 3 + rng.normal(size=(n, d)) * (1 + classes[:, None])
    moments = ClassMoments(d)
    moments.resize(n_classes)
    moments.add(X, classes)
    return X, classes, moments


def test_eq3_eq4_against_loops_over_samples_and_dimensions() -> None:
    X, classes, moments = world()
    old = (classes + 1) % 3
    got = pseudo_features("ican", X, classes=classes, old=old, moments=moments, rng=np.random.default_rng(0))
    for i in range(len(X)):
        for d in range(X.shape[1]):
            own, other = X[classes == classes[i], d], X[classes == old[i], d]
            offset = X[i, d] - own.mean()
            expected = offset * other.std() / (own.std() + 1e-8) + other.mean()
            assert got[i, d] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_eq4_transfer_of_a_whole_class_has_the_other_classs_moments() -> None:
    X, classes, moments = world()
    own = classes == 0
    made = pseudo_features(
        "ican",
        X[own],
        classes=classes[own],
        old=np.full(own.sum(), 2),
        moments=moments,
        rng=np.random.default_rng(0),
    )
    np.testing.assert_allclose(made.mean(axis=0), moments.mean[2], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(made.std(axis=0), moments.std()[2], rtol=1e-4)


def test_eq4_going_there_and_back_returns_the_sample() -> None:
    rng = np.random.default_rng(1)
    x, mean_a, mean_b = rng.normal(size=(3, 4, 6))
    std_a, std_b = rng.uniform(0.5, 2, size=(2, 4, 6))
    there = transfer(x, mean_from=mean_a, std_from=std_a, mean_to=mean_b, std_to=std_b, alpha=0.0)
    back = transfer(there, mean_from=mean_b, std_from=std_b, mean_to=mean_a, std_to=std_a, alpha=0.0)
    np.testing.assert_allclose(back, x, rtol=1e-12)


def test_a_class_of_one_sample_gives_its_prototype() -> None:
    X, classes, moments = world()
    moments.resize(4)
    moments.add(np.full((1, 5), 7.0), np.array([3]))
    kinds: tuple[PseudoKind, ...] = ("ican", "gaussian", "prototype")
    for kind in kinds:
        made = pseudo_features(
            kind,
            X[:2],
            classes=classes[:2],
            old=np.array([3, 3]),
            moments=moments,
            rng=np.random.default_rng(0),
        )
        np.testing.assert_array_equal(made, 7.0)


@pytest.mark.parametrize("kind", PSEUDO_KINDS)
def test_every_kind_is_centred_on_the_old_class(kind: PseudoKind) -> None:
    X, classes, moments = world(n=900)
    old = (classes + 1) % 3
    made = pseudo_features(
        kind,
        X,
        classes=classes,
        old=old,
        moments=moments,
        rng=np.random.default_rng(0),
    )
    for c in range(3):
        np.testing.assert_allclose(made[old == c].mean(axis=0), moments.mean[c], atol=0.8)
    spread = {c: made[old == c].std() for c in range(3)}
    if kind == "gaussian":
        np.testing.assert_allclose(made[old == 1].std(axis=0), moments.std()[1], rtol=0.2)
    if kind == "radius":  # one spread for all classes and directions
        within = [made[old == c].std(axis=0) for c in range(3)]
        np.testing.assert_allclose(within, np.sqrt((moments.std() ** 2).mean()), rtol=0.2)
    if kind == "translation":
        np.testing.assert_allclose(made[old == 1].std(axis=0), moments.std()[0], rtol=1e-4)
    assert all(np.isfinite(value) for value in spread.values())


@pytest.mark.parametrize(
    ("per_sample", "expected"), [(0, 0), (0.25, 12), (0.5, 25), (1, 50), (2, 100), (2.5, 125)]
)
def test_quantity_is_the_rounded_multiple_of_the_batch(per_sample: float, expected: int) -> None:
    rows = draw_sources(50, per_sample, np.random.default_rng(0))
    counts = np.bincount(rows, minlength=50)
    assert len(rows) == expected
    assert counts.max() - counts.min() <= 1


def test_old_classes_are_uniform_over_all_others() -> None:
    drawn = draw_old_classes(np.full(40_000, 2), 5, np.random.default_rng(0))
    counts = np.bincount(drawn, minlength=5)
    assert counts[2] == 0
    assert stats.chisquare(counts[[0, 1, 3, 4]]).pvalue > 1e-3


def test_absent_classes_are_absent() -> None:
    drawn = draw_absent_classes(np.array([0, 3]), 5, 1000, np.random.default_rng(0))
    assert set(drawn.tolist()) == {1, 2, 4}
    assert len(draw_absent_classes(np.array([0, 1]), 2, 10, np.random.default_rng(0))) == 0


# -- FeTrIL and PASS ----------------------------------------------------------------------------------------------


def test_translated_samples_have_the_mean_of_the_old_class_and_the_residuals_of_their_own() -> None:
    X, classes, moments = world()
    own = classes == 0
    made = pseudo_features(
        "translation",
        X[own],
        classes=classes[own],
        old=np.full(own.sum(), 2),
        moments=moments,
        rng=np.random.default_rng(0),
    )
    np.testing.assert_allclose(made.mean(axis=0), moments.mean[2], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(made - moments.mean[2], X[own] - moments.mean[0], rtol=1e-4, atol=1e-4)


def test_eq4_between_classes_of_equal_deviations_is_a_translation() -> None:
    rng = np.random.default_rng(0)
    deviations = rng.normal(size=(20, 5))
    X = np.concatenate([deviations + 3, 1 - deviations])  # mirrored: other samples, the same deviations
    classes = np.repeat([0, 1], 20)
    moments = ClassMoments(5)
    moments.resize(2)
    moments.add(X, classes)
    ican, translation = (
        pseudo_features(
            kind, X, classes=classes, old=1 - classes, moments=moments, rng=rng, alpha=np.finfo(float).tiny
        )
        for kind in ("ican", "translation")
    )
    np.testing.assert_allclose(ican, translation, rtol=1e-4, atol=1e-5)


def test_nearest_sources_are_of_the_most_similar_other_class_and_any_of_its_rows() -> None:
    rng = np.random.default_rng(0)
    means = rng.normal(size=(6, 4))
    classes = np.array([1, 3, 4, 1, 3, 4, 1])
    old = np.repeat(np.arange(6), 200)
    rows = nearest_sources(old, classes, means, rng)
    cosine = np.corrcoef(
        np.concatenate([means, -means], axis=1)
    )  # centred by its mirror image: plain cosines
    for target in range(6):
        others = [c for c in (1, 3, 4) if c != target]
        expected = others[int(np.argmax(cosine[target, others]))]
        assert set(rows[old == target].tolist()) == set(np.flatnonzero(classes == expected).tolist())


def test_noise_of_a_given_radius_is_alike_in_all_directions() -> None:
    X, classes, moments = world(n=20_001)
    made = pseudo_features(
        "first_radius",
        X,
        classes=classes,
        old=np.zeros(len(X), dtype=np.int64),
        moments=moments,
        rng=np.random.default_rng(0),
        radius=0.7,
    )
    eigenvalues = np.linalg.eigvalsh(np.cov(made.T))
    np.testing.assert_allclose(eigenvalues, 0.7**2, rtol=0.05)
    spreads = [X[classes == c].var(axis=0).mean() for c in range(3)]
    assert mean_radius(moments) == pytest.approx(np.sqrt(np.mean(spreads)))


def test_eq4_a_batch_of_few_classes_gives_the_same_bits_as_its_rows_one_by_one() -> None:
    X, classes, moments = world(n=60)
    old = (classes + 1) % 3
    rng = np.random.default_rng(0)
    made = pseudo_features("ican", X, classes=classes, old=old, moments=moments, rng=rng)
    for row in range(0, 60, 7):
        one = slice(row, row + 1)
        alone = pseudo_features("ican", X[one], classes=classes[one], old=old[one], moments=moments, rng=rng)
        np.testing.assert_array_equal(made[one], alone)


def test_only_noise_of_one_radius_looks_at_the_spread_of_all_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    X, classes, moments = world()
    asked: list[ClassMoments] = []

    def counted(all_moments: ClassMoments) -> float:
        asked.append(all_moments)
        return 1.0

    monkeypatch.setattr(ican, "mean_radius", counted)
    kinds: tuple[PseudoKind, ...] = get_args(PseudoKind)
    for kind in kinds:
        asked.clear()
        pseudo_features(
            kind, X, classes=classes, old=(classes + 1) % 3, moments=moments, rng=np.random.default_rng(0)
        )
        assert bool(asked) == (kind in ("radius", "first_radius"))
