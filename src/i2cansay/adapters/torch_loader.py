"""Tensors and data loaders of torch: batches of features for learners, batches of images for an `ImageLearner`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.adapters.peer import import_peer
from i2cansay.core.types import Features
from i2cansay.image_learner import ImageLearner
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.lessons import check_takes_lessons


def learn_loader(
    learner: OnlineClassifier, loader: Iterable[Any], *, encode: Callable[[Any], Any] | None = None
) -> int:
    """Teach a learner every batch of a loader, once; return how many samples there were.

    Parameters
    ----------
    loader : iterable of pairs (X, y)
        A `DataLoader`, or any other. X is a tensor of features, (n, d), or what `encode` turns into one; y is n
        labels as a tensor or a list.
    encode : function of a tensor, optional
        Makes the features, as a network of yours in evaluation mode. It is called without gradients, and has to move
        tensors to the device where it is.

    Examples
    --------
    >>> import torch
    >>> from i2cansay.learners import make_learner
    >>> data = torch.utils.data.TensorDataset(torch.eye(3).repeat(20, 1), torch.arange(60) % 3)
    >>> learner = make_learner("ncm")
    >>> learn_loader(learner, torch.utils.data.DataLoader(data, batch_size=8))
    60
    >>> learner.predict(torch.eye(3))
    array([0, 1, 2])
    """
    check_takes_lessons(learner)
    count = 0
    for X, y in feature_batches(loader, encode=encode):
        learner.partial_fit(X, y)
        count += len(X)
    return count


def feature_batches(
    loader: Iterable[Any], *, encode: Callable[[Any], Any] | None = None
) -> Iterator[tuple[Features, NDArray[Any] | list[Any]]]:
    """Yield the batches of a loader as arrays: features (n, d), and n labels. See `learn_loader`."""
    torch = import_peer("torch", '"i2cansay[torch]"')
    if getattr(encode, "training", False):
        raise ValueError(
            "expected an encoder in evaluation mode, it is in training mode, in which its features depend on the "
            "batch; call eval() on it first"
        )
    for X, y in loader:
        with torch.inference_mode():
            made = X if encode is None else encode(X)
        yield as_features(made), _as_labels(y)


def learn_image_loader(model: ImageLearner, loader: Iterable[Any]) -> int:
    """Teach an `ImageLearner` every batch of a loader, each as a lesson; return how many images there were.

    The loader gives pairs of images, as `as_images` takes them, and labels. Do not normalise the images: the model
    prepares them for its encoder itself.
    """
    return sum(model.learn(as_images(X), _as_labels(y)).learnt for X, y in loader)


def as_features(tensor: Any) -> Features:
    """Return a tensor as an array of float32 or float64: without gradient, from any device and any precision.

    Examples
    --------
    >>> import torch
    >>> as_features(torch.ones(1, 2, dtype=torch.bfloat16, requires_grad=True))
    array([[1., 1.]], dtype=float32)
    """
    torch = import_peer("torch", '"i2cansay[torch]"')
    plain = torch.as_tensor(tensor).detach().cpu()
    features: Features = (plain if plain.dtype == torch.float64 else plain.to(torch.float32)).numpy()
    return features


def as_images(tensor: Any) -> list[NDArray[Any]]:
    """Return images as arrays (height, width, channels).

    Parameters
    ----------
    tensor : tensor of shape (n, channels, height, width)
        uint8, or floats from 0 to 1; 1, 3 or 4 channels.

    Examples
    --------
    >>> import torch
    >>> [image.shape for image in as_images(torch.zeros(2, 3, 20, 30, dtype=torch.uint8))]
    [(20, 30, 3), (20, 30, 3)]
    """
    torch = import_peer("torch", '"i2cansay[torch]"')
    images = torch.as_tensor(tensor).detach().cpu()
    if images.ndim != 4 or images.shape[1] not in (1, 3, 4):
        raise ValueError(
            f"expected images of shape (n, channels, height, width), got {tuple(images.shape)}; "
            "stack them, or move the channels to the front"
        )
    if images.is_floating_point() and images.numel() and not (images.min() >= 0 and images.max() <= 1):
        raise ValueError(
            f"expected floats from 0 to 1, got {images.min():.3g} to {images.max():.3g}; leave out the "
            "normalisation, the model has its own"
        )
    if images.is_floating_point():
        images = images.to(torch.float32)
    return list(np.ascontiguousarray(images.permute(0, 2, 3, 1).numpy()))


def _as_labels(labels: Any) -> NDArray[Any] | list[Any]:
    if hasattr(labels, "detach"):
        found: NDArray[Any] = labels.detach().cpu().numpy()
        return found
    return [label.item() if hasattr(label, "item") else label for label in labels]
