"""What makes each prompt method itself, on a small random transformer."""

from typing import Any

import numpy as np
import pytest

from i2cansay.core.types import Float32
from i2cansay.learners import make_learner
from i2cansay.learners.prompts.adam_rows import AdamRows
from i2cansay.learners.prompts.coda import CODAPrompt, attended_cosines
from i2cansay.learners.prompts.dualprompt import DualPrompt
from i2cansay.learners.prompts.l2p import L2P
from i2cansay.learners.prompts.prompt_learner import PromptLearner
from i2cansay.learners.prompts.selection import cosines
from i2cansay.learners.prompts.single_prompt import SinglePrompt
from i2cansay.learners.prompts.transformer_weights import TransformerWeights, random_transformer
from i2cansay.learners.prompts.vision_transformer import Prefix, vision_transformer

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NETWORK = random_transformer(side=6, patch=2, seed=5)
METHODS: dict[str, dict[str, Any]] = {
    "l2p": {"pool_size": 6, "n_chosen": 2, "prompt_length": 2},
    "dualprompt": {"pool_size": 3, "general_blocks": (0,), "expert_blocks": (1, 2)},
    "coda": {"n_components": 6, "prompt_length": 4, "prefix_blocks": (0, 1)},
    "single_prompt": {"prompt_length": 3, "prefix_blocks": (0, 1)},
}
SESSIONS = ("l2p_sessions", "dualprompt_sessions", "coda_sessions")


