"""A user's own ONNX file with its TOML file."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, load, numpy_helper, save

from i2cansay.encoders import get_encoder
from i2cansay.encoders.added import add_encoder
from i2cansay.encoders.device import PROVIDERS

IMAGES = list(np.random.default_rng(0).integers(0, 256, (5, 20, 20, 3), dtype=np.uint8))
DESCRIPTION = """
size = 10
resize = 12
interpolation = "bilinear"
mean = [0.5, 0.4, 0.3]
std = [0.2, 0.3, 0.4]
pool = "mean"
"""


def mean_colour(
    path: Path, *, shape: list[Any], kind: int = TensorProto.FLOAT, text: str = DESCRIPTION
) -> Path:
    """Write a graph that gives back its input, as maps to be averaged."""
    node = helper.make_node("Identity", ["x"], ["y"])
    values = [helper.make_tensor_value_info(name, kind, shape) for name in ("x", "y")]
    graph = helper.make_graph([node], "identity", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    path.with_suffix(".toml").write_text(text)
    return path


@pytest.mark.parametrize("batch", ["n", 1, 4])
@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.FLOAT16])
def test_the_graph_sees_normalised_pixels(batch: int | str, kind: int, tmp_path: Path) -> None:
    path = mean_colour(tmp_path / "colour.onnx", shape=[batch, 3, 10, 10], kind=kind)
    encoder = get_encoder(path)
    assert (encoder.name, encoder.dim, encoder.preprocessing.resize) == ("colour", 3, 12)
    squares = np.stack([encoder.prepare(image) for image in IMAGES])
    expected = (squares.mean(axis=(1, 2)) / 255 - [0.5, 0.4, 0.3]) / [0.2, 0.3, 0.4]
    assert np.allclose(encoder.encode(IMAGES), expected, atol=1e-2 if kind == TensorProto.FLOAT16 else 1e-5)


def test_channels_last(tmp_path: Path) -> None:
    node = helper.make_node("ReduceMean", ["x"], ["y"], axes=[1, 2], keepdims=0)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 10, 10, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])
    graph = helper.make_graph([node], "colour", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "last.onnx").write_bytes(model.SerializeToString())
    (tmp_path / "last.toml").write_text(DESCRIPTION.replace('pool = "mean"', 'layout = "nhwc"'))
    first = get_encoder(mean_colour(tmp_path / "first.onnx", shape=["n", 3, 10, 10]))
    last = get_encoder(tmp_path / "last.onnx")
    assert np.allclose(last.encode(IMAGES), first.encode(IMAGES), atol=1e-5)


def test_size_may_change_where_the_graph_allows_it(tmp_path: Path) -> None:
    free = mean_colour(tmp_path / "free.onnx", shape=["n", 3, "h", "w"])
    fixed = mean_colour(tmp_path / "fixed.onnx", shape=["n", 3, 10, 10])
    assert get_encoder(free, size=20).encode(IMAGES).shape == (5, 3)
    with pytest.raises(ValueError, match=r"fixed.onnx cannot be run at 20 px"):
        get_encoder(fixed, size=20)


def test_a_device_that_is_not_there_is_no_fault_of_the_file(tmp_path: Path) -> None:
    path = mean_colour(tmp_path / "colour.onnx", shape=["n", 3, 10, 10])
    with pytest.raises(ValueError, match=r"^there is no device 'abacus' here"):
        get_encoder(path, device="abacus")


def test_a_device_that_does_not_start_is_no_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = mean_colour(tmp_path / "colour.onnx", shape=["n", 3, 10, 10])
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: list(PROVIDERS.values()))
    session = SimpleNamespace(get_providers=lambda: [PROVIDERS["cpu"]])
    monkeypatch.setattr(onnxruntime, "InferenceSession", lambda *arguments, **options: session)
    with pytest.raises(ValueError, match=r"^the device 'cuda' could not be started"):
        get_encoder(path, device="cuda")


def test_the_fingerprint_follows_file_and_description(tmp_path: Path) -> None:
    shape = ["n", 3, "h", "w"]
    one = get_encoder(mean_colour(tmp_path / "one.onnx", shape=shape)).fingerprint
    two = get_encoder(mean_colour(tmp_path / "two.onnx", shape=shape)).fingerprint
    text = DESCRIPTION.replace("0.5", "0.6")
    three = get_encoder(mean_colour(tmp_path / "three.onnx", shape=shape, text=text)).fingerprint
    assert one == two != three


def test_what_is_missing_or_wrong_is_said(tmp_path: Path) -> None:
    path = mean_colour(tmp_path / "a.onnx", shape=["n", 3, 10, 10])
    path.with_suffix(".toml").unlink()
    with pytest.raises(FileNotFoundError, match=r"expected .*a.toml beside the ONNX file"):
        get_encoder(path)
    path.with_suffix(".toml").write_text("size = [")
    with pytest.raises(ValueError, match=r"a.toml: "):
        get_encoder(path)
    path.with_suffix(".toml").write_text(DESCRIPTION)
    path.write_bytes(b"not a graph")
    with pytest.raises(ValueError, match=r"a.onnx cannot be run"):
        get_encoder(path)
    with pytest.raises(FileNotFoundError):
        get_encoder(tmp_path / "missing.onnx")
    with pytest.raises(ValueError, match="leave out weights="):
        get_encoder(path, weights="a.pth")
    whole = mean_colour(tmp_path / "whole.onnx", shape=["n", 3, 10, 10], kind=TensorProto.INT64)
    with pytest.raises(ValueError, match=r"int64"):
        get_encoder(whole)


STAGES = """
output = "twice"
[[stages]]
output = "x2"
pool = "mean"
scale = 0.5
[[stages]]
output = "tokens"
pool = "first-token"
[[stages]]
output = "tokens"
pool = "mean-tokens"
"""


def several_outputs(path: Path, text: str = STAGES) -> Path:
    """Write a graph over x (n, 3, 10, 10) with the outputs x2 (n, 3, 10, 10), tokens (n, 3, 100), twice (n, 3)."""
    shape = numpy_helper.from_array(np.array([0, 3, 100]), "shape")
    nodes = [
        helper.make_node("Add", ["x", "x"], ["x2"]),
        helper.make_node("Reshape", ["x", "shape"], ["tokens"]),
        helper.make_node("ReduceMean", ["x2"], ["twice"], axes=[2, 3], keepdims=0),
    ]
    shapes = {"x": [3, 10, 10], "x2": [3, 10, 10], "tokens": [3, 100], "twice": [3]}
    x, *outputs = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", *sides])
        for name, sides in shapes.items()
    )
    graph = helper.make_graph(nodes, "several", [x], outputs, [shape])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    path.with_suffix(".toml").write_text("size = 10\n" + text)
    return path


def test_several_outputs_are_put_beside_each_other(tmp_path: Path) -> None:
    path = several_outputs(tmp_path / "mine.onnx")
    last, stages = get_encoder(path), get_encoder(f"{path}+stages")
    assert (last.name, stages.name) == ("mine", "mine+stages")
    assert [(block.name, block.width) for block in stages.blocks] == [
        ("last", 3),
        ("x2.mean", 3),
        ("tokens.first-token", 100),
        ("tokens.mean-tokens", 100),
    ]
    features = stages.encode(IMAGES)
    assert np.array_equal(features[:, :3], last.encode(IMAGES))
    seen = stages.preprocessing.normalise(np.stack([stages.prepare(image) for image in IMAGES]))
    maps = seen.transpose(0, 3, 1, 2).reshape(-1, 3, 100)
    expected = np.hstack([2 * maps.mean(axis=2), maps.mean(axis=2), maps[:, 0], maps.mean(axis=1)])
    assert np.allclose(features, expected, atol=1e-5)
    assert last.fingerprint == stages.last_fingerprint != stages.fingerprint


def test_wrong_stages_of_a_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"mine.toml names no stages"):
        get_encoder(several_outputs(tmp_path / "mine.onnx", 'output = "twice"'), features="stages")
    path = several_outputs(tmp_path / "mine.onnx", STAGES.replace("tokens", "gone", 1))
    with pytest.raises(ValueError, match=r"no output 'gone'; it has x2, tokens, twice"):
        get_encoder(path, features="stages")
    path = several_outputs(tmp_path / "mine.onnx", STAGES.replace('pool = "mean"\n', "", 1))
    with pytest.raises(ValueError, match=r"output 'x2' has shape .* set pool"):
        get_encoder(path, features="stages")
    path = several_outputs(tmp_path / "mine.onnx", STAGES.replace("mean-tokens", "first-token"))
    with pytest.raises(ValueError, match="every stage once"):
        get_encoder(path, features="stages")


def test_an_added_file_keeps_its_stages(tmp_path: Path, empty_cache: Path) -> None:
    path = several_outputs(tmp_path / "mine.onnx")
    add_encoder("ours", path)
    before, after = get_encoder(f"{path}+stages"), get_encoder("ours+stages")
    assert after.blocks == before.blocks
    assert np.array_equal(after.encode(IMAGES), before.encode(IMAGES))
    path.with_suffix(".toml").write_text("size = 10\n" + STAGES.replace('"x2"', '"gone"'))
    with pytest.raises(ValueError, match=r"mine.onnx cannot be run at 10 px: the graph has no output 'gone'"):
        add_encoder("theirs", path)


def with_weights_elsewhere(path: Path, *, inside: str = "initializer") -> Path:
    """Write a graph whose one weight lies in the file elsewhere.data."""
    weight = numpy_helper.from_array(np.ones((2, 3, 1, 1), np.float32), "w")
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", width, 10, 10])
        for name, width in (("x", 3), ("y", 2))
    )
    nodes, initializers = [helper.make_node("Conv", ["x", "w"], ["y"])], [weight]
    if inside == "constant":
        nodes, initializers = [helper.make_node("Constant", [], ["w"], value=weight), *nodes], []
    graph = helper.make_graph(nodes, "convolution", [x], [y], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    save(
        model,
        path,
        save_as_external_data=True,
        location="elsewhere.data",
        size_threshold=0,
        convert_attribute=True,
    )
    path.with_suffix(".toml").write_text(DESCRIPTION)
    return path


@pytest.mark.parametrize("inside", ["initializer", "constant"])
def test_weights_in_another_file_are_refused(inside: str, tmp_path: Path) -> None:
    """The fingerprint would not see them change."""
    path = with_weights_elsewhere(tmp_path / "split.onnx", inside=inside)
    assert (tmp_path / "elsewhere.data").is_file()
    with pytest.raises(ValueError, match=r"split.onnx keeps weights in other files \(elsewhere.data\)"):
        get_encoder(path)
    # The sentence's own advice helps.
    save(load(path), tmp_path / "whole.onnx")
    (tmp_path / "elsewhere.data").unlink()
    (tmp_path / "whole.toml").write_text(DESCRIPTION)
    assert get_encoder(tmp_path / "whole.onnx").dim == 2
