"""Exports on real features: CUB-200 through EfficientNet-Lite0, found through I2CANSAY_DATA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay import I2CANSAY, SharedI2CANSAY, make_learner
from i2cansay.disk.places import data_folders
from tests.export.test_learner_file import answers, margin_to_thresholds

CASES: list[tuple[str, dict[str, Any]]] = [
    ("i2cansay", {}),
    ("i2cansay_shared", {"lift": 0, "analogies": False}),
    ("i2cansay_shared", {"lift": 256, "width": 512}),
    ("i2cansay_shared", {"lift": 0, "blocks": (640, 640)}),
]


def features(split: str) -> tuple[Any, Any]:
    for folder in data_folders():
        if (path := folder / f"cub200_efflite0_{split}.npz").is_file():
            with np.load(path) as arrays:
                return arrays["F"].astype(np.float32), arrays["y"]
    pytest.skip("no features of CUB-200 in I2CANSAY_DATA")


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), CASES, ids=str)
def test_the_file_answers_as_the_learner_does_on_birds(
    name: str, parameters: dict[str, Any], tmp_path: Path
) -> None:
    (X, y), (asked, _) = features("train"), features("test")
    order = np.random.default_rng(0).permutation(len(X))
    learner = make_learner(name, random_state=0, **parameters)
    for rows in np.array_split(order, 12):
        learner.partial_fit(X[rows], y[rows])
    asked = asked[::6]
    learner.to_onnx(tmp_path / "model.onnx")
    found = answers(tmp_path / "model.onnx", asked)
    probabilities = learner.predict_proba(asked)
    relative = np.abs(found["probabilities"] - probabilities) / probabilities.max(axis=1, keepdims=True)
    assert relative.max() < 1e-4
    first, second = np.sort(probabilities, axis=1)[:, :-3:-1].T
    clear = first - second > 1e-4 * first
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(found["label"][clear], learner.predict(asked)[clear])
    assert isinstance(learner, I2CANSAY | SharedI2CANSAY)
    novelty = learner.novelty(asked)
    assert np.abs(found["novelty"] - novelty).max() < 1e-4 * novelty.std()
    far = margin_to_thresholds(learner, asked) > 1e-3
    assert far.mean() > 0.95
    np.testing.assert_array_equal(found["verdict"][far], learner.verdicts(asked)[far])
