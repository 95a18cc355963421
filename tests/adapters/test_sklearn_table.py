"""The table of docs/ecosystem.md: what of scikit-learn works with our learners and what does not, a test per row."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_validate,
    learning_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from i2cansay.learners import make_learner

X, Y = load_iris(return_X_y=True)
PAGE = Path(__file__).parents[2] / "docs" / "ecosystem.md"
TEST_OF: dict[str, Callable[[], None]] = {}


def row(what: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Let a function be the test of the row of the page whose first cell is `what`."""

    def keep(test: Callable[[], None]) -> Callable[[], None]:
        TEST_OF[what] = test
        return test

    return keep


# -- what works -------------------------------------------------------------------------------------------------


@row("`Pipeline`, `cross_validate`")
def _() -> None:
    scores = cross_validate(make_pipeline(StandardScaler(), make_learner("slda")), X, Y)
    assert scores["test_score"].mean() > 0.9


@row("`ColumnTransformer`, `set_output`")
def _() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    chosen = make_column_transformer((StandardScaler(), ["c", "d"]), verbose_feature_names_out=False)
    pipeline = make_pipeline(chosen.set_output(transform="pandas"), make_learner("slda")).fit(frame, Y)
    assert pipeline[-1].feature_names_in_.tolist() == ["c", "d"]
    assert pipeline.score(frame, Y) > 0.9


@row("`GridSearchCV`, `RandomizedSearchCV`")
def _() -> None:
    grid = {"ncm__metric": ["euclidean", "cosine"]}
    pipeline = Pipeline([("scaler", StandardScaler()), ("ncm", make_learner("ncm"))])
    found = GridSearchCV(pipeline, grid).fit(X, Y)
    assert found.best_params_["ncm__metric"] in grid["ncm__metric"]
    assert len(set(found.cv_results_["mean_test_score"])) == 2
    drawn = RandomizedSearchCV(
        make_learner("best"), {"shrinkage": [0.1, 0.5, "oas"]}, n_iter=2, random_state=0
    )
    assert drawn.fit(X, Y).best_score_ > 0.9


@row("`n_jobs=2`")
def _() -> None:
    alone = cross_validate(make_learner("best"), X, Y, return_estimator=True)
    shared = cross_validate(make_learner("best"), X, Y, return_estimator=True, n_jobs=2)
    np.testing.assert_allclose(shared["test_score"], alone["test_score"], atol=0.04)
    assert [model.classes_.tolist() for model in shared["estimator"]] == [[0, 1, 2]] * 5


@row("`learning_curve(exploit_incremental_learning=True)`")
def _() -> None:
    sizes, _, scores = learning_curve(
        make_learner("slda"), X, Y, exploit_incremental_learning=True, shuffle=True, random_state=0
    )
    assert len(sizes) == 5
    assert scores[-1].mean() > 0.9


@row("`CalibratedClassifierCV`")
def _() -> None:
    calibrated = CalibratedClassifierCV(make_learner("slda"), cv=3).fit(X, Y)
    assert calibrated.score(X, Y) > 0.9
    taught = make_learner("slda").fit(X[::2], Y[::2])
    before = taught.predict_proba(X)
    frozen = CalibratedClassifierCV(FrozenEstimator(taught)).fit(X[1::2], Y[1::2])
    assert frozen.score(X, Y) > 0.9
    np.testing.assert_array_equal(taught.predict_proba(X), before)


@row("`TunedThresholdClassifierCV`")
def _() -> None:
    rare = (Y == 2).astype(int)
    tuned = TunedThresholdClassifierCV(make_learner("slda"), scoring="balanced_accuracy").fit(X, rare)
    assert 0 < tuned.best_threshold_ < 1


@row("`VotingClassifier`, `StackingClassifier`, `BaggingClassifier`, `AdaBoostClassifier`")
def _() -> None:
    several = [("slda", make_learner("slda")), ("best", make_learner("best"))]
    for ensemble in (
        VotingClassifier(several, voting="soft"),
        StackingClassifier(several),
        BaggingClassifier(make_learner("slda"), n_estimators=3, random_state=0),
        AdaBoostClassifier(make_learner("slda"), n_estimators=3, random_state=0),
    ):
        assert ensemble.fit(X, Y).score(X, Y) > 0.9


