"""Stages: blocks beside the last layer, from one forward pass, in the order of the recipe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import helper

from i2cansay.encoders import get_encoder
from i2cansay.encoders.checkpoint import Weights
from i2cansay.encoders.efficientnet import EFFICIENTNET_LITE0, build_efficientnet_lite
from i2cansay.encoders.graph import Graph
from i2cansay.encoders.onnx_session import OnnxSession
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.stages import Block, Stage, StageError, as_stages

LOOKING = Preprocessing(size=32, resize=32)
IMAGES = list(np.random.default_rng(0).integers(0, 256, (5, 40, 40, 3), dtype=np.uint8))


@pytest.fixture
def checkpoint(tmp_path: Path, random_efficientnet: Callable[..., Weights]) -> Path:
    np.savez(tmp_path / "narrow.npz", **random_efficientnet())  # type: ignore[arg-type]
    return tmp_path / "narrow.npz"


def encoded(checkpoint: Path, *stages: Stage) -> NDArray[np.float32]:
    recipe = replace(EFFICIENTNET_LITE0, stages=stages)
    features = "stages" if stages else "last"
    return recipe.open(weights=checkpoint, size=32, features=features).encode(IMAGES)


def test_the_first_block_is_the_last_layer_bit_for_bit(checkpoint: Path) -> None:
    last = encoded(checkpoint)
    both = encoded(checkpoint, Stage("block3.expansion", 3.0), Stage("block1.expansion"))
    assert both.shape[1] > last.shape[1]
    assert np.array_equal(both[:, : last.shape[1]], last)


def test_blocks_come_in_the_order_of_the_recipe_and_not_of_the_network(checkpoint: Path) -> None:
    recipe = replace(EFFICIENTNET_LITE0, stages=(Stage("block9.expansion"), Stage("block1.expansion")))
    encoder = recipe.open(weights=checkpoint, size=32, features="stages")
    # Six times the width that goes into the block
    assert encoder.blocks == (
        Block("last", 32),
        Block("block9.expansion", 84),
        Block("block1.expansion", 24),
    )
    assert encoder.dim == 32 + 84 + 24
    there = encoded(checkpoint, Stage("block9.expansion"), Stage("block1.expansion"))
    back = encoded(checkpoint, Stage("block1.expansion"), Stage("block9.expansion"))
    assert np.array_equal(there[:, 32:116], back[:, 56:])
    assert np.array_equal(there[:, 116:], back[:, 32:56])


def test_a_scale_multiplies_its_own_block_only(checkpoint: Path) -> None:
    names = "block9.expansion", "block1.expansion"
    plain = encoded(checkpoint, Stage(names[0]), Stage(names[1]))
    scaled = encoded(checkpoint, Stage(names[0], 4.0), Stage(names[1], 0.3))
    assert np.array_equal(scaled[:, :32], plain[:, :32])
    assert np.array_equal(scaled[:, 32:116], 4 * plain[:, 32:116])
    assert np.allclose(scaled[:, 116:], 0.3 * plain[:, 116:], rtol=1e-6)


def test_a_stage_is_the_mean_of_the_map_after_the_depthwise_convolution(
    random_efficientnet: Callable[..., Weights],
) -> None:
    """Read from the network without stages, whose own maps are made outputs and averaged outside of it."""
    weights = random_efficientnet()
    pixels = np.random.default_rng(1).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    plain = build_efficientnet_lite(weights, LOOKING)
    depthwise = [
        node.output[0]
        for node in plain.graph.node
        if any(attribute.name == "group" and attribute.i > 1 for attribute in node.attribute)
    ]
    activated = {node.input[0]: node.output[0] for node in plain.graph.node if node.op_type == "Clip"}
    assert len(depthwise) == 10
    names = [f"block{number}.expansion" for number in range(10)]
    plain.graph.output.extend(helper.make_empty_tensor_value_info(activated[each]) for each in depthwise)
    graph = plain.SerializeToString()
    expected = [OnnxSession(graph, output=activated[each], pool="mean").run(pixels) for each in depthwise]
    model = build_efficientnet_lite(weights, LOOKING, stages=names).SerializeToString()
    assert np.allclose(OnnxSession(model).run(pixels)[:, 32:], np.hstack(expected), atol=1e-5)


def test_the_default_encoder_reads_4256_features() -> None:
    encoder = get_encoder("efficientnet-lite0+stages")
    assert [block.width for block in encoder.blocks] == [1280, 1152, 1152, 672]
    assert (encoder.features, encoder.views, encoder.name) == (
        "stages",
        "single",
        "efficientnet-lite0+stages",
    )
    last = get_encoder("efficientnet-lite0")
    assert last.blocks == (Block("last", 1280),)
    assert np.array_equal(encoder.encode(IMAGES)[:, :1280], last.encode(IMAGES))


def test_fingerprints_follow_the_stages_their_order_and_scales(checkpoint: Path) -> None:
    choices = [
        (),
        (Stage("block1.expansion"),),
        (Stage("block1.expansion", 2.0),),
        (Stage("block2.expansion"),),
        (Stage("block1.expansion"), Stage("block2.expansion")),
        (Stage("block2.expansion"), Stage("block1.expansion")),
    ]
    encoders = [
        replace(EFFICIENTNET_LITE0, stages=stages).open(
            weights=checkpoint, size=32, features="stages" if stages else "last"
        )
        for stages in choices
    ]
    assert len({encoder.fingerprint for encoder in encoders}) == len(choices)
    assert {encoder.last_fingerprint for encoder in encoders} == {encoders[0].fingerprint}


def test_an_encoder_without_stages_says_so(checkpoint: Path) -> None:
    with pytest.raises(ValueError, match=r"efficientnet-lite0 names no stages, so that only its last layer"):
        replace(EFFICIENTNET_LITE0, stages=()).open(weights=checkpoint, features="stages")
    with pytest.raises(ValueError, match="pixels leaves no choice of features"):
        get_encoder("pixels+stages")
    with pytest.raises(ValueError, match="features is one of last, stages, pixels, got 'all'"):
        get_encoder("efficientnet-lite0", features="all")


def test_a_stage_that_the_network_does_not_have_is_named_with_those_it_has(checkpoint: Path) -> None:
    with pytest.raises(StageError, match=r"no stage 'block77.expansion'; it has block0.expansion, block1"):
        encoded(checkpoint, Stage("block77.expansion"))


@pytest.mark.parametrize("stages", [["a", "a"], ["last"], ["a", Stage("a", 2.0)]])
def test_a_stage_is_named_once(stages: list[Stage | str]) -> None:
    with pytest.raises(StageError, match="every stage once"):
        as_stages(stages)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("inf"), float("nan")])
def test_a_scale_is_above_zero(scale: float) -> None:
    with pytest.raises(ValueError, match="scale above 0"):
        Stage("a", scale)


def test_poolings_of_a_graph() -> None:
    """Maps (n, 3, 8, 8), read as such and as tokens (n, 3, 64)."""
    looking = Preprocessing(size=8, resize=8)
    graph = Graph(looking, stages=["mean", "tokens", "first", "as it is", "unasked"][:4])
    pixels = graph.pixels()
    tokens = graph.add("Reshape", pixels, graph.constant(np.array([0, 0, 64])))
    flat = graph.flatten(tokens)
    graph.stage("unasked", pixels)
    graph.stage("as it is", flat, pool="none")
    graph.stage("first", tokens, pool="first-token")
    graph.stage("tokens", tokens, pool="mean-tokens")
    graph.stage("mean", pixels)
    images = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3), dtype=np.uint8)
    features = OnnxSession(graph.model({"features": flat}, dim=192).SerializeToString()).run(images)
    seen = looking.normalise(images).transpose(0, 3, 1, 2).reshape(2, 3, 64)
    parts = [seen.reshape(2, -1), seen.mean(axis=2), seen.mean(axis=1), seen[:, 0], seen.reshape(2, -1)]
    assert np.allclose(features, np.hstack(parts), atol=1e-5)


def test_a_builder_that_offers_what_is_no_vector_or_twice_is_wrong() -> None:
    graph = Graph(LOOKING, stages=["map"])
    graph.stage("map", graph.pixels(), pool="none")
    with pytest.raises(StageError, match=r"the stage 'map' as \(n, d\) after pooling"):
        graph.model({"features": graph.flatten(graph.pixels())}, dim=3072)
    with pytest.raises(StageError, match="there already"):
        graph.stage("map", graph.pixels())
    with pytest.raises(StageError, match="pool is one of"):
        Graph(LOOKING, stages=["map"]).stage("map", "x", pool="max")
