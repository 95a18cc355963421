from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay import I2CANSAY, SharedI2CANSAY, make_learner
from i2cansay.learners.shared.feature_map import WIDEST
from tests.learners.shared.material import C, D, closed_form, digits, draw, shared, taught

# -- what it is -----------------------------------------------------------------------------------------------


def test_it_declares_what_it_is() -> None:
    assert (shared().lazy, I2CANSAY().lazy) == (True, False)
    assert closed_form().order_free
    assert not any(model.order_free for model in (shared(), closed_form(forgetting=0.01)))
    assert not shared().stores_samples
    assert not isinstance(shared(), I2CANSAY)


def test_without_parameters_it_is_the_named_learner_with_a_lift() -> None:
    model = make_learner("i2cansay_shared")
    assert type(model) is SharedI2CANSAY
    assert model.get_params() == SharedI2CANSAY().get_params()
    assert SharedI2CANSAY().lift == "auto"


def test_lift_fills_the_width_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("i2cansay.learners.shared.feature_map.LIFTED", {"auto": 40, "wide": 50})
    X, y = draw()
    assert SharedI2CANSAY().partial_fit(X, y).class_means_.shape == (C, 40)
    assert SharedI2CANSAY(lift="wide").partial_fit(X, y).class_means_.shape == (C, 50)
    wide = np.tile(X, 8)
    assert SharedI2CANSAY().partial_fit(wide, y).class_means_.shape == (C, 64)


@pytest.mark.parametrize("analogies", [True, False])
def test_few_samples_of_many_dimensions_are_the_same_in_less_time(
    analogies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = draw()

    def scores() -> np.ndarray:
        model = SharedI2CANSAY(lift=400, analogies=analogies, random_state=0)
        return taught(model, X[:90], y[:90]).class_scores(X)

    whole = scores()
    monkeypatch.setattr("i2cansay.core.statistics.scatter.LOW_RANK_FROM", 100)
    np.testing.assert_allclose(scores(), whole, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"shrinkage": 0}, "shrinkage must be a number above 0, got 0"),
        ({"shrinkage": 2}, "at most 1, got 2"),
        ({"shrinkage": "best"}, "shrinkage must be .*got 'best'"),
        ({"lift": -1}, "lift must be a whole number of at least 0, got -1"),
        ({"shrink_means": -1}, "shrink_means must be a number of at least 0, got -1"),
        ({"lift": "wider"}, "lift must be one of 'auto', 'wide', got 'wider'"),
        ({"lift": 1.5}, r"lift must be a whole number of at least 0, got 1\.5"),
        ({"analogies": "gaussian"}, "analogies must be one of True, False, got 'gaussian'"),
        ({"lr": 0}, "lr must be a number above 0, got 0"),
        ({"beta": -1.0}, "beta must be a number of at least 0"),
        ({"n_pseudo": 101}, "n_pseudo must be at most 100, got 101"),
        ({"old_classes": "some"}, "old_classes must be one of 'all', 'absent', got 'some'"),
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1"),
        ({"forgetting": 1}, "forgetting must be below 1, got 1"),
        ({"forgetting": -0.1}, r"forgetting must be a number of at least 0, got -0\.1"),
        ({"prior": "flat"}, "prior must be .*'flat'"),
        ({"feature_transform": "log"}, "feature_transform must be .*'log'"),
    ],
)
def test_parameters_that_make_no_sense_are_named(parameters: dict[str, Any], match: str) -> None:
    model = shared(**parameters)
    with pytest.raises(ValueError, match=match):
        model.partial_fit(np.eye(2), [0, 1])
    assert not hasattr(model, "classes_")


def test_class_statistics_are_those_of_the_transformed_features() -> None:
    X, y = digits()
    model = taught(shared(), X[:300], y[:300])
    assert model.class_counts_.tolist() == np.bincount(y[:300]).tolist()
    for label in range(10):
        expected = np.sqrt(X[:300][y[:300] == label]).mean(axis=0)
        np.testing.assert_allclose(model.class_means_[label], expected, rtol=1e-5, atol=1e-6)
    assert not hasattr(model, "class_stds_")  # classes have no spread of their own


# -- deciding ---------------------------------------------------------------------------------------------------


def test_two_classes_are_told_apart_half_way_however_seldom_one_is() -> None:
    rng, means = np.random.default_rng(0), np.array([[0.0, 0.0], [8.0, 0.0]])
    y = (np.arange(500) % 50 == 0).astype(int)
    X = rng.standard_normal((500, 2)) + means[y]
    model = closed_form(feature_transform="none", shrinkage=0.01).partial_fit(X, y)
    half_way = model.class_means_.mean(axis=0, keepdims=True)
    assert model.decision_function(half_way) == pytest.approx(0.0, abs=1e-9)


