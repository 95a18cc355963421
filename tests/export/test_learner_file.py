"""Learners as ONNX files answer as they do in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from sklearn.exceptions import NotFittedError

import i2cansay
from i2cansay import I2CANSAY, SharedI2CANSAY
from i2cansay.encoders.graph_nodes import GraphNodes
from i2cansay.export import learner_file
from i2cansay.export.step_writer import StepWriter
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.decision.steps import Given
from tests.export.taught import OPTIONS, samples, taught


def answers(path: Path, X: Any, given: str = "features") -> dict[str, Any]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {given: X}), strict=True))


def margin_to_thresholds(learner: OnlineClassifier, X: Any) -> Any:
    """Return how far each row is from where its verdict changes, (n,), relative to the numbers compared."""
    limits = learner.decision().thresholds
    p = learner.predict_proba(X).max(axis=1).clip(1e-12, 1 - 1e-12)
    odds = np.abs(np.log(p / (1 - p)) - limits.least_odds)
    assert isinstance(learner, I2CANSAY | SharedI2CANSAY)
    novelty = np.abs(learner.novelty(X) - limits.least_novelty)
    return np.minimum(odds, novelty)


@pytest.mark.parametrize(("name", "parameters"), OPTIONS, ids=str)
def test_the_file_answers_as_the_learner_does(name: str, parameters: dict[str, Any], tmp_path: Path) -> None:
    learner = taught(name, parameters)
    X = np.concatenate([samples(80, seed=9)[0], 3 * samples(20, seed=10)[0]])
    learner.to_onnx(tmp_path / "model.onnx")
    found = answers(tmp_path / "model.onnx", X)
    probabilities = learner.predict_proba(X)
    clear = np.diff(np.sort(probabilities, axis=1)[:, -2:], axis=1)[:, 0] > 1e-4
    assert clear.sum() > 80
    np.testing.assert_array_equal(found["label"][clear], learner.predict(X)[clear])
    largest = probabilities.max(axis=1, keepdims=True)
    assert (np.abs(found["probabilities"] - probabilities) / largest).max() < 1e-4
    assert isinstance(learner, I2CANSAY | SharedI2CANSAY)
    novelty = learner.novelty(X)
    np.testing.assert_allclose(found["novelty"], novelty, atol=1e-4 * np.abs(novelty).max())
    far = margin_to_thresholds(learner, X) > 1e-3
    verdicts = learner.verdicts(X)
    np.testing.assert_array_equal(found["verdict"][far], verdicts[far])
    assert len(set(verdicts[far])) > 1  # more than one verdict is compared


def test_near_and_far_from_the_origin_and_on_a_prototype(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for distance in ("euclidean", "squared", "absolute"):
        X = (rng.normal(size=(12, 6)) + 1000).astype(np.float32)
        learner = I2CANSAY(distance=distance).partial_fit(X, np.arange(12))
        learner.to_onnx(tmp_path / "model.onnx")
        found = answers(tmp_path / "model.onnx", X)
        assert found["label"].tolist() == list(range(12))  # each is the one sample of its class
        np.testing.assert_allclose(found["probabilities"], learner.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize(
    "labels", [["a", "Größe", "日本"], [3, -7, 2**60], [True, False, True], [1.0, 2.0, 3.0]], ids=str
)
def test_labels_of_every_kind(labels: list[Any], tmp_path: Path) -> None:
    X = np.eye(3, dtype=np.float32) * 10
    learner = I2CANSAY().partial_fit(np.concatenate([X, X]), labels * 2)
    learner.to_onnx(tmp_path / "model.onnx")
    found = answers(tmp_path / "model.onnx", X)
    assert found["label"].tolist() == learner.predict(X).tolist()


def test_a_single_class_is_never_sure_and_has_no_novelty(tmp_path: Path) -> None:
    X = np.eye(3, dtype=np.float32)
    for learner in (I2CANSAY(), SharedI2CANSAY(lift=0)):
        learner.partial_fit(X, ["one"] * 3).to_onnx(tmp_path / "model.onnx")
        found = answers(tmp_path / "model.onnx", X)
        assert sorted(found) == ["label", "probabilities", "verdict"]
        assert found["label"].tolist() == ["one"] * 3
        assert found["verdict"].tolist() == ["unsure"] * 3
        assert found["probabilities"].tolist() == [[1.0]] * 3


def test_the_error_rates_are_fixed_in_the_file(tmp_path: Path) -> None:
    learner, (X, _) = taught("i2cansay_shared", {"lift": 0}), samples(200, seed=4)
    learner.to_onnx(tmp_path / "model.onnx", error=0.3, new_error=0.3)
    found, expected = answers(tmp_path / "model.onnx", X)["verdict"], learner.verdicts(X, 0.3, 0.3)
    assert (found == expected).mean() > 0.99
    assert (expected != learner.verdicts(X)).any()


def test_the_metadata_say_what_it_is(tmp_path: Path) -> None:
    learner = taught("i2cansay_shared", {"lift": 0, "blocks": (10, 14)})
    learner.save(tmp_path / "model.i2cs")
    learner.to_onnx(tmp_path / "model.onnx", error=0.02, new_error=0.1)
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    about = session.get_modelmeta().custom_metadata_map
    assert json.loads(about["labels"]) == learner.classes_.tolist()
    assert (about["error"], about["new_error"], about["samples"]) == ("0.02", "0.1", "600")
    assert (about["learner"], about["i2cansay"]) == ("i2cansay_shared", i2cansay.__version__)
    assert json.loads(about["parameters"])["blocks"] == [10, 14]
    assert about["input"] == "features: float32, n x 24"
    assert about["checksum"].encode() in (tmp_path / "model.i2cs").read_bytes()


def test_the_same_model_makes_the_same_file_and_a_taught_one_another(tmp_path: Path) -> None:
    learner = taught("i2cansay", {})
    learner.to_onnx(tmp_path / "first.onnx")
    learner.to_onnx(tmp_path / "second.onnx")
    first = (tmp_path / "first.onnx").read_bytes()
    assert (tmp_path / "second.onnx").read_bytes() == first
    learner.partial_fit(*samples(20, seed=6)).to_onnx(tmp_path / "second.onnx")
    assert (tmp_path / "second.onnx").read_bytes() != first


def test_what_cannot_be_exported_leaves_nothing_behind(tmp_path: Path) -> None:
    taught_one, target = taught("i2cansay", {}), tmp_path / "model.onnx"
    target.write_bytes(b"what was there")
    with pytest.raises(NotFittedError, match="teach it"):
        I2CANSAY().to_onnx(target)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        taught_one.to_onnx(tmp_path / "nowhere" / "model.onnx")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        taught_one.to_onnx(tmp_path)
    with pytest.raises(ValueError, match="new_error must be a share"):
        taught_one.to_onnx(target, new_error=2)
    forgotten = I2CANSAY().partial_fit([[1.0]], ["one"]).forget("one")
    with pytest.raises(ValueError, match="every class has been forgotten"):
        forgotten.to_onnx(target)
    with pytest.raises(ValueError, match="momentum changed after learning began"):
        taught("i2cansay", {}).set_params(momentum=0.5).to_onnx(target)
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]
    assert target.read_bytes() == b"what was there"


def test_a_file_that_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = taught("i2cansay", {})
    monkeypatch.setattr(learner_file, "LARGEST", 1000)
    with pytest.raises(ValueError, match=r"an ONNX file ends at 2\.1; a smaller lift or width"):
        learner.to_onnx(tmp_path / "model.onnx")
    monkeypatch.undo()

    def full(self: Path, target: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        learner.to_onnx(tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_numbers_beyond_single_precision_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit into single precision"):
        StepWriter(GraphNodes(), "features").write(Given() * 1e300)


def test_without_onnx_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(
        ImportError, match=r'exporting needs the package onnx: pip install "i2cansay\[export\]"'
    ):
        taught("i2cansay", {}, n=40).to_onnx(tmp_path / "model.onnx")
