"""What makes each prompt method itself, on a small random transformer."""

from typing import Any

import numpy as np
import pytest

from i2cansay.core.types import Float32
from i2cansay.learners import make_learner
from i2cansay.learners.prompts.coda import CODAPrompt, attended_cosines
from i2cansay.learners.prompts.dualprompt import DualPrompt
from i2cansay.learners.prompts.l2p import L2P
from i2cansay.learners.prompts.prompt_learner import PromptLearner
from i2cansay.learners.prompts.single_prompt import SinglePrompt
from i2cansay.learners.prompts.transformer_weights import random_transformer
from i2cansay.learners.prompts.vision_transformer import vision_transformer

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NETWORK = random_transformer(side=6, patch=2, seed=5)
METHODS: dict[str, dict[str, Any]] = {
    "l2p": {"pool_size": 6, "n_chosen": 2, "prompt_length": 2},
    "dualprompt": {"pool_size": 3, "general_blocks": (0,), "expert_blocks": (1, 2)},
    "coda": {"n_components": 6, "prompt_length": 4, "prefix_blocks": (0, 1)},
    "single_prompt": {"prompt_length": 3, "prefix_blocks": (0, 1)},
}


def images(n: int, seed: int = 0) -> tuple[Float32, np.ndarray]:
    """Rows of pixels whose class is how bright they are."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return np.clip(rng.random((n, 108)) * 0.4 + 0.3 * y[:, None], 0, 1).astype(np.float32), y


def made(name: str, **parameters: Any) -> Any:
    given = {"network": NETWORK, "lr": 0.02, "random_state": 0, **METHODS[name.removesuffix("_sessions")]}
    return make_learner(name, **{**given, **parameters})


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_it_learns_bright_from_dark(method: str) -> None:
    model = made(method, lr=0.05, steps=3)
    X, y = images(300)
    for start in range(0, 300, 20):
        model.partial_fit(X[start : start + 20], y[start : start + 20])
    X_test, y_test = images(100, seed=1)
    assert model.score(X_test, y_test) > 0.6


def test_only_prompts_keys_and_head_change(method: str) -> None:
    before = {name: array.copy() for name, array in NETWORK.arrays.items()}
    model = made(method).partial_fit(*images(30))
    for name, tensor in vision_transformer(NETWORK)._tensors.items():
        assert np.array_equal(tensor.numpy(), before[name])
        assert np.array_equal(NETWORK.arrays[name], before[name])
    assert {name.split(".")[0] for name in model.state()} >= {"prompts", "head"}


def test_a_prediction_does_not_depend_on_its_batch(method: str) -> None:
    model = made(method)
    X, y = images(120)
    for start in range(0, 120, 20):
        model.partial_fit(X[start : start + 20], y[start : start + 20])
    together = model.class_scores(X[:64])
    alone = np.concatenate([model.class_scores(X[i : i + 1]) for i in range(64)])
    order = np.random.default_rng(0).permutation(64)
    np.testing.assert_allclose(alone, together, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.class_scores(X[order]), together[order], rtol=1e-4, atol=1e-4)


def test_a_stored_query_is_the_computed_one(method: str) -> None:
    X, y = images(40)
    network = vision_transformer(NETWORK)
    query = network.class_token(network.embed(X)).numpy()
    plain, told = made(method), made(method, blocks=(16, 108))
    plain.partial_fit(X, y)
    told.partial_fit(np.concatenate([query, X], axis=1), y)
    np.testing.assert_allclose(
        told.class_scores(np.concatenate([query, X], axis=1)), plain.class_scores(X), rtol=1e-3, atol=1e-3
    )


def test_rows_that_are_no_images_of_the_network_are_refused(method: str) -> None:
    with pytest.raises(ValueError, match="expected images of 6 x 6 pixels"):
        made(method).partial_fit(np.zeros((2, 75)), [0, 1])
    with pytest.raises(ValueError, match="the class token"):
        made(method, blocks=(10, 108)).partial_fit(np.zeros((2, 118)), [0, 1])


def test_without_torch_it_says_which_extra(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("i2cansay.learners.torch_extra.import_module", missing)
    model = made(method)
    with pytest.raises(ImportError, match=r"i2cansay\[torch\]"):
        model.partial_fit(*images(4))
    assert model.state() == {}


# -- the mask -----------------------------------------------------------------------------------------------


def head_moved(model: PromptLearner, X: Float32, y: Any) -> list[bool]:
    """Which classes' weights a batch moves."""
    before = model._head["weights"].values.copy()
    model.partial_fit(X, y)
    moved: list[bool] = (model._head["weights"].values != before).any(axis=1).tolist()
    return moved


def test_the_mask_of_the_batch_leaves_other_classes_alone() -> None:
    X, y = images(60)
    seen, batch = (made("l2p", mask=mask).partial_fit(X, y) for mask in ("seen", "batch"))
    for model in (seen, batch):
        model._head.start_over()  # else what Adam remembers moves all of them
    two = np.flatnonzero(y != 2)[:10]
    rows = seen._labels.rows(np.array([0, 1, 2]))
    assert np.array(head_moved(seen, X[two], y[two]))[rows].tolist() == [True, True, True]
    assert np.array(head_moved(batch, X[two], y[two]))[rows].tolist() == [True, True, False]


