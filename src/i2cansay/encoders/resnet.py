"""ResNets in torchvision's layout of keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

import numpy as np

from i2cansay.encoders.checkpoint import CheckpointError, Weights
from i2cansay.encoders.graph import Graph, fold_batch_norm
from i2cansay.encoders.network_facts import NetworkFacts
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.recipe import OfficialFile, Recipe
from i2cansay.encoders.stages import Stage

SITE = "https://download.pytorch.org/models/"
# Pixels of photographs, from 0 to 1, spread about this much.
PIXEL_SPREAD = 0.25
# Filters differ among themselves by this factor; a wrong range of pixels (0 to 255) is off by 57.
TOLERANCE = 8


@dataclass(frozen=True)
class ResNetArithmetic:
    """What the weights of a ResNet do not tell.

    Attributes
    ----------
    epsilon : float
        What batch norms add to a variance.
    stride_first : bool
        Whether a bottleneck takes its stride in the first convolution, as He et al. did, or in the 3 x 3 one.
    blue_first : bool
        Whether the first convolution reads blue, green, red.
    """

    epsilon: float = 1e-5
    stride_first: bool = False
    blue_first: bool = False

    def in_words(self) -> str:
        """Say it in a line, which is equal exactly when the arithmetic is."""
        return json.dumps(asdict(self), sort_keys=True)


TORCHVISION = ResNetArithmetic()


def build_resnet(
    weights: Weights,
    preprocessing: Preprocessing,
    *,
    stages: Sequence[Stage | str] = (),
    logits: bool = False,
    arithmetic: ResNetArithmetic = TORCHVISION,
) -> Any:
    """Write a ResNet as an ONNX model with outputs `features` and, on request, `logits`.

    Depth, widths and the kind of block are read off the weights: ResNet18 to ResNet152 share this function.
    The stage "layer3.5" is the output of block 5 of layer 3, counted from 0 as in the keys; "layer4.2.conv2" is the
    activation after that convolution.
    """
    first = weights["conv1.weight"]
    if first.shape[1:] != (3, 7, 7):
        # With a smaller first kernel (for CIFAR) strides differ as well, and weights do not tell strides.
        raise CheckpointError(f"expected a first convolution of 7 x 7 over 3 channels, got {first.shape[1:]}")
    _check_range(weights, preprocessing)
    graph = Graph(preprocessing, stages=stages)
    x = _convolution(graph, graph.pixels(), weights, "conv1", "bn1", arithmetic=arithmetic, stride=2)
    x = graph.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    before = None
    for layer in range(1, 5):
        for block in count():
            name = f"layer{layer}.{block}"
            if block > 0 and f"{name}.conv1.weight" not in weights:
                break
            if before is not None:  # of the last block the mean is the feature itself
                graph.stage(before, x)
            x = _block(graph, x, weights, name, arithmetic, stride=2 if layer > 1 and block == 0 else 1)
            before = name
    outputs = {"features": graph.flatten(graph.add("GlobalAveragePool", x))}
    if logits:
        outputs["logits"] = graph.linear(outputs["features"], weights["fc.weight"], weights["fc.bias"])
    return graph.model(outputs, dim=weights["bn1.weight"].shape[0] * 8 * _expansion(weights))


def _block(
    graph: Graph, x: str, weights: Weights, name: str, arithmetic: ResNetArithmetic, *, stride: int
) -> str:
    """Two 3 x 3 convolutions, or one between two of 1 x 1, beside the shortcut."""
    n_convolutions = 3 if f"{name}.conv3.weight" in weights else 2
    strided = 1 if arithmetic.stride_first else n_convolutions - 1
    y = x
    for i in range(1, n_convolutions + 1):
        key = f"{name}.conv{i}.weight"
        if i > 1 and weights[key].shape[1] != (channels := weights[f"{name}.conv{i - 1}.weight"].shape[0]):
            raise CheckpointError(
                f"expected {key!r} over all {channels} channels, got {weights[key].shape[1]}: convolutions "
                "in groups (ResNeXt) are not supported; export the network to ONNX instead"
            )
        y = _convolution(
            graph,
            y,
            weights,
            f"{name}.conv{i}",
            f"{name}.bn{i}",
            arithmetic=arithmetic,
            stride=stride if i == strided else 1,
            activation=i < n_convolutions,
        )
        if i < n_convolutions:
            graph.stage(f"{name}.conv{i}", y)
    if f"{name}.downsample.0.weight" in weights:
        shortcut, norm = f"{name}.downsample.0", f"{name}.downsample.1"
        x = _convolution(
            graph, x, weights, shortcut, norm, arithmetic=arithmetic, stride=stride, activation=False
        )
    return graph.add("Relu", graph.add("Add", y, x))


def _check_range(weights: Weights, preprocessing: Preprocessing) -> None:
    """Refuse weights that were trained on pixels of another range.

    The first batch norm has seen how much the first convolution varies; divided by the length of a filter, this is
    about how much its input varies.
    """
    lengths = np.sqrt((weights["conv1.weight"].astype(np.float64) ** 2).sum(axis=(1, 2, 3)))
    deviations = np.sqrt(np.abs(weights["bn1.running_var"].astype(np.float64)))
    seen = float(np.median(deviations / np.maximum(lengths, 1e-12)))
    given = PIXEL_SPREAD / float(np.mean(preprocessing.std))
    if not given / TOLERANCE < seen < given * TOLERANCE:
        raise CheckpointError(
            f"these weights were trained on pixels of about {seen:.2g}, the preprocessing gives about {given:.2g}; "
            "resnet50_keras takes the weights of Keras, resnet50 those of torchvision, and a TOML file beside "
            "other weights names their mean and std"
        )


def resnet_shape(weights: Weights) -> str:
    """Say a ResNet's kind of block, depth and width.

    Examples
    --------
    >>> import numpy as np
    >>> blocks = {f"layer{stage}.0.conv1.weight": np.ones((8, 8, 3, 3)) for stage in range(1, 5)}
    >>> resnet_shape(blocks | {"conv1.weight": np.ones((8, 3, 7, 7))})
    'basic blocks 1-1-1-1 of width 8'
    """
    kind = "bottlenecks" if _expansion(weights) == 4 else "basic blocks"
    depths = [
        sum(f"layer{layer}.{block}.conv1.weight" in weights for block in range(len(weights)))
        for layer in range(1, 5)
    ]
    widths = {weights[key].shape[0] for key in ("conv1.weight", "layer1.0.conv1.weight")}
    return f"{kind} {'-'.join(map(str, depths))} of width {' and '.join(map(str, sorted(widths)))}"


def _expansion(weights: Weights) -> int:
    return 4 if "layer1.0.conv3.weight" in weights else 1


def _convolution(
    graph: Graph,
    x: str,
    weights: Weights,
    name: str,
    norm: str,
    *,
    arithmetic: ResNetArithmetic,
    stride: int = 1,
    activation: bool = True,
) -> str:
    weight, bias = fold_batch_norm(weights[f"{name}.weight"], weights, norm, epsilon=arithmetic.epsilon)
    if name == "conv1" and arithmetic.blue_first:
        weight = weight[:, ::-1]  # pixels come as red, green, blue
    pad = weight.shape[2] // 2
    x = graph.convolution(x, weight, bias, strides=[stride, stride], pads=[pad] * 4)
    return graph.add("Relu", x) if activation else x


RANDOM = "narrow networks, features and stages against torch"
# Inside the first block of the last layer, and before it. On 6,000 training images of CIFAR-100, 1,500 of them held
# out, those of resnet50_keras bring a linear discriminant from 67.1 to 68.1%; outputs of later blocks brought less.
RESNET18_STAGES = (Stage("layer4.0.conv1"), Stage("layer3.1"))
# The scales are those of resnet50_keras.
RESNET50_STAGES = (Stage("layer4.0.conv2", 4.7), Stage("layer3.5", 4.0))
RESNET18 = Recipe(
    name="resnet18",
    summary="ResNet18, ImageNet-1k, torchvision's weights",
    build=build_resnet,
    preprocessing=Preprocessing(interpolation="bilinear"),
    files=(
        OfficialFile("resnet18-f37072fd.pth", f"{SITE}resnet18-f37072fd.pth", "f37072fd"),
        OfficialFile("resnet18-5c106cde.pth", f"{SITE}resnet18-5c106cde.pth", "5c106cde"),
    ),
    shape_of=resnet_shape,
    shape="basic blocks 2-2-2-2 of width 64",
    stages=RESNET18_STAGES,
    facts=NetworkFacts(
        width=512,
        stages_width=512 + 512 + 256,
        megabytes=46.8,
        licence="BSD-3-Clause, as torchvision",
        checked_random=RANDOM,
    ),
)
RESNET50 = Recipe(
    name="resnet50",
    summary="ResNet50, ImageNet-1k, torchvision's weights (V1 or V2)",
    build=build_resnet,
    preprocessing=Preprocessing(interpolation="bilinear"),
    files=(
        OfficialFile("resnet50-0676ba61.pth", f"{SITE}resnet50-0676ba61.pth", "0676ba61"),
        OfficialFile("resnet50-19c8e357.pth", f"{SITE}resnet50-19c8e357.pth", "19c8e357"),
        # V2 was trained and is evaluated with another margin around the crop.
        OfficialFile("resnet50-11ad3fa6.pth", f"{SITE}resnet50-11ad3fa6.pth", "11ad3fa6", resize=232),
    ),
    shape_of=resnet_shape,
    shape="bottlenecks 3-4-6-3 of width 64",
    stages=RESNET50_STAGES,
    facts=NetworkFacts(
        width=2048,
        stages_width=2048 + 512 + 1024,
        megabytes=102.5,
        licence="BSD-3-Clause, as torchvision",
        checked_random=RANDOM,
    ),
)
RESNET = Recipe(
    name="resnet",
    summary="any ResNet with torchvision's keys",
    build=build_resnet,
    preprocessing=Preprocessing(interpolation="bilinear"),
)
