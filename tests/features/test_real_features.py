"""Accuracies on the features of real data, where somebody has encoded it.

Run with the folders of data and cache: I2CANSAY_DATA=... I2CANSAY_CACHE=... pytest -m data tests/features
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from i2cansay.datasets import Dataset, get_dataset
from i2cansay.encoders import get_encoder
from i2cansay.encoders.encoder import Encoder
from i2cansay.features import FeatureStore, encode_dataset, store_folder
from i2cansay.learners import make_learner

pytestmark = pytest.mark.data

BATCH = 5_000


def is_encoded(dataset: Dataset, encoder: Encoder, split: str) -> bool:
    """Whether there is a finished store of the whole split, so that asking for it encodes nothing."""
    for path in store_folder().glob(f"{dataset.name}-{split}-*"):
        try:
            header = FeatureStore.open(path, verify=False).header
        except (OSError, ValueError):
            continue
        found = (header.dataset_fingerprint, header.encoder_fingerprint, header.dtype, header.subset)
        wanted = (dataset.fingerprint, encoder.fingerprint, "float16", None)
        if found == wanted and path.name == header.store_name:
            return True
    return False


@cache
def features(name: str) -> tuple[FeatureStore, FeatureStore] | str:
    """Features of train and test, or why there are none: encoding would take half an hour."""
    try:
        dataset, encoder = get_dataset(name), get_encoder("efficientnet-lite0")
    except (OSError, ImportError) as error:
        return str(error)
    if not all(is_encoded(dataset, encoder, split) for split in ("train", "test")):
        return f"there are no finished features: i2cansay encode {name}"
    return encode_dataset(dataset, encoder, "train"), encode_dataset(dataset, encoder, "test")


@pytest.mark.parametrize(
    ("name", "learner", "parameters", "accuracy"),
    [
        ("cifar100", "ncm", {}, 59.4),
        ("cifar100", "slda", {"shrinkage": "oas"}, 68.7),
        ("cifar10", "ncm", {}, 83.1),
        ("cifar10", "slda", {"shrinkage": "oas"}, 90.1),
    ],
    ids=["cifar100-ncm", "cifar100-slda", "cifar10-ncm", "cifar10-slda"],
)
def test_one_pass_over_all_of_cifar_reaches_the_known_accuracy(
    name: str, learner: str, parameters: dict[str, Any], accuracy: float
) -> None:
    found = features(name)
    if isinstance(found, str):
        pytest.skip(found)
    train, test = found
    assert (len(train), len(test)) == (50_000, 10_000)
    taught = make_learner(learner, **parameters)
    for start in range(0, len(train), BATCH):
        taught.partial_fit(train.features[start : start + BATCH], train.labels[start : start + BATCH])
    assert 100 * taught.score(test.features, test.labels) == pytest.approx(accuracy, abs=0.3)
