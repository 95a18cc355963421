"""Weights that know what was read of them."""

from __future__ import annotations

import numpy as np
import pytest

from i2cansay.encoders.checkpoint import CheckpointError
from i2cansay.encoders.used_weights import UsedWeights

ONES = np.ones(3, np.float32)


def test_everything_must_be_read_but_what_features_do_not_need() -> None:
    spare = ("fc.weight", "head.mlp.0.bias", "mask_token", "bn1.num_batches_tracked")
    weights = UsedWeights(dict.fromkeys(("a", "b", "c", *spare), ONES))
    assert weights["a"] is weights.get("a")
    assert weights.get("missing") is None
    assert "c" in weights
    with pytest.raises(CheckpointError, match="weights of net, which has no 'b' and 1 more"):
        weights.check("net")
    weights.get("b")
    with pytest.raises(CheckpointError, match="which has no 'c';"):
        weights.check("net")
    assert weights["c"] is ONES
    weights.check("net")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused_where_they_are_read(bad: float) -> None:
    weights = UsedWeights({"a": ONES, "fc.weight": np.array([1.0, bad])})
    assert weights["a"] is ONES
    weights.check("net")
    with pytest.raises(CheckpointError, match=r"'fc.weight' hold numbers that are infinite or NaN"):
        weights["fc.weight"]
