"""Every learner is a scikit-learn estimator, by scikit-learn's own checks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from i2cansay import I2CANSAY, LEARNERS, load, make_learner
from i2cansay.learners.base import WEIGHTS_ARE_NOT_COPIES
from i2cansay.testing import small_learner


@pytest.mark.parametrize("name", LEARNERS)
def test_check_estimator(name: str) -> None:
    learner = small_learner(name)
    results = check_estimator(learner, on_fail=None, on_skip=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    excused = learner.expected_failed_checks
    unexcused = {check: str(error) for check, error in failed.items() if check not in excused}
    assert not unexcused
    if excused == WEIGHTS_ARE_NOT_COPIES:  # what rounding decides differs between BLAS kernels
        assert failed.keys() == excused.keys(), "an expected failure has gone: take it off the list"
    assert sum(result["status"] == "passed" for result in results) > 50  # the checks did run


def test_the_method_itself_needs_no_other_excuse() -> None:
    assert I2CANSAY.expected_failed_checks == WEIGHTS_ARE_NOT_COPIES


# -- weights ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_fit_with_weights_leaves_out_what_has_none(name: str) -> None:
    X, y = load_iris(return_X_y=True)
    weights = np.where(y == 2, 0.0, 0.5)
    model = small_learner(name).fit(X, y, sample_weight=weights)
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("name", ["ncm", "slda", "ridge", "gaussian_nb"])
def test_weights_in_fit_are_those_of_partial_fit(name: str) -> None:
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).random(len(X)) + 0.1
    scores = make_learner(name).fit(X, y, weights).class_scores(X)
    np.testing.assert_allclose(scores, make_learner(name).partial_fit(X, y, None, weights).class_scores(X))
    assert not np.allclose(scores, make_learner(name).fit(X, y).class_scores(X))


def test_later_epochs_weigh_as_the_first() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="every sample has a weight of zero"):
        I2CANSAY().fit(X, y, np.zeros(len(X)))
    heads = []
    for others in (0.0, 1e-9, 1.0):  # next to nothing is as nothing
        weights = np.where(np.arange(len(X)) % 2, others, 1.0)
        model = I2CANSAY(epochs=3, batch_size=len(X), pseudo=None, random_state=0).fit(X, y, weights)
        heads.append(model.state()["head.weights"][np.argsort(model._labels.arrived())])
    np.testing.assert_allclose(heads[0], heads[1], atol=1e-6)
    assert not np.allclose(heads[0], heads[2], atol=1e-3)


@pytest.mark.parametrize("name", ["i2cansay", "slda", "ncm"])
def test_adaboost_takes_our_estimators(name: str) -> None:
    X, y = load_iris(return_X_y=True)
    boosted = AdaBoostClassifier(make_learner(name), n_estimators=3, random_state=0).fit(X, y)
    assert boosted.score(X, y) > 0.8


def test_weights_are_routed_through_a_pipeline() -> None:
    X, y = load_iris(return_X_y=True)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_learner("slda").set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model).fit(X, y, sample_weight=np.where(y == 2, 0.0, 1.0))
        assert pipeline.classes_.tolist() == [0, 1]
        # Not of the pipeline: scikit-learn 1.6 does not route weights to the score of one.
        found = cross_validate(model, X, y, params={"sample_weight": np.ones(len(X))})
        assert found["test_score"].mean() > 0.9


# -- labels -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_float_labels_come_back_as_floats(name: str, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    model = small_learner(name).fit(X, y.astype(np.float64))
    model.save(tmp_path / "model")
    for again in (model, load(tmp_path / "model")):
        assert again.classes_.dtype == again.predict(X).dtype == np.float64
        assert again.classes_.tolist() == [0.0, 1.0, 2.0]
    model.partial_fit(X[:3], [0, 1, 3])  # whole numbers join, and come back as the others do
    assert model.classes_.dtype == np.float64
    assert model.forget(3).rename(2.0, 5).classes_.tolist() == [0.0, 1.0, 5.0]


def test_whole_numbers_stay_so_when_floats_join() -> None:
    model = make_learner("ncm").partial_fit([[0.0], [1.0]], [0, 1]).partial_fit([[2.0], [1.0]], [2.0, 1.0])
    assert model.classes_.dtype == np.int64
    assert model.classes_.tolist() == [0, 1, 2]


def test_continuous_targets_are_refused() -> None:
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        make_learner("ncm").fit([[0.0], [1.0]], [0.5, 1.0])


@pytest.mark.parametrize(
    ("labels", "unknown"), [(["a", "b"], "unknown"), ([0, 1], -1), ([0.0, 1.0], -1), ([0, 1], -1.0)]
)
def test_unknown_has_a_value_that_metrics_can_count(labels: list[Any], unknown: Any) -> None:
    X = np.array([[0.0], [2.0], [10.0], [12.0]])
    y = np.array([labels[0], labels[0], labels[1], labels[1]])
    model = make_learner("slda").partial_fit(X, y).partial_fit(X, y)
    asked, truth = [[1.0], [6.0], [11.0]], [labels[0], labels[1], labels[1]]
    found = model.predict(asked, reject_below=0.9, unknown=unknown)
    assert found.tolist() == [labels[0], unknown, labels[1]]
    assert found.dtype.kind == model.classes_.dtype.kind
    assert accuracy_score(truth, found) == pytest.approx(2 / 3)
    assert confusion_matrix(truth, found, labels=model.classes_).sum() == 2
    assert model.predict(asked, reject_below=0.9).tolist() == [labels[0], None, labels[1]]
    with pytest.raises(ValueError, match="is one"):
        model.predict(asked, reject_below=0.9, unknown=labels[0])
    with pytest.raises(ValueError, match="use one type of label"):
        model.predict(asked, reject_below=0.9, unknown=True)


# -- images -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "images",
    [
        np.zeros((2, 8, 8, 3)),
        np.zeros((2, 8, 8)),
        [np.zeros((8, 8, 3)), np.zeros((8, 8, 3))],
        ["cat.jpg", "dog.jpg"],
        np.array(["cat.jpg", "dog.jpg"]),
        [Path("cat.jpg"), Path("dog.jpg")],
        [b"GIF89a", b"GIF89a"],
        "cat.jpg",
    ],
)
@pytest.mark.parametrize("name", ["i2cansay", "slda"])
def test_images_are_sent_to_the_image_learner(name: str, images: Any) -> None:
    taught = make_learner(name).fit([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
    for call in (
        lambda: make_learner(name).fit(images, ["a", "b"]),
        lambda: make_learner(name).partial_fit(images, ["a", "b"]),
        lambda: taught.predict(images),
    ):
        with pytest.raises(ValueError, match=r"features, \(n, d\).*use ImageLearner"):
            call()
