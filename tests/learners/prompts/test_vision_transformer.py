"""The frozen transformer in torch: equal to the encoder's graph, and itself when nothing prompts it."""

from dataclasses import replace

import numpy as np
import pytest

from i2cansay.core.types import Float32
from i2cansay.encoders import get_encoder
from i2cansay.encoders.onnx_session import OnnxSession
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.transformer_arrays import transformer_arrays
from i2cansay.encoders.vit import build_vit
from i2cansay.encoders.vit_recipes import DEIT_TINY
from i2cansay.learners.prompts.transformer_weights import TransformerWeights, random_transformer
from i2cansay.learners.prompts.vision_transformer import Prefix, VisionTransformer

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def images(n: int, side: int) -> Float32:
    """Rows of whole pixels from 0 to 1."""
    pixels = np.random.default_rng(0).integers(0, 256, (n, 3 * side * side))
    return (pixels / 255).astype(np.float32)


def class_token(network: VisionTransformer, X: Float32) -> Float32:
    token: Float32 = network.class_token(network.embed(X)).numpy()
    return token


def layer_scales(width: int, depth: int) -> dict[str, Float32]:
    rng = np.random.default_rng(1)
    names = [f"blocks.{block}.{layer}.gamma" for block in range(depth) for layer in ("ls1", "ls2")]
    return {name: rng.uniform(0.5, 1.5, width).astype(np.float32) for name in names}


