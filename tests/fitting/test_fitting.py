"""Any division into parts gives the same model, probabilities and verdicts, to rounding."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from i2cansay.core.score_blocks import SCORES_AT_A_TIME
from i2cansay.fitting import Fit, JoinedRows, fit_parts
from i2cansay.fitting.part import spans
from i2cansay.fitting.row_keys import HELD_OUT, row_keys
from i2cansay.fitting.row_source import ArrayRows
from i2cansay.learners import LEARNERS as NAMES
from i2cansay.learners import learner_class, make_learner
from i2cansay.learners.base import OnlineClassifier
from tests.engines.uneven import UnevenEngine

X, Y = load_digits(return_X_y=True)
TAUGHT, ASKED = ArrayRows(X[:1200], Y[:1200]), X[1200:]
# Blocks of which one is never below zero, as stages of an encoder are.
MIXED = np.concatenate([X, X - 8], axis=1)
LEARNERS: list[tuple[str, dict[str, Any], float | None]] = [
    ("best", {}, None),
    ("best", {"blocks": (64, 64)}, None),
    ("i2cansay_shared", {"lift": 20}, 0.0),
    ("i2cansay_shared", {"lift": 0}, 0.4),
    ("slda", {}, None),
    ("ncm", {}, None),
    ("ridge", {}, None),
    ("ranpac", {"n_projections": 50}, None),
    ("gaussian_nb", {}, None),
]


def assert_same(
    one: OnlineClassifier, other: OnlineClassifier, asked: Any, *, rounding: float = 1e-9
) -> None:
    """Compare scores up to a share `rounding` of the largest, and all that follows from them."""
    scale, more = np.abs(one.class_scores(asked)).max(), 10 * rounding
    np.testing.assert_allclose(
        other.class_scores(asked), one.class_scores(asked), rtol=0, atol=rounding * scale
    )
    np.testing.assert_allclose(other.predict_proba(asked), one.predict_proba(asked), rtol=0, atol=more)
    sets = [[tuple(found) for found in learner.predict_set(asked)] for learner in (one, other)]
    differing = [mine != theirs for mine, theirs in zip(*sets, strict=True)]
    assert np.mean(differing) <= more
    assert np.mean(other.verdicts(asked) != one.verdicts(asked)) <= more
    assert other.classes_.tolist() == one.classes_.tolist()
    assert other._n_seen == one._n_seen


@pytest.mark.parametrize(("learner", "parameters", "analogies"), LEARNERS)
@pytest.mark.parametrize("parts", [2, 7, 150])
def test_parts_change_nothing(
    learner: str, parameters: dict[str, Any], analogies: float | None, parts: int
) -> None:
    data = MIXED if "blocks" in parameters else X
    rows = ArrayRows(data[:1200], Y[:1200])
    one = fit_parts(rows, learner, parameters, parts=1, analogies=analogies)
    many = fit_parts(rows, learner, parameters, parts=parts, analogies=analogies)
    assert (many.parts, many.rows, many.scored, many.stepped) == (parts, 1200, one.scored, one.stepped)
    # Random projections are products in single precision, which round otherwise for another number of rows.
    lifted = parameters.get("lift") or parameters.get("n_projections")
    assert_same(one.learner, many.learner, data[1200:], rounding=1e-6 if lifted else 1e-9)


def in_closed_form() -> list[str]:
    """Return the learners that can be merged and do not depend on the order of samples."""
    made = {name: learner_class(name) for name in NAMES if learner_class(name).extra is None}
    return [name for name, each in made.items() if hasattr(each, "merge") and each().order_free]


@pytest.mark.parametrize("name", in_closed_form())
def test_every_learner_in_closed_form_can_be_learnt_in_parts(name: str) -> None:
    rows, parameters = ArrayRows(X[:600], Y[:600]), learner_class(name).small_parameters
    one, many = (fit_parts(rows, name, parameters, parts=parts).learner for parts in (1, 5))
    assert_same(one, many, ASKED, rounding=1e-6)


@settings(max_examples=25)
@given(st.sets(st.integers(1, 299)), st.integers(0, 60), st.booleans())
def test_any_division_gives_the_same_model(cuts: set[int], held_out: int, by_class: bool) -> None:
    order = np.argsort(Y[:300], kind="stable") if by_class else np.arange(300)
    rows = ArrayRows(X[:300][order], Y[:300][order])
    one = fit_parts(rows, "best", parts=1, held_out=held_out)
    many = fit_parts(rows, "best", engine=UnevenEngine(cuts), parts=2, held_out=held_out)
    assert_same(one.learner, many.learner, ASKED[:100])


def test_statistics_are_those_of_one_lesson() -> None:
    fitted = fit_parts(TAUGHT, "best", parts=9).learner
    taught = make_learner("best", random_state=0).partial_fit(TAUGHT.X, TAUGHT.y)
    np.testing.assert_allclose(fitted.class_scores(ASKED), taught.class_scores(ASKED), rtol=1e-9, atol=1e-9)
    assert fitted.class_counts_.sum() == 1200


def test_what_is_held_out_calibrates_and_is_learnt() -> None:
    without = fit_parts(TAUGHT, "best", held_out=0)
    assert (without.scored, without.learner._evidence.n_scored) == (0, 0)
    found = fit_parts(TAUGHT, "best", held_out=100)
    assert 60 <= found.scored <= 120  # a tenth of the rows at most, each drawn by itself
    np.testing.assert_allclose(
        found.learner.class_scores(ASKED), without.learner.class_scores(ASKED), rtol=1e-9, atol=1e-9
    )
    right = found.learner.predict(ASKED) == Y[1200:]
    sure = found.learner.predict_proba(ASKED).max(axis=1)
    assert abs(sure.mean() - right.mean()) < 0.08
    assert (found.learner.verdicts(ASKED) == "sure").any()


def test_rows_held_out_of_many_classes_take_bounded_memory() -> None:
    n_classes = 10_000
    y = np.tile(np.arange(n_classes), 3)
    rng = np.random.default_rng(0)
    many = rng.normal(size=(n_classes, 8))[y] + 0.1 * rng.normal(size=(len(y), 8))
    tracemalloc.start()
    fitted = fit_parts(ArrayRows(many.astype(np.float32), y), "best", {"blocks": (8,), "width": 8})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert fitted.scored > 1500
    # The scores alone would be 160 MB in double precision, and 800 MB with all temporaries.
    assert peak < 6 * 8 * SCORES_AT_A_TIME


def test_a_class_that_is_only_held_out_is_learnt_nevertheless() -> None:
    y = np.array([f"class {row}" if row % 5 == 0 else "many" for row in range(400)])
    fitted = fit_parts(ArrayRows(X[:400], y), "best", parts=3)
    assert len(fitted.learner.classes_) == 81
    held_out = row_keys(np.arange(400), HELD_OUT) < 0.1
    assert 0 < fitted.scored == (held_out & (y == "many")).sum() < held_out.sum()


def test_the_learner_goes_on_learning(tmp_path: Any) -> None:
    from i2cansay import load

    fitted = fit_parts(TAUGHT, "best", parts=3).learner
    fitted.save(tmp_path / "model.i2cs")
    again = load(tmp_path / "model.i2cs").partial_fit(ASKED[:50], Y[1200:1250])
    assert again.class_counts_.sum() == 1250
    np.testing.assert_array_equal(
        again.class_scores(ASKED), fitted.partial_fit(ASKED[:50], Y[1200:1250]).class_scores(ASKED)
    )


def test_a_head_learns_from_its_share() -> None:
    none, some, all_ = (
        fit_parts(TAUGHT, "i2cansay_shared", {"lift": 0}, analogies=share) for share in (0.0, 0.3, 1.0)
    )
    assert none.stepped == 0 < some.stepped < all_.stepped == 1200 - all_.scored
    assert all(found.learner.get_params()["analogies"] == bool(found.stepped) for found in (none, some, all_))
    assert np.abs(all_.learner.state()["head.weights"]).max() > 0


REFUSED: list[tuple[Callable[[], Fit], str]] = [
    (lambda: fit_parts(TAUGHT, "i2cansay"), "depends on the order"),
    (lambda: fit_parts(TAUGHT, "er"), "depends on the order"),
    (lambda: fit_parts(TAUGHT, "i2cansay_shared"), "--analogies"),
    (lambda: fit_parts(TAUGHT, "best", {"forgetting": 0.1}), "depends on the order"),
    (lambda: fit_parts(TAUGHT, "slda", analogies=0.1), "no head"),
    (lambda: fit_parts(TAUGHT, "best", analogies=2.0), "from 0 to 1"),
    (lambda: fit_parts(TAUGHT, "best", parts=0), "at least one part"),
    (lambda: fit_parts(JoinedRows([]), "best"), "nothing to learn"),
]


@pytest.mark.parametrize(("call", "why"), REFUSED)
def test_what_cannot_be_learnt_in_parts_is_refused(call: Callable[[], Fit], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        call()


@given(st.integers(1, 500), st.integers(1, 600))
def test_spans_cover_all_rows_once(n: int, parts: int) -> None:
    found = spans(n, parts)
    assert [row for span in found for row in range(*span)] == list(range(n))
    sizes = {stop - start for start, stop in found}
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("row", [3, 1150])
@pytest.mark.parametrize("held_out", [0, 400])
def test_a_value_that_is_not_finite_is_told_with_its_own_row(row: int, held_out: int) -> None:
    damaged = X[:1200].copy()
    damaged[row, 7] = np.nan
    rows = JoinedRows([ArrayRows(damaged[:100], Y[:100]), ArrayRows(damaged[100:], Y[100:1200])])
    own = row if row < 100 else row - 100
    with pytest.raises(ValueError, match=rf"^row {own} \(the first is 0\) has NaN in column 7"):
        fit_parts(rows, "best", parts=3, held_out=held_out)