def test_class_in_the_middle_of_all_others_is_found() -> None:
    rng, means = np.random.default_rng(0), np.array([[-6.0], [0.0], [6.0]])
    y = np.arange(600) % 3
    X = rng.standard_normal((600, 1)) + means[y]
    for model in (closed_form(), shared()):
        model.set_params(feature_transform="none")
        assert taught(model, X[:300], y[:300]).score(X[300:], y[300:]) > 0.95


@pytest.mark.parametrize("analogies", [True, False])
def test_parameters_set_between_batches_count_from_the_next_on(analogies: bool) -> None:
    X, y = draw()
    later: dict[str, Any] = {"lr": 0.1, "shrinkage": 0.3, "shrink_means": 0.5, "prior": "empirical"}
    model = taught(shared(analogies=analogies, lift=6), X[:120], y[:120])
    before = model.class_scores(X)
    assert model.set_params(**later, lift=0, feature_transform="sqrt") is model
    assert not np.array_equal(model.class_scores(X), before)  # the decision is another one already
    again = shared(analogies=analogies, lift=6, **later).set_state(model.state())
    for learner in (model, again):
        taught(learner, X[120:], y[120:])
    np.testing.assert_array_equal(model.class_scores(X), again.class_scores(X))
    assert model.class_means_.shape == (C, D + 6)  # how features are mapped waits for a new beginning


# -- the unit of the features -------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(
    scale=st.floats(1e-3, 1e3),
    analogies=st.booleans(),
    lift=st.sampled_from([0, 6]),
    signed=st.booleans(),
    first=st.integers(1, 30),
)
def test_unit_of_the_features_changes_no_decision(
    scale: float, analogies: bool, lift: int, signed: bool, first: int
) -> None:
    # Shuffled, and beginning with few samples: also with one of each class at most, when there is no spread yet.
    X, y = draw()
    order = np.random.default_rng(1).permutation(200)
    X, y = (X if signed else np.abs(X))[order], y[order]
    models = [shared(analogies=analogies, lift=lift) for _ in range(2)]
    for rows in (slice(0, first), slice(first, 40), slice(40, 60), slice(60, 150)):
        scores = []
        for model, unit in zip(models, (1.0, scale), strict=True):
            model.partial_fit(unit * X[rows], y[rows])
            scores.append(model.class_scores(unit * X))
        if rows.start:
            np.testing.assert_allclose(scores[1], scores[0], rtol=1e-3, atol=1e-3)
        best, other = scores[0].argmax(axis=1), scores[1].argmax(axis=1)
        # Rounding may tip a row that lies on a border.
        lead = scores[0].max(axis=1) - scores[0][np.arange(200), other]
        assert (lead[best != other] < 1e-4).all()


def test_signed_features_are_not_rooted_and_learnt() -> None:
    X, y = draw(600)
    order = np.random.default_rng(0).permutation(600)
    model = taught(shared(), X[order[:400]], y[order[:400]])
    np.testing.assert_allclose(model.class_means_[0], X[order[:400]][y[order[:400]] == 0].mean(axis=0))
    assert model.score(X[order[400:]], y[order[400:]]) > 0.75


# -- useful at once ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lift", [0, 100])
def test_class_taught_a_moment_ago_is_predicted(lift: int) -> None:
    X, y = digits()
    model = shared(lift=lift)
    for label in range(10):
        rows = np.flatnonzero(y == label)[:30]
        model.partial_fit(X[rows], y[rows])  # what was solved for the last class is not to be used again
        assert (model.predict(X[rows]) == label).mean() > 0.9


@pytest.mark.parametrize("analogies", [True, False])
def test_one_sample_of_each_class_makes_the_nearest_mean_where_none_is_drawn_in(analogies: bool) -> None:
    X, y = digits()
    first = np.array([np.flatnonzero(y == label)[0] for label in range(10)])
    model = shared(analogies=analogies, shrink_means=0.0).partial_fit(X[first], y[first])
    distance = np.linalg.norm(np.sqrt(X[500:])[:, None] - np.sqrt(X[first])[None], axis=2)
    np.testing.assert_array_equal(model.predict(X[500:]), distance.argmin(axis=1))


@pytest.mark.parametrize("analogies", [True, False])
def test_few_samples_are_useful_and_more_are_better(analogies: bool) -> None:
    X, y = digits()
    accuracy = []
    for shots in (1, 2, 5, 10, 30):
        scores = []
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(1000)
            rows = np.concatenate([order[y[order] == label][:shots] for label in range(10)])
            scores.append(taught(shared(analogies=analogies), X[rows], y[rows], 50).score(X[1000:], y[1000:]))
        accuracy.append(np.mean(scores))
    assert accuracy[0] > 0.4
    assert accuracy[-1] > 0.9
    assert all(more > fewer for fewer, more in pairwise(accuracy))


# -- priors, drift, memory --------------------------------------------------------------------------------------


