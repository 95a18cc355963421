"""The table of encoders, from name to where its recipe is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from i2cansay.core.import_by_name import import_by_name

if TYPE_CHECKING:
    from i2cansay.encoders.recipe import Recipe

ENCODERS: dict[str, str] = {
    "efficientnet-lite0": "i2cansay.encoders.efficientnet:EFFICIENTNET_LITE0",
    "efficientnet-lite1": "i2cansay.encoders.efficientnet:EFFICIENTNET_LITE1",
    "efficientnet-lite2": "i2cansay.encoders.efficientnet:EFFICIENTNET_LITE2",
    "resnet18": "i2cansay.encoders.resnet:RESNET18",
    "resnet50": "i2cansay.encoders.resnet:RESNET50",
    "resnet50_keras": "i2cansay.encoders.resnet_keras:RESNET50_KERAS",
    "resnet": "i2cansay.encoders.resnet:RESNET",
    "dino_vits8": "i2cansay.encoders.vit_recipes:DINO_VITS8",
    "dinov2_vits14": "i2cansay.encoders.vit_recipes:DINOV2_VITS14",
    "clip_vitb32": "i2cansay.encoders.vit_recipes:CLIP_VITB32",
    "deit_tiny": "i2cansay.encoders.vit_recipes:DEIT_TINY",
    "vit": "i2cansay.encoders.vit_recipes:VIT",
    "pixels": "i2cansay.encoders.pixels:PIXELS",
}


def entry_of(name: str) -> Any:
    """Import the entry for `name`, of the table or "package.module:NAME": it has `name`, `summary` and `open`."""
    entry = import_by_name(ENCODERS.get(name, name))
    if not callable(getattr(entry, "open", None)):
        raise ValueError(f"expected {name} to have a method open that returns an Encoder, got {entry!r}")
    return entry


def recipe_of(name: str) -> Recipe | None:
    """Import the recipe that builds `name` from weights; None where there are no weights."""
    from i2cansay.encoders.recipe import Recipe

    entry = entry_of(name)
    return entry if isinstance(entry, Recipe) else None