def test_one_class_alone_still_teaches() -> None:
    """Among the classes of such a batch the loss is zero: all that have come compete instead."""
    X, y = images(60)
    model = made("l2p", mask="batch").partial_fit(X, y)
    model._head.start_over()
    one = np.flatnonzero(y == 1)[:10]
    assert all(head_moved(model, X[one], y[one]))


# -- L2P ----------------------------------------------------------------------------------------------------


def gradients(model: Any, X: Float32, rows: Any) -> dict[str, Any]:
    """The gradients of the loss of a batch by the prompts' arrays."""
    prompts, head = model._leaves(model._prompts), model._leaves(model._head)
    features, penalty = model._prompted(prompts, model._batch(X), model._network, training=True)
    logits = model._logits(head, features)
    loss = torch.nn.functional.cross_entropy(logits, torch.as_tensor(rows)) + penalty
    loss.backward()
    return {name: tensor.grad.numpy() for name, tensor in prompts.items()}


def test_l2p_keys_and_prompts_not_chosen_get_no_gradient() -> None:
    X, y = images(40)
    model = made("l2p").partial_fit(X, y)
    model._head["weights"].values[:] = np.random.default_rng(0).normal(size=(3, 16))
    query = model._batch(X[:1]).query
    keys = torch.from_numpy(model._prompts["keys"].values)
    chosen = torch.cosine_similarity(query, keys).topk(2).indices.tolist()
    found = gradients(model, X[:1], [0])
    for name in ("keys", "prompts"):
        used = found[name].reshape(6, -1).any(axis=1)
        assert sorted(np.flatnonzero(used).tolist()) == sorted(chosen)


def test_l2p_with_all_prompts_chosen_does_not_depend_on_the_keys() -> None:
    X, y = images(30)
    model = made("l2p", n_chosen=6).partial_fit(X, y)
    before = model.class_scores(X)
    model._prompts["keys"].values[:] = model._prompts["keys"].values[::-1].copy()
    np.testing.assert_allclose(model.class_scores(X), before, rtol=1e-4, atol=1e-4)


def test_l2p_draws_chosen_keys_to_the_queries() -> None:
    X, y = images(200)

    def nearness(model: L2P) -> float:
        cosines = torch.cosine_similarity(
            model._batch(X).query[:, None], torch.from_numpy(model._prompts["keys"].values)[None], dim=2
        )
        return float(cosines.topk(2, dim=1).values.mean())

    drawn, left = (made("l2p", strength=strength).partial_fit(X, y) for strength in (1.0, 0.0))
    for _ in range(10):
        drawn.partial_fit(X, y)
        left.partial_fit(X, y)
    assert nearness(drawn) > nearness(left) + 0.05


# -- DualPrompt ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dualprompt", "dualprompt_sessions"])
def test_dualprompt_leaves_the_experts_of_the_past_alone(name: str) -> None:
    own = {"expert": "arrivals", "classes_per_expert": 1} if name == "dualprompt" else {"epochs": 2}
    model = made(name, **own)
    X, _ = images(60)
    model.partial_fit(X[:20], np.zeros(20))
    experts, keys, general = (model._prompts[part].values.copy() for part in ("experts", "keys", "general"))
    for _ in range(2):  # the head starts at zero: its first step reaches no prompt
        model.partial_fit(X[20:40], np.ones(20))
    assert np.array_equal(model._prompts["experts"].values[0], experts[0])
    assert np.array_equal(model._prompts["keys"].values[0], keys[0])
    assert not np.array_equal(model._prompts["experts"].values[1], experts[1])
    assert not np.array_equal(model._prompts["general"].values, general)


def test_dualprompt_opens_an_expert_as_a_copy_of_the_last_but_not_its_key() -> None:
    model = made("dualprompt", expert="arrivals", classes_per_expert=1)
    X, _ = images(40)
    model.partial_fit(X[:20], np.zeros(20))
    first = model._prompts["experts"].values[0].copy()
    model._grow(2)
    assert np.array_equal(model._prompts["experts"].values[1], first)
    keys = model._prompts["keys"].values
    assert not np.allclose(keys[0], keys[1])


def test_dualprompt_forgets_no_expert_with_a_class() -> None:
    model = made("dualprompt", expert="arrivals", classes_per_expert=1)
    X, _ = images(40)
    model.partial_fit(X[:20], np.zeros(20)).partial_fit(X[20:], np.ones(20))
    opened = model._opened.opened
    model.forget(0.0)
    assert model._opened.opened == opened == 2


