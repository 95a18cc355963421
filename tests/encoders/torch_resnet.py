"""A ResNet written out in torch, batch norms unfolded: what the graphs are compared with."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.checkpoint import Weights
from i2cansay.encoders.resnet import ResNetArithmetic


def torch_resnet(
    weights: Weights, numbers: NDArray[np.float32], arithmetic: ResNetArithmetic
) -> dict[str, NDArray[Any]]:
    """Pool every activation of a network that is given normalised red, green and blue, (n, size, size, 3)."""
    import torch
    from torch.nn import functional as F

    w = {key: torch.from_numpy(np.asarray(value)).float() for key, value in weights.items()}
    pooled = {}

    def layer(x: Any, name: str, norm: str, stride: int = 1) -> Any:
        kernel = w[f"{name}.weight"]
        x = F.conv2d(x, kernel, stride=stride, padding=kernel.shape[-1] // 2)
        parts = [w[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")]
        return F.batch_norm(x, *parts, eps=arithmetic.epsilon)

    def active(x: Any, name: str) -> Any:
        x = F.relu(x)
        pooled[name] = x.mean(dim=(2, 3)).numpy()
        return x

    channels = numbers[..., ::-1] if arithmetic.blue_first else numbers
    x = torch.from_numpy(channels.transpose(0, 3, 1, 2).copy())
    x = F.max_pool2d(F.relu(layer(x, "conv1", "bn1", 2)), 3, 2, 1)
    for stage in (1, 2, 3, 4):
        for block in count():
            name = f"layer{stage}.{block}"
            if f"{name}.conv1.weight" not in w:
                break
            stride = 2 if stage > 1 and block == 0 else 1
            if f"{name}.conv3.weight" in w:
                first, second = (stride, 1) if arithmetic.stride_first else (1, stride)
                y = active(layer(x, f"{name}.conv1", f"{name}.bn1", first), f"{name}.conv1")
                y = active(layer(y, f"{name}.conv2", f"{name}.bn2", second), f"{name}.conv2")
                y = layer(y, f"{name}.conv3", f"{name}.bn3")
            else:
                y = active(layer(x, f"{name}.conv1", f"{name}.bn1", stride), f"{name}.conv1")
                y = layer(y, f"{name}.conv2", f"{name}.bn2")
            if f"{name}.downsample.0.weight" in w:
                x = layer(x, f"{name}.downsample.0", f"{name}.downsample.1", stride)
            x = active(x + y, name)
    pooled["last"] = x.mean(dim=(2, 3)).numpy()
    pooled["logits"] = F.linear(torch.from_numpy(pooled["last"]), w["fc.weight"], w["fc.bias"]).numpy()
    return pooled