def images(n: int, seed: int = 0) -> tuple[Float32, np.ndarray]:
    """Rows of pixels whose class is how bright they are."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return np.clip(rng.random((n, 108)) * 0.4 + 0.3 * y[:, None], 0, 1).astype(np.float32), y


def made(name: str, **parameters: Any) -> Any:
    given = {"network": NETWORK, "lr": 0.02, "random_state": 0, **METHODS[name.removesuffix("_sessions")]}
    return make_learner(name, **{**given, **parameters})


def spread_keys(model: Any, X: Float32) -> None:
    """Set the keys of a method that has a choice so that the images of X do not all choose the same."""
    if not isinstance(model, L2P | DualPrompt):
        return
    query, keys = model._batch(X).query.numpy(), model._prompts["keys"].values
    keys[:] = (query - query.mean(axis=0))[: len(keys)]
    assert len(cosines(torch.from_numpy(query), torch.from_numpy(keys)).argmax(dim=1).unique()) > 1


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
    trained = [part[name] for part in (model._prompts, model._head) for name in part.names()]
    start = [array.values.copy() for array in trained]
    model.partial_fit(*images(30, seed=1))
    for name, tensor in vision_transformer(NETWORK)._tensors.items():
        assert np.array_equal(tensor.numpy(), before[name])
        assert np.array_equal(NETWORK.arrays[name], before[name])
    unused = model._head["bias"] if method == "single_prompt" else None  # cosines have none
    for array, values in zip(trained, start, strict=True):
        assert np.array_equal(array.values, values) == (array is unused)


@pytest.mark.parametrize(
    ("method", "own"),
    [*((name, {}) for name in (*METHODS, *SESSIONS)), ("dualprompt", {"expert": "arrivals"})],
)
def test_a_prediction_does_not_depend_on_its_batch(method: str, own: dict[str, Any]) -> None:
    model = made(method, **own)
    X, y = images(120)
    for start in range(0, 120, 20):
        model.partial_fit(X[start : start + 20], y[start : start + 20])
    spread_keys(model, X)
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


# -- choosing by image, and gradients -----------------------------------------------------------------------


def gradients(model: Any, X: Float32, rows: Any) -> dict[str, Float32]:
    """The gradients of the loss of a batch by every array that is trained."""
    prompts, head = model._leaves(model._prompts), model._leaves(model._head)
    features, penalty = model._prompted(prompts, model._batch(X), model._network, training=True)
    loss = torch.nn.functional.cross_entropy(model._logits(head, features), torch.as_tensor(rows)) + penalty
    leaves = {**prompts, **head}
    found = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
    return {
        name: gradient.numpy() for name, gradient in zip(leaves, found, strict=True) if gradient is not None
    }


def test_a_batch_teaches_what_its_images_teach_one_by_one(method: str) -> None:
    """Prompts are chosen image by image in training too: a vote of the batch would give other gradients."""
    X, y = images(24)
    model = made(method).partial_fit(X, y)
    model._head["weights"].values[:] = np.random.default_rng(0).normal(size=(3, 16))
    spread_keys(model, X)
    rows = model._labels.rows(y)
    together = gradients(model, X, rows)
    alone = [gradients(model, X[i : i + 1], rows[i : i + 1]) for i in range(len(X))]
    for name, gradient in together.items():
        assert np.abs(gradient).max() > 1e-4
        mean = np.mean([each[name] for each in alone], axis=0)
        np.testing.assert_allclose(gradient, mean, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", [*METHODS, *SESSIONS])
def test_gradients_are_cut_where_that_is_published(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Float32] = []
    model = made(name).partial_fit(*images(30))
    monkeypatch.setattr(AdamRows, "step", lambda self, gradient, lr, trained=None: taken.append(gradient))
    arrays = [part[name].values for part in (model._prompts, model._head) for name in part.names()]
    model._update([np.ones_like(array) for array in arrays])
    length = np.sqrt(sum(np.vdot(gradient, gradient) for gradient in taken))
    whole = np.sqrt(sum(array.size for array in arrays))
    cut = name.removesuffix("_sessions") in ("l2p", "dualprompt")
    assert length == pytest.approx(1 if cut else whole, rel=1e-4)


def test_what_is_fixed_does_not_count_where_gradients_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    model = made("dualprompt", expert="arrivals", classes_per_expert=1)
    X, _ = images(40)
    model.partial_fit(X[:20], np.zeros(20)).partial_fit(X[20:], np.ones(20))
    taken: list[Float32] = []
    monkeypatch.setattr(AdamRows, "step", lambda self, gradient, lr, trained=None: taken.append(gradient))
    arrays = [part[name].values for part in (model._prompts, model._head) for name in part.names()]
    gradients = [np.zeros_like(array) for array in arrays]
    experts = model._prompts.names().index("experts")
    gradients[experts][0] = 100.0  # of the past
    gradients[experts][1].flat[0] = 0.5
    model._update(gradients)
    assert taken[experts][1].flat[0] == 0.5
    assert not taken[experts][0].any()


@pytest.mark.parametrize("name", [*METHODS, *SESSIONS])
def test_a_stream_that_is_cut_goes_on_to_the_same_bits(name: str) -> None:
    X, y = images(80)
    replay = {"memory_size": 20, "n_replayed": 6}
    whole, first, rest = (made(name, **replay) for _ in range(3))
    for start in range(0, 80, 20):
        whole.partial_fit(X[start : start + 20], y[start : start + 20])
    for start in (0, 20):
        first.partial_fit(X[start : start + 20], y[start : start + 20])
    rest.set_state(first.state())
    for start in (40, 60):
        rest.partial_fit(X[start : start + 20], y[start : start + 20])
    ours, theirs = whole.state(), rest.state()
    assert ours.keys() == theirs.keys()
    for part, values in ours.items():
        np.testing.assert_array_equal(theirs[part], values, err_msg=part)


def test_a_step_that_has_no_gradient_is_left_out_and_told() -> None:
    model = made("l2p").partial_fit(*images(30))
    before = [part[name].values.copy() for part in (model._prompts, model._head) for name in part.names()]
    with pytest.warns(RuntimeWarning, match="a step of L2P is left out"):
        model._update([np.full_like(array, np.nan) for array in before])
    after = [part[name].values for part in (model._prompts, model._head) for name in part.names()]
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


# -- prompts switched off -----------------------------------------------------------------------------------


def with_a_way_to_look_away(weights: TransformerWeights) -> TransformerWeights:
    """The network with one number of each head's queries fixed at 1, and at 0 in the keys of all tokens.

    It changes no attention between tokens, and a prefix whose keys have a large negative number there gets none.
    """
    arrays = {name: array.copy() for name, array in weights.arrays.items()}
    for block in range(weights.depth):
        places = away(weights) != 0
        weight, bias = (arrays[f"blocks.{block}.attn.qkv.{part}"] for part in ("weight", "bias"))
        for part, value in ((0, 1.0), (1, 0.0)):  # queries, keys
            weight[part * weights.width : (part + 1) * weights.width][places] = 0
            bias[part * weights.width : (part + 1) * weights.width][places] = value
    return TransformerWeights(arrays, heads=weights.heads)


def away(weights: TransformerWeights) -> Float32:
    """The key of a prefix that no query of such a network attends to."""
    key = np.zeros((weights.heads, weights.width // weights.heads), np.float32)
    key[:, 0] = -1e4
    return key.ravel()


def switch_off(model: Any, X: Float32) -> None:
    """Give every prefix the keys that no query attends to."""
    weights, network = model.network, model._network
    prompts, ignored = {name: model._prompts[name].values for name in model._prompts.names()}, away(weights)
    if isinstance(model, DualPrompt):
        prompts["general"][:, 0] = prompts["experts"][:, :, 0] = ignored
    elif isinstance(model, SinglePrompt):
        prompts["prefixes"][:, 0] = ignored
    else:  # with weights above zero
        prompts["attentions"][:] = 1
        prompts["keys"][:] = network.class_token(network.embed(X)).mean(dim=0).numpy()
        prompts["components"][:, :, : model.prompt_length // 2] = ignored


@pytest.mark.parametrize("name", ["dualprompt", "coda", "single_prompt"])
def test_a_prefix_that_nothing_attends_to_leaves_the_frozen_class_token(name: str) -> None:
    """L2P is not here: its feature is the mean of its prompts' outputs, and without prompts it has none."""
    weights = with_a_way_to_look_away(NETWORK)
    X, y = images(20)
    model = made(name, network=weights).partial_fit(X, y)
    network, batch = model._network, model._batch(X)
    frozen = network.class_token(batch.tokens)

    def feature() -> Any:
        return model._prompted(model._tensors(model._prompts), batch, network, training=False)[0]

    assert (feature() - frozen).abs().max() > 1e-3
    switch_off(model, X)
    torch.testing.assert_close(feature(), frozen, rtol=1e-5, atol=1e-5)


