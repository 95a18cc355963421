"""How good a model is, over HTTP."""

from __future__ import annotations

import numpy as np

from tests.service.material import rows
from tests.service.running import Running
from tests.service.sending import send


def test_confusion_over_http(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    assert model.confusion() == {"labels": [], "counts": [], "classes": []}
    model.learn(["a", "b"] * 3, features=rows(["a", "b"] * 3, rng))
    model.learn(["a", "a", "b"], features=rows(["a", "b", "b"], rng))
    assert model.confusion() == {
        "labels": ["a", "b"],
        "counts": [
            {"taught": "a", "predicted": "a", "n": 1},
            {"taught": "a", "predicted": "b", "n": 1},
            {"taught": "b", "predicted": "b", "n": 1},
        ],
        "classes": [{"label": "a", "tested": 2, "right": 1}, {"label": "b", "tested": 1, "right": 1}],
    }
    status, _, _ = send(running, "GET", "/v1/models/none/confusion")
    assert status == 404