@row("`MultiOutputClassifier`")
def _() -> None:
    both = np.column_stack([Y, Y == 0])
    model = MultiOutputClassifier(make_learner("slda")).fit(X, both)
    assert (model.predict(X) == both).mean() > 0.9


@row("`SelfTrainingClassifier`")
def _() -> None:
    few = np.where(np.arange(len(Y)) % 5, -1, Y)
    model = SelfTrainingClassifier(make_learner("slda"), threshold=0.8).fit(X, few)
    assert (model.transduction_ >= 0).sum() > (few >= 0).sum()


@row("`permutation_importance`, `SequentialFeatureSelector`")
def _() -> None:
    model = make_learner("slda").fit(X, Y)
    importance = permutation_importance(model, X, Y, n_repeats=3, random_state=0).importances_mean
    assert importance.argmax() in (2, 3)  # of the petals
    chosen = SequentialFeatureSelector(make_learner("slda"), n_features_to_select=1).fit(X, Y)
    assert chosen.get_support()[2:].any()


@row("`clone`")
def _() -> None:
    model = make_learner("best", random_state=1).fit(X, Y)
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copied.predict(X)


# -- what does not ----------------------------------------------------------------------------------------------


@row("`Pipeline.partial_fit`")
def _() -> None:
    scaler, model = StandardScaler(), make_learner("slda")
    assert not hasattr(make_pipeline(scaler, model), "partial_fit")
    fixed = scaler.fit(X[::5])
    for start in range(0, 150, 30):  # what to do instead
        model.partial_fit(fixed.transform(X[start : start + 30]), Y[start : start + 30])
    assert make_pipeline(FrozenEstimator(fixed), FrozenEstimator(model)).score(X, Y) > 0.9


@row("New classes in `CalibratedClassifierCV`, `VotingClassifier` and their like")
def _() -> None:
    for whole in (
        CalibratedClassifierCV(make_learner("slda")),
        VotingClassifier([("a", make_learner("slda"))]),
    ):
        assert not hasattr(whole, "partial_fit")
    model = make_learner("slda").fit(X[Y < 2], Y[Y < 2])
    assert model.partial_fit(X[Y == 2], Y[Y == 2]).calibrate(X, Y).classes_.tolist() == [0, 1, 2]


@row("`OneVsRestClassifier.partial_fit` with new classes")
def _() -> None:
    model = OneVsRestClassifier(make_learner("slda")).partial_fit(X[:60], Y[:60], classes=[0, 1])
    with pytest.raises(ValueError, match="must be subset"):
        model.partial_fit(X[60:], Y[60:])
    assert make_learner("slda").partial_fit(X[:60], Y[:60]).partial_fit(X[60:], Y[60:]).score(X, Y) > 0.9


@row("`RFE`, `SelectFromModel`")
def _() -> None:
    for selector in (RFE(make_learner("slda")), SelectFromModel(make_learner("slda"))):
        with pytest.raises((ValueError, AttributeError), match=r"coef_|importance"):
            selector.fit(X, Y).transform(X)
    assert SelectFromModel(LogisticRegression(max_iter=1000)).fit(X, Y).transform(X).shape[1] < 4


@row("Sparse matrices")
def _() -> None:
    table: Any = sparse.csr_matrix(X)
    with pytest.raises(TypeError, match="dense data is required"):
        make_learner("slda").fit(table, Y)


@row("Missing values")
def _() -> None:
    holes = X.copy()
    holes[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        make_learner("slda").fit(holes, Y)


@row("Several labels per sample")
def _() -> None:
    with pytest.raises(ValueError, match="1d array"):
        make_learner("slda").fit(X, np.eye(3, dtype=int)[Y])


# -- the page ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", TEST_OF)
def test_the_row_is_true(what: str) -> None:
    TEST_OF[what]()


def test_the_page_has_these_rows() -> None:
    text = PAGE.read_text(encoding="utf-8")
    section = text.split("## scikit-learn", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (.+?) \| (?:yes|no) \|", section, flags=re.MULTILINE)
    assert rows == list(TEST_OF)
