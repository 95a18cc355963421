"""Tensors and data loaders of torch."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_sample_images

from i2cansay import ImageLearner
from i2cansay.adapters.torch_loader import (
    as_features,
    as_images,
    feature_batches,
    learn_image_loader,
    learn_loader,
)
from i2cansay.learners import make_learner

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.adapters
X, Y = load_iris(return_X_y=True)
TENSOR, LABELS = torch.tensor(X), torch.tensor(Y)


def loader(*tensors: Any, **options: Any) -> Any:
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*tensors), **options)


def test_a_loader_is_the_same_stream_as_arrays() -> None:
    learner, reference = make_learner("slda"), make_learner("slda")
    assert learn_loader(learner, loader(TENSOR, LABELS, batch_size=32)) == 150
    for start in range(0, 150, 32):
        reference.partial_fit(X[start : start + 32], Y[start : start + 32])
    np.testing.assert_array_equal(learner.predict_proba(X), reference.predict_proba(X))


@pytest.mark.parametrize("kind", ["float32", "float64", "float16"])
def test_learners_take_plain_tensors_themselves(kind: str) -> None:
    tensor = TENSOR.to(getattr(torch, kind))
    model = make_learner("slda").fit(tensor, LABELS)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.score(tensor, LABELS) > 0.9


def test_gradients_and_short_floats_are_taken_off() -> None:
    odd = TENSOR.to(torch.bfloat16).requires_grad_()
    assert as_features(odd).dtype == np.float32
    assert as_features(TENSOR).dtype == np.float64
    np.testing.assert_allclose(as_features(odd), X, rtol=0.01)


def test_a_network_encodes_without_gradient() -> None:
    network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU()).eval()
    batches = list(feature_batches(loader(TENSOR.float(), LABELS, batch_size=50), encode=network))
    assert [features.shape for features, _ in batches] == [(50, 8)] * 3
    with torch.no_grad():
        np.testing.assert_allclose(batches[0][0], network(TENSOR[:50].float()).numpy())
    learner = make_learner("slda")
    learn_loader(learner, loader(TENSOR.float(), LABELS, batch_size=50), encode=network)
    assert learner.n_features_in_ == 8


def test_a_network_in_training_mode_is_refused() -> None:
    learner = make_learner("slda")
    with pytest.raises(ValueError, match=r"call eval\(\) on it first"):
        learn_loader(learner, loader(TENSOR.float(), LABELS), encode=torch.nn.Linear(4, 8))
    assert learner.state() == {}


def test_labels_may_be_strings_or_single_tensors() -> None:
    names = ["low", "high"]
    rows = [(torch.tensor([float(row % 2)]), names[row % 2]) for row in range(8)]
    learner = make_learner("ncm")
    learn_loader(learner, torch.utils.data.DataLoader(rows, batch_size=4))
    assert learner.classes_.tolist() == ["high", "low"]
    learner = make_learner("ncm")
    learn_loader(learner, [(torch.zeros(2, 1), [torch.tensor(4), torch.tensor(7)])])
    assert learner.classes_.tolist() == [4, 7]


def crops() -> Any:
    """Return 20 crops of two photographs, (20, 3, 100, 100), uint8, and their classes."""
    photographs = [torch.tensor(image.copy()).permute(2, 0, 1) for image in load_sample_images().images]
    images = [photographs[row % 2][:, 10 * row : 10 * row + 100, :100] for row in range(20)]
    return torch.stack(images), torch.arange(20) % 2


def test_images_of_a_loader_are_those_of_arrays() -> None:
    images, labels = crops()
    model, reference = ImageLearner("pixels", "ncm"), ImageLearner("pixels", "ncm")
    assert learn_image_loader(model, loader(images, labels, batch_size=8)) == 20
    reference.learn(list(images.permute(0, 2, 3, 1).numpy()), labels.numpy())
    asked = list(images[:4].permute(0, 2, 3, 1).numpy())
    np.testing.assert_allclose(
        model.predict_proba(as_images(images[:4])), reference.predict_proba(asked), rtol=0.1
    )
    assert model.predict(as_images(images)).tolist() == labels.tolist()
    for whole, shares in zip(as_images(images), as_images(images.half() / 255), strict=True):
        np.testing.assert_allclose(shares, whole / 255, atol=0.002)


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (torch.zeros(3, 8, 8), r"expected images of shape \(n, channels, height, width\), got \(3, 8, 8\)"),
        (torch.zeros(2, 8, 8, 3), "move the channels to the front"),
        (torch.full((1, 3, 8, 8), -2.1), "got -2.1 to -2.1; leave out the normalisation"),
        (torch.full((1, 3, 8, 8), float("nan")), "expected floats from 0 to 1"),
    ],
)
def test_what_are_no_images_is_refused(tensor: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_images(tensor)


def test_a_loader_has_no_sessions_to_tell() -> None:
    learner = make_learner("lwf")
    with pytest.raises(ValueError, match="has to be told where sessions end"):
        learn_loader(learner, loader(TENSOR, LABELS, batch_size=32))
    assert not hasattr(learner, "classes_")