# -- the mask -----------------------------------------------------------------------------------------------


def head_moved(model: PromptLearner, X: Float32, y: Any) -> list[bool]:
    """Which classes' weights a batch moves."""
    before = model._head["weights"].values.copy()
    model.partial_fit(X, y)
    moved: list[bool] = (model._head["weights"].values != before).any(axis=1).tolist()
    return moved


def test_the_mask_of_the_batch_gives_other_classes_no_gradient() -> None:
    X, y = images(60)
    seen, batch = (made("l2p", mask=mask).partial_fit(X, y) for mask in ("seen", "batch"))
    for model in (seen, batch):
        model._head.start_over()  # so that only gradients move it
    two = np.flatnonzero(y != 2)[:10]
    rows = seen._labels.rows(np.array([0, 1, 2]))
    assert np.array(head_moved(seen, X[two], y[two]))[rows].tolist() == [True, True, True]
    assert np.array(head_moved(batch, X[two], y[two]))[rows].tolist() == [True, True, False]


def test_under_the_mask_of_the_batch_what_adam_remembers_still_moves_other_classes() -> None:
    X, y = images(60)
    model = made("l2p", mask="batch").partial_fit(X, y)
    two = np.flatnonzero(y != 2)[:10]
    assert all(head_moved(model, X[two], y[two]))


def test_one_class_alone_still_teaches() -> None:
    """Among the classes of such a batch the loss is zero: all that have come compete instead."""
    X, y = images(60)
    model = made("l2p", mask="batch").partial_fit(X, y)
    model._head.start_over()
    one = np.flatnonzero(y == 1)[:10]
    assert all(head_moved(model, X[one], y[one]))


# -- L2P ----------------------------------------------------------------------------------------------------


def test_l2p_feature_is_the_mean_of_the_prompts_outputs_and_not_the_class_token() -> None:
    X, y = images(12)
    model = made("l2p").partial_fit(X, y)
    network, batch = model._network, model._batch(X)
    found, _ = model._prompted(model._tensors(model._prompts), batch, network, training=False)
    keys = torch.from_numpy(model._prompts["keys"].values)
    for image in range(len(X)):
        chosen = torch.cosine_similarity(batch.query[image], keys, dim=1).topk(2).indices.tolist()
        prompts = [torch.from_numpy(model._prompts["prompts"].values[prompt]) for prompt in chosen]
        tokens = torch.cat([*prompts, batch.tokens[image]])[None]  # as drawn: they get no position
        outputs = network._norm(network._through(tokens, {}, kept=tokens.shape[1]), "norm")[0]
        torch.testing.assert_close(found[image], outputs[:4].mean(dim=0), rtol=1e-4, atol=1e-5)
        assert not torch.allclose(found[image], outputs[4], atol=1e-2)


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
        nearest = cosines(model._batch(X).query, torch.from_numpy(model._prompts["keys"].values))
        return float(nearest.topk(2, dim=1).values.mean())

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
    for other in (0, 2):  # of the past, and not opened yet
        assert np.array_equal(model._prompts["experts"].values[other], experts[other])
        assert np.array_equal(model._prompts["keys"].values[other], keys[other])
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


