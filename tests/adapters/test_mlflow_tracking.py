"""MLflow keeps the figures and the learner, and gives both back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.adapters.mlflow_tracking import MlflowTracker, log_learner
from i2cansay.evaluate import accuracy_curve, last_accuracy
from i2cansay.learners import make_learner
from tests.adapters.plays import X, Y, played

mlflow: Any = pytest.importorskip("mlflow")
pytest.importorskip("skops")
pytestmark = [
    pytest.mark.adapters,
    # MLflow warns of its own code when it is imported.
    pytest.mark.filterwarnings("ignore:.*Any type hint is inferred as AnyType:UserWarning"),
]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep runs in a folder: a database needs packages that mlflow-skinny leaves out."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield
    mlflow.set_tracking_uri(before)


def test_facts_are_parameters_and_figures_are_metrics() -> None:
    with mlflow.start_run() as run:
        outcome = played(MlflowTracker())
    client = mlflow.MlflowClient()
    found = client.get_run(run.info.run_id).data
    assert found.params["learner"] == "NearestClassMean"
    assert found.params["metric"] == "cosine"
    assert found.params["stream.seed"] == "3"
    assert found.metrics["end.last"] == pytest.approx(last_accuracy(outcome))
    history = client.get_metric_history(run.info.run_id, "accuracy")
    assert [point.step for point in history] == [checkpoint.samples for checkpoint in outcome.checkpoints]
    assert [point.value for point in history] == pytest.approx(accuracy_curve(outcome))


def test_without_a_run_nothing_is_started() -> None:
    with pytest.raises(ValueError, match="expected an active MLflow run"):
        played(MlflowTracker())
    assert mlflow.active_run() is None


@pytest.mark.parametrize("name", ["best", "i2cansay", "ncm"])
def test_a_learner_comes_back_and_goes_on(name: str) -> None:
    learner = make_learner(name, **({} if name == "ncm" else {"random_state": 0}))
    learner.partial_fit(X[:60], Y[:60])
    with mlflow.start_run():
        saved = log_learner(learner)
    again = mlflow.sklearn.load_model(saved.model_uri)
    for model in (learner, again):
        model.partial_fit(X[60:], Y[60:] + 1)
    np.testing.assert_array_equal(again.predict_proba(X), learner.predict_proba(X))
    assert again.classes_.tolist() == [0, 1, 2, 3, 4]


def test_what_is_saved_is_no_pickle_and_lists_what_it_needs() -> None:
    with mlflow.start_run():
        saved = log_learner(make_learner("ncm").fit(X, Y))
    folder = Path(mlflow.artifacts.download_artifacts(saved.model_uri))
    assert (folder / "model.skops").exists()
    assert not list(folder.rglob("*.pkl"))
    listed = (folder / "requirements.txt").read_text()
    assert "i2cansay==" in listed
    assert "torch" not in listed
    served = mlflow.pyfunc.load_model(saved.model_uri)
    assert (served.predict(X) == make_learner("ncm").fit(X, Y).predict(X)).all()


def test_mlflow_left_to_itself_asks_for_the_one_type(tmp_path: Path) -> None:
    learner = make_learner("best").fit(X, Y)
    with pytest.raises(Exception, match=r"\['i2cansay\.learners\.shared\.shared_i2cansay\.SharedI2CANSAY'\]"):
        mlflow.sklearn.save_model(learner, tmp_path / "model")
