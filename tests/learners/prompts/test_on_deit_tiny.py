"""The prompt methods on a real transformer, where its weights are at hand: DeiT-Tiny on images of 96 px."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from i2cansay.core.types import Float32
from i2cansay.encoders.transformer_arrays import transformer_arrays
from i2cansay.encoders.vit_recipes import DEIT_TINY
from i2cansay.learners import make_learner
from i2cansay.learners.prompts.transformer_weights import TransformerWeights
from i2cansay.learners.prompts.vision_transformer import vision_transformer
from tests.learners.prompts.test_prompt_methods import (
    METHODS,
    spread_keys,
    switch_off,
    with_a_way_to_look_away,
)

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not DEIT_TINY.has_weights(), reason="needs the weights of DeiT-Tiny"),
]
N = 24


@cache
def network() -> TransformerWeights:
    return TransformerWeights(**transformer_arrays("deit_tiny@96")._asdict())


def made(name: str, **parameters: Any) -> Any:
    return make_learner(name, **{"network": network(), "lr": 0.01, "random_state": 0, **parameters})


@cache
def images() -> tuple[Float32, np.ndarray]:
    """Rows of pixels whose class is how bright they are."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    return (rng.random((N, 3 * 96 * 96)) * 0.4 + 0.3 * y[:, None]).clip(0, 1).astype(np.float32), y


@pytest.mark.parametrize("name", METHODS)
def test_only_prompts_keys_and_head_change(name: str) -> None:
    before = {key: array.copy() for key, array in network().arrays.items()}
    X, y = images()
    model = made(name).partial_fit(X[:12], y[:12])
    prompts = {part: model._prompts[part].values.copy() for part in model._prompts.names()}
    model.partial_fit(X[12:], y[12:])
    for key, array in network().arrays.items():
        assert np.array_equal(array, before[key])
        assert np.array_equal(vision_transformer(network())._tensors[key].numpy(), before[key])
    assert all(not np.array_equal(model._prompts[part].values, prompts[part]) for part in prompts)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", METHODS)
def test_a_prediction_does_not_depend_on_its_batch(name: str, precision: str) -> None:
    """In the precision of the published table too."""
    X, y = images()
    model = made(name, precision=precision).partial_fit(X, y).partial_fit(X, y)
    spread_keys(model, X)
    together = model.class_scores(X)
    order = np.random.default_rng(1).permutation(N)
    # Rounded numbers of 8 bits add up in another order.
    bound = 1e-3 * np.abs(together).max() * (1 if precision == "float32" else 10)
    alone = np.concatenate([model.class_scores(X[i : i + 1]) for i in range(N)])
    np.testing.assert_allclose(alone, together, rtol=0, atol=bound)
    np.testing.assert_allclose(model.class_scores(X[order]), together[order], rtol=0, atol=bound)


@pytest.mark.parametrize("name", METHODS)
def test_a_stream_that_is_cut_goes_on_to_the_same_bits(name: str) -> None:
    X, y = images()
    whole, first, rest = (made(name, memory_size=10, n_replayed=4) for _ in range(3))
    whole.partial_fit(X[:12], y[:12]).partial_fit(X[12:], y[12:])
    rest.set_state(first.partial_fit(X[:12], y[:12]).state()).partial_fit(X[12:], y[12:])
    for part, values in whole.state().items():
        np.testing.assert_array_equal(rest.state()[part], values, err_msg=part)


@pytest.mark.parametrize("name", ["dualprompt", "coda", "single_prompt"])
def test_a_prefix_that_nothing_attends_to_leaves_the_frozen_class_token(name: str) -> None:
    weights = with_a_way_to_look_away(network())
    X, y = images()
    model = made(name, network=weights).partial_fit(X, y)
    frozen, batch = model._network.class_token(model._batch(X).tokens), model._batch(X)

    def feature() -> Any:
        return model._prompted(model._tensors(model._prompts), batch, model._network, training=False)[0]

    assert (feature() - frozen).abs().max() > 1e-2
    switch_off(model, X)
    torch.testing.assert_close(feature(), frozen, rtol=1e-3, atol=1e-3)
