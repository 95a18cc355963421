"""The published vision transformers, and any other of their layouts."""

from __future__ import annotations

from functools import partial

from i2cansay.encoders.network_facts import NetworkFacts
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.recipe import OfficialFile, Recipe
from i2cansay.encoders.stages import Stage
from i2cansay.encoders.transformers_keys import clip_keys, dinov2_keys
from i2cansay.encoders.vit import ViTArithmetic, build_vit, vit_shape

OPENAI = ViTArithmetic(epsilon=1e-5, quick_gelu=True, first_norm=True)
RANDOM = "small networks, features and stages against torch"
AGAINST_TRANSFORMERS = "small networks saved by the library transformers, features and stages against it"
# What DINO's and DINOv2's authors give a linear classifier: class tokens of the last blocks, and the mean patch.
LAST_FOUR = (Stage("block11.patches"), Stage("block10.class"), Stage("block9.class"), Stage("block8.class"))

DINO_VITS8 = Recipe(
    name="dino_vits8",
    summary="DINO ViT-S/8, ImageNet-1k without labels",
    build=build_vit,
    preprocessing=Preprocessing(),
    files=(
        OfficialFile(
            "dino_deitsmall8_pretrain.pth",
            "https://dl.fbaipublicfiles.com/dino/dino_deitsmall8_pretrain/dino_deitsmall8_pretrain.pth",
        ),
    ),
    fixed_size=True,
    shape_of=vit_shape,
    shape="12 blocks of width 384 over patches of 8 pixels",
    stages=LAST_FOUR,
    facts=NetworkFacts(384, 86.7, "Apache-2.0", stages_width=5 * 384, checked_random=RANDOM),
)
DINOV2_VITS14 = Recipe(
    name="dinov2_vits14",
    summary="DINOv2 ViT-S/14 without registers, 142 million images without labels",
    build=build_vit,
    preprocessing=Preprocessing(),
    files=(
        OfficialFile(
            "dinov2-small.safetensors",
            "https://huggingface.co/facebook/dinov2-small/resolve/main/model.safetensors",
        ),
        OfficialFile(
            "dinov2_vits14_pretrain.pth",
            "https://dl.fbaipublicfiles.com/dinov2/dinov2_vits14/dinov2_vits14_pretrain.pth",
        ),
    ),
    fixed_size=True,
    shape_of=vit_shape,
    shape="12 blocks of width 384 over patches of 14 pixels",
    adapt=dinov2_keys,
    stages=LAST_FOUR,
    facts=NetworkFacts(384, 88.2, "Apache-2.0", stages_width=5 * 384, checked_random=AGAINST_TRANSFORMERS),
)
CLIP_VITB32 = Recipe(
    name="clip_vitb32",
    summary="CLIP ViT-B/32 of OpenAI, image tower, 400 million images with texts",
    build=partial(build_vit, arithmetic=OPENAI),
    # The shorter side is resized to the size of the crop.
    preprocessing=Preprocessing(
        size=224,
        resize=224,
        mean=(0.48145466, 0.4578275, 0.40821073),
        std=(0.26862954, 0.26130258, 0.27577711),
    ),
    files=(
        OfficialFile(
            "clip-vit-base-patch32.bin",
            "https://huggingface.co/openai/clip-vit-base-patch32/resolve/main/pytorch_model.bin",
        ),
        # The same keys, for those who have converted it
        OfficialFile("clip-vit-base-patch32.safetensors", ""),
    ),
    fixed_size=True,
    shape_of=vit_shape,
    shape="12 blocks of width 768 over patches of 32 pixels",
    adapt=clip_keys,
    arithmetic=OPENAI.in_words(),
    stages=(Stage("block11.class"), Stage("block11.patches"), Stage("block9.class")),
    facts=NetworkFacts(
        512, 605.2, "MIT, as OpenAI's code", stages_width=512 + 3 * 768, checked_random=AGAINST_TRANSFORMERS
    ),
)
DEIT_TINY = Recipe(
    name="deit_tiny",
    summary="DeiT-Tiny, patch 16, ImageNet-1k",
    build=build_vit,
    preprocessing=Preprocessing(),
    files=(
        OfficialFile(
            "deit_tiny_patch16_224-a1311bcf.pth",
            "https://dl.fbaipublicfiles.com/deit/deit_tiny_patch16_224-a1311bcf.pth",
            "a1311bcf",
        ),
        # The same network converted to half precision, which nobody publishes under a fixed hash
        OfficialFile("deit_tiny_patch16_224.fp16.safetensors", ""),
    ),
    fixed_size=True,
    shape_of=vit_shape,
    shape="12 blocks of width 192 over patches of 16 pixels",
    stages=(
        Stage("block11.patches", 2.0),
        Stage("block10.class", 1.1),
        Stage("block9.class", 1.4),
        Stage("block8.class", 2.5),
    ),
    facts=NetworkFacts(
        192,
        22.9,
        "Apache-2.0",
        stages_width=5 * 192,
        checked="features and stages against torch, in half precision; two photographs are recognised",
        checked_random=RANDOM,
    ),
)
VIT = Recipe(
    name="vit",
    summary="any vision transformer with DINO's, DINOv2's or timm's keys",
    build=build_vit,
    preprocessing=Preprocessing(),
    fixed_size=True,
    adapt=dinov2_keys,
)