def test_dualprompt_refuses_two_prefixes_in_a_block() -> None:
    with pytest.raises(ValueError, match="not both"):
        DualPrompt(general_blocks=(0, 1), expert_blocks=(1,)).partial_fit(np.zeros((2, 12)), [0, 1])
    with pytest.raises(ValueError, match="must be below 3"):
        made("dualprompt", expert_blocks=(7,)).partial_fit(*images(2))


# -- CODA-Prompt --------------------------------------------------------------------------------------------


def is_orthonormal(rows: Float32) -> bool:
    return bool(np.allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-5))


def test_coda_starts_orthonormal() -> None:
    model = CODAPrompt(n_components=6, prompt_length=4, prefix_blocks=(0, 1))
    drawn = model._drawn_prompts(NETWORK, np.random.default_rng(0))
    for array in drawn.values():
        for place in range(2):
            assert is_orthonormal(array[:, place].reshape(6, -1))


@pytest.mark.parametrize("name", ["coda", "coda_sessions"])
def test_coda_fixes_old_components_and_opens_new_ones_orthogonal_to_them(name: str) -> None:
    own = {"growth": "arrivals", "per_class": 2} if name == "coda" else {"per_session": 2, "epochs": 2}
    model = made(name, **own)
    X, _ = images(60)
    model.partial_fit(X[:20], np.zeros(20))
    before = {part: model._prompts[part].values.copy() for part in model._prompts.names()}
    model._grow(2)
    for part in before:
        rows = model._prompts[part].values[:, 0].reshape(6, -1)
        old = rows[:2] / np.linalg.norm(rows[:2], axis=1, keepdims=True)
        assert np.abs(rows[2:4] @ old.T).max() < 0.05  # the old ones are no longer quite orthogonal
        assert np.array_equal(model._prompts[part].values[:2], before[part][:2])
    model._drop(1)
    model.partial_fit(X[20:40], np.full(20, 2.0))
    for part, array in before.items():
        assert np.array_equal(model._prompts[part].values[:2], array[:2])


def test_coda_gives_fixed_components_no_gradient() -> None:
    model = made("coda", growth="arrivals", per_class=2)
    X, y = images(40)
    model.partial_fit(X[:20], np.zeros(20)).partial_fit(X[20:], np.ones(20))
    model._head["weights"].values[:] = np.random.default_rng(0).normal(size=(2, 16))
    for gradient in gradients(model, X, y % 2).values():
        assert not gradient[:2].any()
        assert gradient[2:4].any()
        assert not gradient[4:].any()


def test_coda_weights_do_not_depend_on_the_length_of_the_query() -> None:
    rng = np.random.default_rng(0)
    query, attention, keys = (torch.from_numpy(rng.normal(size=(4, 16)).astype(np.float32)) for _ in range(3))
    found = attended_cosines(query, attention, keys)
    torch.testing.assert_close(attended_cosines(7.5 * query, attention, keys), found)
    expected = torch.cosine_similarity((query[:, None] * attention[None]), keys[None], dim=2)
    torch.testing.assert_close(found, expected)


def test_coda_follows_the_query_continuously() -> None:
    rng = np.random.default_rng(0)
    query, attention, keys = (torch.from_numpy(rng.normal(size=(4, 16)).astype(np.float32)) for _ in range(3))
    for step in (1e-2, 1e-3):
        moved = attended_cosines(query + step, attention, keys)
        assert (moved - attended_cosines(query, attention, keys)).abs().max() < 10 * step


# -- the single prompt --------------------------------------------------------------------------------------


def test_the_single_prompt_scores_are_cosines_over_the_temperature() -> None:
    model = SinglePrompt(network=NETWORK, prefix_blocks=(0,), temperature=0.25, random_state=0)
    X, y = images(30)
    scores = model.partial_fit(X, y).class_scores(X)
    assert np.abs(scores).max() <= 4 + 1e-4


# -- replay and sessions ------------------------------------------------------------------------------------


def test_replay_keeps_images_and_no_memory_keeps_none(method: str) -> None:
    X, y = images(50)
    keeping, none = made(method, memory_size=7).partial_fit(X, y), made(method).partial_fit(X, y)
    assert keeping.stores_samples
    assert not none.stores_samples
    assert len(keeping.state()["buffer.rows"]) == 7
    assert "buffer.rows" not in none.state()


def test_replayed_classes_compete_in_the_batch() -> None:
    X, y = images(60)
    model = made("l2p", mask="batch", memory_size=40, n_replayed=40).partial_fit(X, y)
    model._head.start_over()
    one = np.flatnonzero(y == 1)[:5]
    assert all(head_moved(model, X[one], y[one]))


@pytest.mark.parametrize("name", ["l2p_sessions", "dualprompt_sessions", "coda_sessions"])
def test_a_session_masks_the_classes_of_the_past(name: str) -> None:
    X, y = images(90)
    model = made(name, epochs=1, mask="session").partial_fit(X[y < 2], y[y < 2])
    before = model._head["weights"].values.copy()
    later = np.where(y == 2, 2, 3)
    model.partial_fit(X, later)
    assert np.array_equal(model._head["weights"].values[:2], before)
    assert model.needs_boundaries