@pytest.mark.parametrize("heads", [1, 6, 12], ids=["one head", "as DINO ViT-S/8", "as ViT-B/16"])
@pytest.mark.parametrize("scaled", [False, True], ids=["plain", "layer scale"])
@pytest.mark.parametrize("biased", [True, False], ids=["biases", "no bias of queries, keys, values"])
def test_equals_the_graph_of_the_same_weights(heads: int, scaled: bool, biased: bool) -> None:
    """Heads are 64 wide, as in the networks whose files are not at hand here."""
    looking = Preprocessing(size=24, resize=24)
    tiny = random_transformer(side=24, patch=8, width=64 * heads, depth=2, heads=heads)
    arrays = dict(tiny.arrays) | (layer_scales(64 * heads, 2) if scaled else {})
    arrays = {name: array for name, array in arrays.items() if biased or not name.endswith("qkv.bias")}
    tiny = replace(tiny, arrays=arrays, mean=looking.mean, std=looking.std)
    squares = np.random.default_rng(0).integers(0, 256, (5, 24, 24, 3), dtype=np.uint8)
    graph = OnnxSession(build_vit(dict(tiny.arrays), looking).SerializeToString())
    ours = class_token(VisionTransformer(tiny), (squares.reshape(5, -1) / 255).astype(np.float32))
    np.testing.assert_allclose(ours, graph.run(squares), rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(not DEIT_TINY.has_weights(), reason="needs the weights of DeiT-Tiny")
@pytest.mark.parametrize("side", [96, 224])
def test_equals_the_encoder_of_deit_tiny(side: int) -> None:
    encoder = get_encoder(f"deit_tiny+pixels@{side}")
    squares = np.random.default_rng(0).integers(0, 256, (3, side, side, 3), dtype=np.uint8)
    rows = encoder.infer(squares)
    network = VisionTransformer(TransformerWeights(**transformer_arrays(f"deit_tiny@{side}")._asdict()))
    np.testing.assert_allclose(class_token(network, rows[:, 192:]), rows[:, :192], rtol=1e-4, atol=1e-4)


def test_a_prefix_changes_the_class_token_and_one_of_no_length_does_not() -> None:
    network = VisionTransformer(random_transformer(side=4))
    tokens = network.embed(images(3, 4))
    frozen = network.class_token(tokens)
    prefix, none = (Prefix(torch.ones(n, 16), torch.ones(n, 16)) for n in (2, 0))
    torch.testing.assert_close(network.class_token(tokens, {1: none}), frozen)
    assert not torch.allclose(network.class_token(tokens, {1: prefix}), frozen, atol=1e-3)


def test_prompt_tokens_get_no_position() -> None:
    """A prompt that is what the class token is, its position included, becomes what the class token becomes."""
    network = VisionTransformer(random_transformer(side=4))
    tokens = network.embed(images(3, 4))
    found = network.mean_of_prompts(tokens, tokens[:, :1])
    both = network._norm(network._through(torch.cat([tokens[:, :1], tokens], dim=1), {}, kept=2), "norm")
    torch.testing.assert_close(found, both[:, 1])
    assert not torch.allclose(found, network.class_token(tokens), atol=1e-3)


def test_a_prefix_that_no_query_attends_to_leaves_the_class_token() -> None:
    """Where the logits of the prefix are far below all others, its values count for nothing."""
    network = VisionTransformer(random_transformer(side=4, heads=1))
    tokens = network.embed(images(1, 4))
    normed = network._norm(tokens, "blocks.0.norm1")
    query = network._linear(normed, "blocks.0.attn.qkv").chunk(3, dim=-1)[0]
    # Opposite to the mean query: with this network every query is on the same side of it.
    away = -1e6 * torch.linalg.lstsq(query[0], torch.ones(query.shape[1], 1)).solution.T
    assert (query[0] @ away.T < -100).all()
    ignored = network.class_token(tokens, {0: Prefix(away, torch.full((1, 16), 50.0))})
    torch.testing.assert_close(ignored, network.class_token(tokens), rtol=1e-4, atol=1e-4)


def test_a_prefix_of_each_image_is_its_own() -> None:
    network = VisionTransformer(random_transformer(side=4))
    tokens = network.embed(images(3, 4))
    keys, values = torch.randn(3, 2, 16), torch.randn(3, 2, 16)
    together = network.class_token(tokens, {0: Prefix(keys, values)})
    for image in range(3):
        one = slice(image, image + 1)
        alone = network.class_token(tokens[one], {0: Prefix(keys[one], values[one])})
        torch.testing.assert_close(alone, together[one], rtol=1e-5, atol=1e-5)


def test_weights_ask_for_no_gradient() -> None:
    network = VisionTransformer(random_transformer(side=4))
    prompts = torch.zeros(2, 3, 16, requires_grad=True)
    network.mean_of_prompts(network.embed(images(2, 4)), prompts).sum().backward()
    assert prompts.grad is not None
    assert all(tensor.grad is None and not tensor.requires_grad for tensor in network._tensors.values())


def test_other_networks_are_refused() -> None:
    with pytest.raises(ValueError, match="vision transformer such as deit_tiny"):
        transformer_arrays("efficientnet-lite0")
    with pytest.raises(ValueError, match="missing: cls_token"):
        TransformerWeights({"patch_embed.proj.weight": np.ones((4, 3, 2, 2), np.float32)}, heads=1)


@pytest.mark.parametrize("kept", [1, 3])
def test_the_last_block_makes_the_tokens_that_are_asked_for_as_it_makes_all(kept: int) -> None:
    network = VisionTransformer(random_transformer(side=8))
    tokens = network.embed(images(3, 8))
    prefix = {network.weights.depth - 1: Prefix(torch.ones(2, 16), torch.ones(2, 16))}
    whole = network._through(tokens, prefix, kept=tokens.shape[1])
    torch.testing.assert_close(
        network._through(tokens, prefix, kept=kept), whole[:, :kept], rtol=1e-5, atol=1e-5
    )


def test_in_bfloat16_it_is_nearly_the_same_and_gradients_stay_in_float32() -> None:
    weights = random_transformer(side=8)
    tokens, prefix = VisionTransformer(weights).embed(images(4, 8)), torch.ones(2, 2, 16, requires_grad=True)
    found = []
    for precision in ("float32", "bfloat16"):
        token = VisionTransformer(weights, precision).class_token(tokens, {0: Prefix(*prefix)})
        (gradient,) = torch.autograd.grad(token.square().sum(), [prefix])
        assert token.dtype == gradient.dtype == torch.float32
        found.append(token.detach())
    apart = (found[0] - found[1]).norm() / found[0].norm()
    assert 0 < apart < 0.05
