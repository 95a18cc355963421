"""An encoder and a learner as one ONNX file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper
from sklearn.exceptions import NotFittedError

from i2cansay.encoders.encoder import Encoder
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.image_learner import ImageLearner
from tests.encoders.test_onnx_file import mean_colour
from tests.export.test_learner_file import answers
from tests.image_learner.images import small_images

TOKENS = """
size = 6
layout = "nhwc"
mean = [0.5, 0.4, 0.3]
std = [0.2, 0.3, 0.4]
pool = "mean-tokens"
[[stages]]
output = "y"
pool = "first-token"
scale = 2.0
"""


def taught(encoder: Any, learner: str) -> ImageLearner:
    model = ImageLearner(encoder, learner)
    for seed in range(8):
        model.learn(*small_images(9, seed))
    return model


def assert_same(model: ImageLearner, path: Path) -> None:
    images, _ = small_images(12, 99)
    squares = np.stack([model.encoder.prepare(image) for image in images])
    found = answers(path, squares, "pixels")
    assert found["label"].tolist() == model.predict(images).tolist()
    assert found["verdict"].tolist() == model.verdicts(images).tolist()
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(images), atol=1e-4)


@pytest.mark.parametrize(
    ("encoder", "learner"),
    [
        ("pixels", "best"),
        ("pixels+mirror", "paper"),
        ("efficientnet-lite0@64", "paper"),
        ("efficientnet-lite0+stages@64", "small"),
        ("efficientnet-lite0+stages+mirror@64", "best"),
    ],
)
def test_pixels_in_labels_out(encoder: str, learner: str, tmp_path: Path) -> None:
    model = taught(encoder, learner)
    model.to_onnx(tmp_path / "model.onnx")
    assert_same(model, tmp_path / "model.onnx")


@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.DOUBLE])
def test_an_encoder_of_ones_own(kind: int, tmp_path: Path) -> None:
    path = mean_colour(tmp_path / "own.onnx", shape=["n", 3, "h", "w"], kind=kind)
    model = taught(path, "paper")
    model.to_onnx(tmp_path / "model.onnx")
    assert_same(model, tmp_path / "model.onnx")


def test_an_encoder_of_an_old_opset_with_channels_last_and_tokens(tmp_path: Path) -> None:
    path = tmp_path / "own.onnx"
    shape = helper.make_tensor("shape", TensorProto.INT64, [3], [-1, 36, 3])
    node = helper.make_node("Reshape", ["x", "shape"], ["y"])
    graph = helper.make_graph(
        [node],
        "tokens",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 6, 6, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 36, 3])],
        [shape],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=6)
    path.write_bytes(model.SerializeToString())
    path.with_suffix(".toml").write_text(TOKENS)
    learner = taught(f"{path}+stages", "best")
    learner.to_onnx(tmp_path / "model.onnx")
    assert_same(learner, tmp_path / "model.onnx")


def test_without_the_encoder_it_takes_features(tmp_path: Path) -> None:
    model = taught("pixels", "paper")
    model.to_onnx(tmp_path / "model.onnx", with_encoder=False)
    images, _ = small_images(12, 99)
    found = answers(tmp_path / "model.onnx", model.encoder.encode(images))
    assert found["label"].tolist() == model.predict(images).tolist()


def test_the_metadata_name_the_encoder_and_how_images_become_squares(tmp_path: Path) -> None:
    model = taught("pixels@5", "paper")
    model.to_onnx(tmp_path / "model.onnx")
    model.save(tmp_path / "model.i2cs")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    about = session.get_modelmeta().custom_metadata_map
    assert (about["encoder"], about["encoder_size"]) == ("pixels", "5")
    assert about["encoder_fingerprint"] == model.encoder.fingerprint
    assert json.loads(about["preprocessing"])["interpolation"] == "bilinear"
    assert about["input"].startswith("pixels: uint8, n x 5 x 5 x 3")
    assert about["checksum"].encode() in (tmp_path / "model.i2cs").read_bytes()
    assert session.get_inputs()[0].shape == ["n", 5, 5, 3]


@dataclass
class OwnCode:
    """A network that no graph is known of."""

    dim: int = 3

    def __call__(self, squares: Any, *, threads: int) -> Any:
        return squares.mean(axis=(1, 2)).astype(np.float32)


def test_what_cannot_be_exported_says_so_and_leaves_nothing_behind(tmp_path: Path) -> None:
    own = Encoder("own", model=OwnCode(), preprocessing=Preprocessing(size=8, resize=8), fingerprint="0")
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(ValueError, match="the encoder own runs code of its own"):
        taught(own, "paper").to_onnx(out / "model.onnx")
    fixed = mean_colour(tmp_path / "fixed.onnx", shape=[4, 3, 10, 10])
    with pytest.raises(ValueError, match="takes 4 images at a time, expected any number"):
        taught(fixed, "paper").to_onnx(out / "model.onnx")
    with pytest.raises(NotFittedError, match="knows no class yet"):
        ImageLearner("pixels").to_onnx(out / "model.onnx")
    with pytest.raises(ValueError, match="NearestClassMean cannot be exported"):
        taught("pixels", "ncm").to_onnx(out / "model.onnx")
    assert list(out.iterdir()) == []
