from collections.abc import Sequence

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import i2cansay.core.statistics.discriminant as discriminant_module
from i2cansay.core.linalg.low_rank import LowRankMatrix
from i2cansay.core.statistics.cross_validation import PENALTIES
from i2cansay.core.statistics.discriminant import (
    cross_validated_penalty,
    cross_validated_shrinkage,
    discriminant,
    largest_safe_strength,
    shrink_means,
)
from i2cansay.core.statistics.scatter import SharedScatter, oas_shrinkage


def draw(n: int = 90, d: int = 5, apart: float = 1.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return samples of three unequal classes whose dimensions are correlated, far from the origin."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    mixed = rng.standard_normal((n, d)) @ (np.eye(d) + 0.1 * rng.standard_normal((d, d)))
    return mixed + apart * rng.standard_normal((3, d))[y] + 20, y


def taught(X: np.ndarray, y: np.ndarray) -> SharedScatter:
    scatter = SharedScatter(X.shape[1])
    scatter.resize(int(y.max()) + 1)
    scatter.add(X, y)
    return scatter


def by_row(scores: np.ndarray) -> np.ndarray:
    """Take away what all classes share, which no decision sees."""
    centred: np.ndarray = scores - scores.mean(axis=1, keepdims=True)
    return centred


def brute_force_errors(X: np.ndarray, y: np.ndarray, penalties: Sequence[float]) -> list[float]:
    """Regress one-hot targets, with an intercept, by the whole hat matrix, (n, n), for each penalty."""
    n, Y = len(X), np.eye(y.max() + 1)[y]
    within = X - np.stack([X[y == label].mean(axis=0) for label in range(y.max() + 1)])[y]
    unit = (within**2).sum() / n / X.shape[1]
    centred, errors = X - X.mean(axis=0), []
    for penalty in penalties:
        ridge = centred.T @ centred + penalty * unit * np.eye(X.shape[1])
        hat = centred @ np.linalg.solve(ridge, centred.T) + 1 / n
        errors.append(float(n * ((Y - hat @ Y) ** 2).sum() / (n - np.trace(hat)) ** 2))
    return errors


@pytest.mark.parametrize(
    ("n", "d", "apart"), [(90, 5, 1.0), (90, 5, 0.2), (40, 60, 1.0), (40, 60, 0.1), (300, 30, 0.3)]
)
def test_penalty_is_that_of_the_best_regression_onto_the_classes(n: int, d: int, apart: float) -> None:
    X, y = draw(n, d, apart)
    scatter = taught(X, y)
    oracle = oas_shrinkage(scatter.matrix, n)
    allowed = [penalty for penalty in PENALTIES if penalty / (penalty + n) >= oracle] or [PENALTIES[-1]]
    best = allowed[int(np.argmin(brute_force_errors(X, y, allowed)))]
    assert cross_validated_penalty(scatter) == best
    # For decisions it is lowered in proportion to the samples per dimension.
    lowered = best * min(d / n, 1.0)
    assert cross_validated_shrinkage(scatter) == pytest.approx(lowered / (lowered + n))


@pytest.mark.parametrize("n", [10**6, 10**9])
def test_directions_without_spread_do_not_decide_however_many_samples_there_are(n: int) -> None:
    """Of rank 10 in 20 dimensions: without a least shrinkage rounding makes two orders differ by 1e-3."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 10)) @ rng.standard_normal((10, 20))
    y = np.arange(400) % 5
    X[:, :5] += 2 * np.eye(5)[y]
    scores = []
    for order in (np.arange(400), rng.permutation(400)):
        scatter = SharedScatter(20)
        scatter.resize(5)
        for some in np.split(order, 8):
            scatter.add(X[some], y[some], np.full(len(some), n / 400))
        scores.append(discriminant(scatter, cross_validated_shrinkage(scatter)).of(X))
    np.testing.assert_allclose(scores[0], scores[1], rtol=0, atol=1e-6 * np.abs(scores[0]).max())


@pytest.mark.parametrize("begin", [1e-3, 0.5, 1.0, 2.0, 1e3, 1e30])
def test_every_beginning_leads_to_the_same_penalty(begin: float) -> None:
    scatter = taught(*draw(300, 30, 0.3))
    best = cross_validated_penalty(scatter)
    assert cross_validated_penalty(scatter, begin=begin * best) == best


def test_few_samples_are_judged_by_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(12) % 4
    scatter = taught(rng.standard_normal((12, 60)) + 2 * rng.standard_normal((4, 60))[y], y)
    whole = discriminant_module._Everything(scatter).factor(shift=3.0)
    best, inverse = cross_validated_penalty(scatter), whole.solve(np.eye(60))
    monkeypatch.setattr("i2cansay.core.statistics.scatter.LOW_RANK_FROM", 60)
    judged = discriminant_module._Everything(scatter)
    assert isinstance(judged._matrix, LowRankMatrix)
    assert judged.factor(shift=3.0).trace_of_inverse() == pytest.approx(np.trace(inverse))
    np.testing.assert_allclose(judged.factor(shift=3.0).solve(np.eye(60)), inverse, rtol=1e-9, atol=1e-12)
    assert cross_validated_penalty(scatter) == best


def test_many_classes_are_judged_and_solved_as_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 10
    scatter = taught(rng.standard_normal((200, 8)) + 2 * rng.standard_normal((10, 8))[y], y)
    whole = cross_validated_penalty(scatter), shrink_means(scatter, 0.1, 0.02)
    judged = discriminant_module._Everything(scatter)
    inverse, sums = judged.factor(shift=1.0).solve(np.eye(8)), np.concatenate(list(judged.sums()))
    monkeypatch.setattr(discriminant_module, "CLASSES_AT_A_TIME", 3)
    assert cross_validated_penalty(scatter) == whole[0]
    np.testing.assert_allclose(judged.factor(shift=1.0).solve(np.eye(8)), inverse, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(np.concatenate(list(judged.sums())), sums)
    found = shrink_means(scatter, 0.1, 0.02)
    np.testing.assert_allclose(found.factors, whole[1].factors)
    np.testing.assert_allclose(found.scores.weights, whole[1].scores.weights)
    # Two of ten classes on one line, wherever they are among the blocks.
    for first, second in ((0, 9), (9, 0), (4, 5)):
        means = 10 * np.eye(10)
        means[second] = 2 * means[first]
        products = means @ means.T
        monkeypatch.setattr(discriminant_module, "CLASSES_AT_A_TIME", 3)
        few = largest_safe_strength(0.02, products)
        monkeypatch.setattr(discriminant_module, "CLASSES_AT_A_TIME", 100)
        assert few == largest_safe_strength(0.02, products) < 0.02


def test_few_samples_do_not_end_in_the_valley_of_no_penalty() -> None:
    # With one direction of hardly any noise the error is least where every sample is fitted.
    rng = np.random.default_rng(0)
    y = rng.choice(3, size=90, p=[0.5, 0.3, 0.2])
    X = rng.standard_normal((90, 5)) @ (np.eye(5) + 0.5 * rng.standard_normal((5, 5)))
    X += 0.2 * rng.standard_normal((3, 5))[y]
    scatter = taught(X, y)
    assert int(np.argmin(brute_force_errors(X, y, PENALTIES))) == 0
    oracle = oas_shrinkage(scatter.matrix, 90)
    assert cross_validated_penalty(scatter) >= 90 * oracle / (1 - oracle)


def test_directions_are_those_of_the_regression() -> None:
    X, y = draw(60, 8)
    scatter, n = taught(X, y), 60
    penalty = 3.0
    shrunk = discriminant(scatter, penalty / (penalty + n)).weights
    centred, Y = X - X.mean(axis=0), np.eye(3)[y]
    ridge = centred.T @ centred + penalty * scatter.mean_variance * np.eye(8)
    regression = np.linalg.solve(ridge, centred.T @ Y).T
    # The same two directions: each set of rows lies in the span of the other.
    assert np.linalg.matrix_rank(np.concatenate([shrunk, regression]), tol=1e-9) == 2
    assert np.linalg.matrix_rank(shrunk - shrunk.mean(axis=0), tol=1e-9) == 2


def test_shrinkage_changes_neither_with_the_unit_nor_with_the_origin() -> None:
    X, y = draw(40, 30)
    expected = cross_validated_shrinkage(taught(X, y))
    for moved in (1e-3 * X, 1e5 * X, X + 1e3):
        assert cross_validated_shrinkage(taught(moved, y)) == pytest.approx(expected)


def test_one_class_and_no_spread_fall_back_to_the_oracle_approximation() -> None:
    X, _ = draw()
    one = taught(X, np.zeros(90, dtype=np.int64))
    oracle = oas_shrinkage(one.matrix, 90)
    assert cross_validated_penalty(one) == pytest.approx(90 * oracle / (1 - oracle))
    apart = taught(np.eye(4), np.arange(4))
    assert cross_validated_shrinkage(apart) == pytest.approx(1.0)
    assert discriminant(apart, 1.0).of(np.eye(4)).argmax(axis=1).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("n", [4, 5, 8])
def test_fewer_samples_than_dimensions_are_shrunk_to_something_finite(n: int) -> None:
    X, _ = draw(n, 20)
    y = np.arange(n) % 2
    scatter = taught(X, y)
    shrinkage = cross_validated_shrinkage(scatter)
    assert 0 < shrinkage <= 1
    assert np.isfinite(discriminant(scatter, shrinkage).of(X)).all()


@pytest.mark.parametrize("shrinkage", [1e-4, 0.3, 1.0])
@pytest.mark.parametrize("empirical_prior", [True, False])
def test_agrees_with_scikit_learn(shrinkage: float, empirical_prior: bool) -> None:
    # Scikit-learn shrinks each class's covariance and weighs by the priors: with the classes' shares as weights
    # that is the pooled covariance, shrunk. The uniform prior is then a matter of the constant.
    X, y = draw()
    expected = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y).decision_function(X)
    if not empirical_prior:
        expected = expected - np.log(np.bincount(y) / len(y))
    found = discriminant(taught(X, y), shrinkage, empirical_prior=empirical_prior).of(X)
    np.testing.assert_allclose(by_row(found), by_row(expected), rtol=1e-7, atol=1e-8)
    np.testing.assert_array_equal(found.argmax(axis=1), expected.argmax(axis=1))


def test_empirical_prior_adds_the_logarithm_of_the_shares() -> None:
    X, y = draw()
    scatter = taught(X, y)
    plain, weighed = (discriminant(scatter, 0.1, empirical_prior=prior).of(X) for prior in (False, True))
    np.testing.assert_allclose(weighed - plain, np.tile(np.log(np.bincount(y) / 90), (90, 1)), atol=1e-9)


def test_class_that_has_faded_to_nothing_keeps_a_finite_score() -> None:
    X, y = draw()
    scatter = taught(X, y)
    for _ in range(10):
        scatter.fade(1e-200)
        scatter.add(X[y == 0], y[y == 0])
    assert scatter.means.count[1] == 0.0
    scores = discriminant(scatter, 0.1, empirical_prior=True).of(X)
    assert np.isfinite(scores).all()
    assert (scores.argmax(axis=1) == 0).all()


@pytest.mark.parametrize("empirical_prior", [False, True])
@pytest.mark.parametrize("strength", [0.0, 0.02, 3.0])
def test_shrunk_scores_are_distances_to_means_that_were_moved(strength: float, empirical_prior: bool) -> None:
    X, y = draw()
    means = np.stack([X[y == label].mean(axis=0) for label in range(3)])
    covariance = np.cov((X - means[y]).T, bias=True)
    inverse = np.linalg.inv(0.9 * covariance + 0.1 * np.trace(covariance) / 5 * np.eye(5))
    centre = means.mean(axis=0)
    reach = np.einsum("ci,ij,cj->c", means - centre, inverse, means - centre)
    moved = centre + (means - centre) / np.sqrt(1 + strength * reach)[:, None]
    offsets = X[:, None] - moved[None]
    expected = -0.5 * np.einsum("nci,ij,ncj->nc", offsets, inverse, offsets)
    if empirical_prior:
        expected += np.log(np.bincount(y) / 90)
    found = shrink_means(taught(X, y), 0.1, strength, empirical_prior=empirical_prior)
    np.testing.assert_allclose(by_row(found.scores.of(X)), by_row(expected), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(found.factors, np.sqrt(1 + strength * reach), rtol=1e-9)
    if strength == 0:
        plain = discriminant(taught(X, y), 0.1, empirical_prior=empirical_prior).of(X)
        np.testing.assert_allclose(by_row(found.scores.of(X)), by_row(plain), rtol=1e-7, atol=1e-8)


def test_drawing_in_finds_the_weak_samples_of_a_class_far_out() -> None:
    # Every class is seen in all strengths, along its own line from the centre, and some lie further out than others.
    rng, n, classes = np.random.default_rng(0), 8000, 20
    directions = np.diag(np.linspace(3.0, 15.0, classes))
    y, strength = np.arange(n) % classes, rng.uniform(0.2, 1.8, n)
    X = strength[:, None] * directions[y] + rng.standard_normal((n, classes))
    train, test = np.arange(n) < n // 2, np.arange(n) >= n // 2
    scatter = taught(X[train], y[train])
    accuracy = []
    for shrinking in (0.0, 0.02, 0.2):
        found = shrink_means(scatter, 0.01, shrinking).scores.of(X[test]).argmax(axis=1)
        accuracy.append(float((found == y[test]).mean()))
    assert accuracy[0] + 0.02 < accuracy[1]
    assert accuracy[1] < accuracy[2]


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_without_any_spread_far_is_what_is_far_among_the_classes(unit: float) -> None:
    means = np.array([[4.0, 0.0, 0.0], [0.0, 8.0, 0.0], [0.0, 0.0, 12.0], [0.0, 0.0, 0.0]])
    lengths = ((means - means.mean(axis=0)) ** 2).sum(axis=1)
    found = shrink_means(taught(unit * means, np.arange(4)), 0.5, 0.02)
    np.testing.assert_allclose(found.factors, np.sqrt(1 + 4 * lengths / lengths.mean()))
    assert (found.scores.of(unit * means).argmax(axis=1) == np.arange(4)).all()
    np.testing.assert_array_equal(shrink_means(taught(unit * means, np.arange(4)), 0.5, 0.0).factors, 1.0)


def test_one_point_for_all_classes_is_no_reason_to_shrink() -> None:
    np.testing.assert_array_equal(shrink_means(taught(np.ones((2, 3)), np.arange(2)), 0.5, 0.02).factors, 1.0)


@pytest.mark.parametrize(("classes", "apart", "d"), [(5, 10.0, 1), (10, 10.0, 20), (4, 100.0, 5)])
def test_classes_on_one_line_are_told_apart(classes: int, apart: float, d: int) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(100 * classes) % classes
    X = rng.standard_normal((len(y), d))
    X[:, 0] += apart * y
    scores = shrink_means(taught(X, y), 0.01, 0.02).scores.of(X)
    assert (scores.argmax(axis=1) == y).mean() > 0.97


def test_strength_is_bearable_when_every_border_lies_between_the_two_means() -> None:
    rng = np.random.default_rng(0)
    for means in (40 * rng.standard_normal((6, 2)), 3 * rng.standard_normal((6, 50))):
        offsets = means - means.mean(axis=0)
        products = offsets @ offsets.T
        strength = largest_safe_strength(0.02, products)
        lengths = np.diagonal(products)
        drawn = offsets / np.sqrt(1 + strength * lengths)[:, None]
        for i in range(6):
            for j in set(range(6)) - {i}:
                # Nine tenths of the way to the other mean it is the other's, one tenth of the way still one's own.
                for way, winner, loser in ((0.1, i, j), (0.9, j, i)):
                    at = (1 - way) * offsets[i] + way * offsets[j]
                    assert np.linalg.norm(at - drawn[winner]) <= np.linalg.norm(at - drawn[loser]) + 1e-9
    assert largest_safe_strength(0.02, np.diag([9.0, 400.0])) == 0.02
    assert largest_safe_strength(0.02, np.array([[4.0, 4.0], [4.0, 4.0]])) == 0.02  # the same mean twice
