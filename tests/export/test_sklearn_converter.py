"""Pipelines through skl2onnx; needs the extra [export-test]."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from i2cansay.export import sklearn_converter
from i2cansay.export.sklearn_converter import register_converters
from i2cansay.learners import make_learner
from tests.export.taught import samples

LEARNERS: list[tuple[str, dict[str, Any]]] = [("i2cansay", {}), ("i2cansay_shared", {"lift": 20})]


@pytest.mark.parametrize("opset", [13, 17, None])
@pytest.mark.parametrize("strings", [True, False])
@pytest.mark.parametrize(("name", "parameters"), LEARNERS, ids=str)
def test_a_pipeline_answers_as_in_python(
    name: str, parameters: dict[str, Any], strings: bool, opset: int | None
) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    register_converters()
    X, y = samples(300)
    labels = y if strings else np.unique(y, return_inverse=True)[1]
    pipeline = make_pipeline(StandardScaler(), make_learner(name, random_state=0, **parameters))
    pipeline.fit(X, labels)
    model = skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False}, target_opset=opset)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    label, probabilities = session.run(None, {"X": X})
    np.testing.assert_array_equal(label, pipeline.predict(X))
    np.testing.assert_allclose(probabilities, pipeline.predict_proba(X), atol=1e-4)


def test_probabilities_by_label() -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    register_converters()
    X, y = samples(200)
    learner = make_learner("i2cansay", random_state=0).partial_fit(X, y)
    model = skl2onnx.to_onnx(learner, X[:1])
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    _, (found,) = session.run(None, {"X": X[:1]})
    expected = dict(zip(learner.classes_.tolist(), learner.predict_proba(X[:1])[0], strict=True))
    assert found == pytest.approx(expected, abs=1e-4)


def test_double_precision_is_taken_and_given() -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    register_converters()
    X, y = samples(200)
    learner = make_learner("i2cansay", random_state=0).partial_fit(X, y)
    model = skl2onnx.to_onnx(learner, X[:1].astype(np.float64), options={"zipmap": False})
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    _, probabilities = session.run(None, {"X": X.astype(np.float64)})
    assert probabilities.dtype == np.float64
    np.testing.assert_allclose(probabilities, learner.predict_proba(X), atol=1e-4)


def test_places_in_place_of_labels() -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    register_converters()
    X, y = samples(200)
    learner = make_learner("i2cansay", random_state=0).partial_fit(X, y)
    model = skl2onnx.to_onnx(learner, X[:1], options={"zipmap": False, "nocl": True})
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    places, _ = session.run(None, {"X": X})
    np.testing.assert_array_equal(learner.classes_[places], learner.predict(X))


def test_without_skl2onnx_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "skl2onnx", None)
    with pytest.raises(
        ImportError, match="exporting a pipeline needs the package skl2onnx: pip install skl2onnx"
    ):
        register_converters()


def test_every_learner_that_describes_its_decision_is_registered() -> None:
    from i2cansay.learners import LEARNERS, learner_class
    from i2cansay.learners.predicting import Predictor

    describing = {
        name for name in LEARNERS if learner_class(name)._decision_steps is not Predictor._decision_steps
    }
    assert describing == set(sklearn_converter.OURS)