def test_dualprompt_opens_one_expert_at_most_with_a_batch() -> None:
    """Others would be copies that nothing trains, and could still be chosen."""
    model = made("dualprompt", expert="arrivals", classes_per_expert=1)
    X, _ = images(30)
    model.partial_fit(X, np.arange(30) % 3)
    assert model._opened.opened == 1


@pytest.mark.parametrize("name", ["dualprompt", "dualprompt_sessions"])
def test_dualprompt_replays_an_image_with_the_expert_of_its_class(name: str) -> None:
    own = {"expert": "arrivals", "classes_per_expert": 1} if name == "dualprompt" else {"epochs": 1}
    model = made(name, memory_size=20, n_replayed=20, **own)
    X, _ = images(40)
    model.partial_fit(X[:20], np.zeros(20)).partial_fit(X[20:], np.ones(20))
    batch = model._batch(X)
    nearness = cosines(batch.query, torch.from_numpy(model._prompts["keys"].values))
    rows = model._labels.rows(np.repeat([0.0, 1.0], 20))
    assert model._chosen(nearness, torch.from_numpy(rows)).tolist() == np.repeat([0, 1], 20).tolist()
    model.partial_fit(X[:20], np.zeros(20))  # taught again, with the expert that is open
    assert set(model._chosen(nearness, torch.from_numpy(rows)).tolist()) == {1}


def test_dualprompt_refuses_a_state_with_an_expert_that_there_is_not() -> None:
    model = made("dualprompt").partial_fit(*images(20))
    state = {name: array.copy() for name, array in model.state().items()}
    state["expert_of.rows"][0] = 3
    with pytest.raises(ValueError, match="the expert of a class should lie from 0 to 2"):
        made("dualprompt").set_state(state)


@pytest.mark.parametrize("name", ["dualprompt", "dualprompt_sessions"])
def test_dualprompt_predicts_with_opened_experts_only(name: str) -> None:
    own = {"expert": "arrivals", "classes_per_expert": 3} if name == "dualprompt" else {"epochs": 1}
    model = made(name, **own)
    X, y = images(20)
    model.partial_fit(X, y)
    batch = model._batch(X[:1])
    model._prompts["keys"].values[1:] = batch.query.numpy()  # the nearest there can be, and not opened
    nearness = cosines(batch.query, torch.from_numpy(model._prompts["keys"].values))
    assert model._chosen(nearness, None).tolist() == [0]


def test_dualprompt_draws_the_keys_of_its_experts_to_the_queries() -> None:
    X, y = images(100)

    def nearness(strength: float) -> float:
        model = made("dualprompt", pool_size=1, strength=strength)
        for _ in range(10):
            model.partial_fit(X, y)
        return float(cosines(model._batch(X).query, torch.from_numpy(model._prompts["keys"].values)).mean())

    assert nearness(1.0) > nearness(0.0) + 0.05


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
    rng = np.random.default_rng(0)
    for part in model._prompts.names():  # as far from the rows that were drawn as training could take them
        values = model._prompts[part].values
        values[:2] = rng.normal(size=values[:2].shape)
    before = {part: model._prompts[part].values.copy() for part in model._prompts.names()}
    model._grow(2)
    for part in before:
        for place in range(2):
            rows = model._prompts[part].values[:, place].reshape(6, -1)
            old = rows[:2] / np.linalg.norm(rows[:2], axis=1, keepdims=True)
            drawn = before[part][2:4, place].reshape(2, -1)
            assert np.abs(drawn @ old.T).max() > 0.1, "otherwise there is nothing to do"
            assert np.abs(rows[2:4] @ old.T).max() < 0.05  # the old ones are not orthogonal to each other
            assert is_orthonormal(rows[2:4])
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
    found = gradients(model, X, y % 2)
    for gradient in (found[name] for name in model._prompts.names()):
        assert not gradient[:2].any()
        assert gradient[2:4].any()
        assert not gradient[4:].any()


def test_coda_penalty_is_how_far_rows_that_take_part_are_from_orthonormal() -> None:
    model = made("coda", growth="arrivals", per_class=2, strength=0.3)
    X, _ = images(40)
    model.partial_fit(X[:20], np.zeros(20)).partial_fit(X[20:], np.ones(20))
    expected = 0.0
    for name in model._prompts.names():
        for place in range(2):
            rows = 1.5 * model._prompts[name].values[:4, place].reshape(4, -1)
            expected += 0.3 * np.square(rows @ rows.T - np.eye(4)).mean()
        model._prompts[name].values *= 1.5
    found = [
        model._prompted(model._tensors(model._prompts), model._batch(X), model._network, training=training)[1]
        for training in (True, False)
    ]
    assert float(found[0]) == pytest.approx(expected, rel=1e-4)
    assert float(found[1]) == 0.0


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


