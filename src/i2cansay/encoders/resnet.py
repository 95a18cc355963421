"""ResNets in torchvision's layout of keys."""

from __future__ import annotations

from itertools import count
from typing import Any

from i2cansay.encoders.checkpoint import CheckpointError, Weights
from i2cansay.encoders.graph import Graph, fold_batch_norm
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.recipe import OfficialFile, Recipe

EPSILON = 1e-5
SITE = "https://download.pytorch.org/models/"


def build_resnet(weights: Weights, preprocessing: Preprocessing, *, logits: bool = False) -> Any:
    """Write a ResNet as an ONNX model with outputs `features` and, on request, `logits`.

    Depth, widths and the kind of block are read off the weights: ResNet18 to ResNet152 share this function.
    """
    if weights["conv1.weight"].shape[1:] != (3, 7, 7):
        # With a smaller first kernel (for CIFAR) strides differ as well, and weights do not tell strides.
        raise CheckpointError(
            f"expected a first convolution of 7 x 7 over 3 channels, got {weights['conv1.weight'].shape[1:]}"
        )
    graph = Graph(preprocessing)
    x = _convolution(graph, graph.pixels(), weights, "conv1", "bn1", stride=2)
    x = graph.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for stage in range(1, 5):
        for block in count():
            prefix = f"layer{stage}.{block}."
            if block > 0 and f"{prefix}conv1.weight" not in weights:
                break
            x = _block(graph, x, weights, prefix, stride=2 if stage > 1 and block == 0 else 1)
    outputs = {"features": graph.flatten(graph.add("GlobalAveragePool", x))}
    if logits:
        outputs["logits"] = graph.linear(outputs["features"], weights["fc.weight"], weights["fc.bias"])
    return graph.model(outputs, dim=weights["bn1.weight"].shape[0] * 8 * _expansion(weights))


def _block(graph: Graph, x: str, weights: Weights, prefix: str, *, stride: int) -> str:
    """Two 3 x 3 convolutions, or three with the stride in the middle one, beside the shortcut."""
    n_convolutions = 3 if f"{prefix}conv3.weight" in weights else 2
    strided = n_convolutions - 1
    y = x
    for i in range(1, n_convolutions + 1):
        name = f"{prefix}conv{i}.weight"
        if i > 1 and weights[name].shape[1] != (channels := weights[f"{prefix}conv{i - 1}.weight"].shape[0]):
            raise CheckpointError(
                f"expected {name!r} over all {channels} channels, got {weights[name].shape[1]}: convolutions "
                "in groups (ResNeXt) are not supported; export the network to ONNX instead"
            )
        y = _convolution(
            graph,
            y,
            weights,
            f"{prefix}conv{i}",
            f"{prefix}bn{i}",
            stride=stride if i == strided else 1,
            activation=i < n_convolutions,
        )
    if f"{prefix}downsample.0.weight" in weights:
        shortcut, norm = f"{prefix}downsample.0", f"{prefix}downsample.1"
        x = _convolution(graph, x, weights, shortcut, norm, stride=stride, activation=False)
    return graph.add("Relu", graph.add("Add", y, x))


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
        sum(f"layer{stage}.{block}.conv1.weight" in weights for block in range(len(weights)))
        for stage in range(1, 5)
    ]
    widths = {weights[key].shape[0] for key in ("conv1.weight", "layer1.0.conv1.weight")}
    return f"{kind} {'-'.join(map(str, depths))} of width {' and '.join(map(str, sorted(widths)))}"


def _expansion(weights: Weights) -> int:
    return 4 if "layer1.0.conv3.weight" in weights else 1


def _convolution(
    graph: Graph, x: str, weights: Weights, name: str, norm: str, *, stride: int = 1, activation: bool = True
) -> str:
    weight, bias = fold_batch_norm(weights[f"{name}.weight"], weights, norm, epsilon=EPSILON)
    pad = weight.shape[2] // 2
    x = graph.convolution(x, weight, bias, strides=[stride, stride], pads=[pad] * 4)
    return graph.add("Relu", x) if activation else x


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
)
RESNET = Recipe(
    name="resnet",
    summary="any ResNet with torchvision's keys",
    build=build_resnet,
    preprocessing=Preprocessing(interpolation="bilinear"),
)