def test_empirical_prior_shifts_scores_by_the_logarithm_of_the_counts() -> None:
    X, y = draw()
    plain, weighed = (closed_form(prior=prior).partial_fit(X, y) for prior in ("uniform", "empirical"))
    shift = weighed.class_scores(X) - plain.class_scores(X)
    np.testing.assert_allclose(shift, np.tile(np.log(np.bincount(y) / 200), (200, 1)), atol=1e-8)


@pytest.mark.parametrize("analogies", [True, False])
def test_forgetting_follows_classes_that_move(analogies: bool) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    early = rng.standard_normal((400, 3)) + np.where(y, 3.0, -3.0)[:, None]
    late = rng.standard_normal((400, 3)) + np.where(y, -3.0, 3.0)[:, None]  # the two have changed places
    remembering, forgetting = (
        taught(taught(shared(analogies=analogies, forgetting=rate), early, y), late, y)
        for rate in (0.0, 0.02)
    )
    assert np.abs(remembering.class_means_).max() < 0.5
    np.testing.assert_allclose(forgetting.class_means_, [[3.0] * 3, [-3.0] * 3], atol=0.5)
    assert forgetting.score(late, y) > 0.95
    assert forgetting.class_counts_.sum() == pytest.approx(1 / 0.02, rel=1e-3)


def test_class_not_seen_for_long_stays_known_when_the_rest_fades() -> None:
    X, y = draw()
    model = taught(shared(forgetting=0.5, prior="empirical"), X, y)
    for _ in range(60):
        model.partial_fit(X[y == 4][:20], y[y == 4][:20])
    assert model.class_counts_[0] == 0.0
    assert np.isfinite(model.class_scores(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(("d", "lift"), [(256, 0), (200, 56)])
def test_saved_state_is_within_its_bound(tmp_path: Path, d: int, lift: int) -> None:
    c, width = 100, d + lift
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, d)).astype(np.float32), np.arange(300) % c
    model = taught(shared(lift=lift), X, y, 100)
    model.predict(X[:5])
    bound = (5 * c * width + 2 * width * width) * 4
    assert sum(array.nbytes for array in model.state().values()) <= bound
    model.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size <= bound


def test_twenty_thousand_dimensions_are_learnt() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 4
    X = (rng.standard_normal((40, 20_000)) + 0.2 * rng.standard_normal((4, 20_000))[y]).astype(np.float32)
    model = closed_form(shrinkage="oas").partial_fit(X[:20], y[:20])
    assert model.class_means_.shape == (4, WIDEST)
    assert model.score(X[20:], y[20:]) == 1.0


# -- what comes may be unlike what came -----------------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [0.05, 0.01, 0.001])
def test_head_survives_a_stream_that_begins_with_next_to_no_spread(fraction: float) -> None:
    # As with images of a camera that stands still, and then moves.
    rng, means = np.random.default_rng(0), 2 * np.random.default_rng(99).standard_normal((5, 32))
    y = np.arange(2000) % 5
    spread = np.where(np.arange(2000) < 700, fraction, 1.0)[:, None]
    X = means[y] + spread * rng.standard_normal((2000, 32))
    for batch in (5, 50):
        model = taught(shared(feature_transform="none"), X[:1500], y[:1500], batch)
        assert model.score(X[1500:], y[1500:]) > 0.95


def test_one_wild_sample_does_not_destroy_the_head() -> None:
    X, y = draw(800)
    order = np.random.default_rng(0).permutation(800)
    X, y = X[order], y[order]
    accuracy = []
    for model in (closed_form(feature_transform="none"), shared(feature_transform="none")):
        taught(model, X[:500], y[:500]).partial_fit(1000 * X[:1], y[1:2])
        accuracy.append(taught(model, X[500:700], y[500:700]).score(X[700:], y[700:]))
    assert accuracy[1] > accuracy[0] - 0.05


def test_unlearning_back_to_no_spread_leaves_none() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((8, 4)), np.array([0, 1, 2, 3, 4, 0, 1, 2])
        never = closed_form().partial_fit(X[:5], y[:5])
        model = closed_form().partial_fit(X[:5], y[:5]).partial_fit(X[5:], y[5:]).unlearn(X[5:], y[5:])
        asked = rng.standard_normal((50, 4))
        np.testing.assert_array_equal(model.predict(asked), never.predict(asked))


def test_transform_is_decided_once() -> None:
    X, y = digits()
    model = taught(shared(), X[:100], y[:100])
    model.partial_fit(-X[100:120], y[100:120])  # would not be rooted, had it come first
    counts, roots = np.bincount(y[:120]), np.sqrt(X[:100])
    label = int(y[100])
    rows = y[:100] == label
    late = -np.sqrt(X[100:120])[y[100:120] == label]
    expected = (roots[rows].sum(axis=0) + late.sum(axis=0)) / counts[label]
    np.testing.assert_allclose(model.class_means_[label], expected, rtol=1e-5, atol=1e-6)