class PrefixesOnly:
    """In place of a network: keeps the prefixes that it is given."""

    def class_token(self, tokens: Any, prefixes: dict[int, Prefix]) -> Any:
        self.prefixes = prefixes
        return tokens[:, 0]


def test_coda_prefix_is_the_sum_of_all_components_first_half_for_keys_second_for_values() -> None:
    X, y = images(40)
    model = made("coda").partial_fit(X, y)
    batch, network = model._batch(X[:5]), PrefixesOnly()
    tensors = model._tensors(model._prompts)
    model._prompted(tensors, batch, network, training=False)
    assert list(network.prefixes) == [0, 1]
    for place, prefix in enumerate(network.prefixes.values()):
        for image in range(5):
            expected = torch.zeros(4, 16)
            for component in range(6):
                attended = batch.query[image] * tensors["attentions"][component, place]
                weight = torch.cosine_similarity(attended, tensors["keys"][component, place], dim=0)
                expected = expected + weight * tensors["components"][component, place]
            torch.testing.assert_close(prefix.keys[image], expected[:2])
            torch.testing.assert_close(prefix.values[image], expected[2:])


# -- the single prompt --------------------------------------------------------------------------------------


def test_the_single_prompt_scores_are_cosines_over_the_temperature() -> None:
    model = SinglePrompt(network=NETWORK, prefix_blocks=(0,), temperature=0.25, random_state=0)
    X, y = images(30)
    model.partial_fit(X, y)
    batch, tensors = model._batch(X), model._tensors(model._prompts)
    features = model._prompted(tensors, batch, model._network, training=False)[0].numpy()
    weights = model._head["weights"].values
    lengths = np.linalg.norm(features, axis=1)[:, None] * np.linalg.norm(weights, axis=1)
    expected = features @ weights.T / lengths / 0.25
    expected = expected[:, model._labels.rows(model.classes_)]
    np.testing.assert_allclose(model.class_scores(X), expected, rtol=1e-4, atol=1e-4)
    assert np.abs(expected).max() > 1


# -- Adam ---------------------------------------------------------------------------------------------------


def test_adam_is_that_of_torch() -> None:
    rng = np.random.default_rng(0)
    start = rng.normal(size=(4, 3)).astype(np.float32)
    ours, theirs = AdamRows(start), torch.from_numpy(start.copy()).requires_grad_()
    adam = torch.optim.Adam([theirs], lr=0.03)
    for _ in range(50):
        gradient = rng.normal(size=(4, 3)).astype(np.float32)
        ours.step(gradient, 0.03)
        theirs.grad = torch.from_numpy(gradient)
        adam.step()
    np.testing.assert_allclose(ours.values, theirs.detach().numpy(), rtol=1e-5, atol=1e-5)


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


@pytest.mark.parametrize("name", SESSIONS)
def test_the_rate_falls_over_the_passes_of_coda_alone_and_anew_in_each_session(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[float] = []
    monkeypatch.setattr(AdamRows, "step", lambda self, gradient, lr, trained=None: taken.append(lr))
    model = made(name, lr=0.5, epochs=3, batch_size=20)
    X, y = images(40)
    model.partial_fit(X, y).partial_fit(X, y)
    arrays = len(model._prompts.names()) + len(model._head.names())
    falling = [0.5, 0.5 * np.cos(0.495 * np.pi / 2), 0.5 * np.cos(0.495 * np.pi)]
    rates = falling if name == "coda_sessions" else [0.5] * 3
    np.testing.assert_allclose(taken, 2 * np.repeat(rates, 2 * arrays).tolist())


@pytest.mark.parametrize("name", SESSIONS)
def test_every_session_has_an_optimiser_of_its_own(name: str) -> None:
    model = made(name, epochs=2, batch_size=10)
    X, y = images(60)
    for _ in range(2):
        model.partial_fit(X[:30], y[:30])
        for part in (model._prompts, model._head):
            assert max(part[array].steps.max() for array in part.names()) == 2 * 3


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_masks_the_classes_of_the_past(name: str) -> None:
    X, y = images(90)
    model = made(name, epochs=1, mask="session").partial_fit(X[y < 2], y[y < 2])
    before = model._head["weights"].values.copy()
    later = np.where(y == 2, 2, 3)
    model.partial_fit(X, later)
    assert np.array_equal(model._head["weights"].values[:2], before)
    assert model.needs_boundaries
