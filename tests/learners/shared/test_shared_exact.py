"""What of `SharedI2CANSAY` depends on the samples alone, not on their order, and can be taken back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learners.shared.material import C, closed_form, digits, draw, shared, taught

# The lift is a product in float32, which a BLAS rounds by the number of rows.
LIFTED = 1e-5


# -- the order of the samples -----------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), batch=st.integers(1, 60), lift=st.sampled_from([0, 6]))
def test_closed_form_knows_neither_order_nor_batches(seed: int, batch: int, lift: int) -> None:
    X, y = draw(120)
    order = np.random.default_rng(seed).permutation(120)
    expected = closed_form(lift=lift, feature_transform="none").partial_fit(X, y).class_scores(X)
    found = taught(closed_form(lift=lift, feature_transform="none"), X[order], y[order], batch)
    tolerance = LIFTED if lift else 1e-8
    np.testing.assert_allclose(found.class_scores(X), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n_parts", [2, 3, 5])
@pytest.mark.parametrize("lift", [0, 6])
def test_merged_parts_are_one_pass(n_parts: int, lift: int) -> None:
    # Classes come one after the other: each part knows labels that the others have never seen.
    X, y = draw()
    names = np.array(["ant", "bee", "cat", "dog", "eel"])[y]
    whole = taught(closed_form(lift=lift), X, names)
    parts = [taught(closed_form(lift=lift), X[p], names[p]) for p in np.array_split(np.arange(200), n_parts)]
    assert any(len(part.classes_) < C for part in parts)
    merged = parts[-1]
    for part in parts[:-1]:
        merged.merge(part)
    assert merged.classes_.tolist() == whole.classes_.tolist()
    tolerance = LIFTED if lift else 1e-8
    np.testing.assert_allclose(merged.class_scores(X), whole.class_scores(X), rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(merged.predict(X), whole.predict(X))


def test_merging_a_tree_of_parts_is_merging_them_in_a_row() -> None:
    X, y = draw()
    rows = np.array_split(np.random.default_rng(0).permutation(200), 4)
    a, b, c, d = (closed_form().partial_fit(X[part], y[part]) for part in rows)
    a.merge(b)
    c.merge(d)
    np.testing.assert_allclose(
        a.merge(c).class_scores(X), closed_form().partial_fit(X, y).class_scores(X), rtol=1e-8, atol=1e-8
    )


def test_merged_heads_decide_about_as_well_as_one_pass() -> None:
    X, y = digits()
    order = np.random.default_rng(0).permutation(1500)
    parts = [taught(shared(), X[p], y[p], 50) for p in np.array_split(order, 3)]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    whole = taught(shared(), X[order], y[order], 50)
    assert merged.score(X[1500:], y[1500:]) > whole.score(X[1500:], y[1500:]) - 0.03
    taught(merged, X[:100], y[:100])  # and it goes on
    assert np.isfinite(merged.class_scores(X)).all()


# -- taking back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lift", [0, 6])
def test_unlearnt_samples_were_never_taught(lift: int) -> None:
    X, y = draw()
    gone = np.arange(200) % 3 == 0
    never = closed_form(lift=lift, feature_transform="none").partial_fit(X[~gone], y[~gone])
    model = taught(closed_form(lift=lift, feature_transform="none"), X, y)
    model.class_scores(X)  # what was solved before is not to be used again
    model.unlearn(X[gone], y[gone])
    tolerance = LIFTED if lift else 1e-7
    np.testing.assert_allclose(model.class_scores(X), never.class_scores(X), rtol=tolerance, atol=tolerance)


def test_unlearning_all_of_a_class_leaves_no_trace_of_it() -> None:
    X, y = draw()
    never = closed_form().partial_fit(X[y != 2], y[y != 2])
    model = closed_form().partial_fit(X, y).unlearn(X[y == 2], y[y == 2])
    assert model.classes_.tolist() == [0, 1, 3, 4]
    np.testing.assert_allclose(model.class_scores(X), never.class_scores(X), rtol=1e-7, atol=1e-8)


def test_unlearning_mends_a_wrong_label_with_the_head_as_well() -> None:
    X, y = draw()
    model = taught(shared(), X, y)
    means = model.class_means_
    model.partial_fit(X[:3], [4, 4, 4]).unlearn(X[:3], [4, 4, 4])
    np.testing.assert_allclose(model.class_means_, means, rtol=1e-9, atol=1e-12)
    assert np.isfinite(model.partial_fit(X[:3], y[:3]).class_scores(X)).all()


def test_unlearning_what_has_faded_is_refused() -> None:
    X, y = draw()
    model = taught(closed_form(forgetting=0.01), X, y)
    before = model.state()
    with pytest.raises(ValueError, match="forget the class instead"):
        model.unlearn(X[:3], y[:3])
    for name, array in model.state().items():
        np.testing.assert_array_equal(array, before[name])


def test_forgotten_class_takes_mean_count_and_weights_and_leaves_the_shared_covariance() -> None:
    X, y = draw()
    model = taught(shared(shrinkage=0.2), X, y)
    before, means = model.state(), model.class_means_
    model.forget(2)
    after, left = model.state(), [0, 1, 3, 4]
    np.testing.assert_array_equal(model.class_means_, means[left])
    assert model.class_counts_.tolist() == np.bincount(y)[left].tolist()
    for name in ("head.weights", "head.preconditioned_means", "scatter.mean"):
        np.testing.assert_array_equal(after[name], before[name][left])
    for name in ("scatter.matrix", "scatter.total", "scatter.centre", "head.inverse"):
        np.testing.assert_array_equal(after[name], before[name])


@pytest.mark.parametrize("lift", [0, 6])
def test_forgetting_a_class_changes_no_score_of_the_others_at_a_given_shrinkage(lift: int) -> None:
    # Where means are drawn in, it is towards the centre of the classes that are left: there they do change.
    X, y = draw()
    model = taught(closed_form(shrinkage=0.2, lift=lift, shrink_means=0), X, y)
    before = model.class_scores(X)
    before -= before[:, :1]
    after = model.forget(2).class_scores(X)
    np.testing.assert_allclose(after - after[:, :1], before[:, [0, 1, 3, 4]], rtol=1e-9, atol=1e-9)
