"""The table of encoders, from name to where its recipe is."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from i2cansay.encoders.recipe import Recipe

ENCODERS: dict[str, str] = {
    "efficientnet-lite0": "i2cansay.encoders.efficientnet:EFFICIENTNET_LITE0",
    "resnet18": "i2cansay.encoders.resnet:RESNET18",
    "resnet50": "i2cansay.encoders.resnet:RESNET50",
    "resnet": "i2cansay.encoders.resnet:RESNET",
    "dino_vits8": "i2cansay.encoders.vit:DINO_VITS8",
    "deit_tiny": "i2cansay.encoders.vit:DEIT_TINY",
    "vit": "i2cansay.encoders.vit:VIT",
    "pixels": "i2cansay.encoders.pixels:PIXELS",
}


def entry_of(name: str) -> Any:
    """Import the table's entry for `name`: something with `name`, `summary` and `open`."""
    module, _, attribute = ENCODERS[name].partition(":")
    return getattr(import_module(module), attribute)


def recipe_of(name: str) -> Recipe | None:
    """Import the recipe that builds `name` from weights; None where there are no weights."""
    from i2cansay.encoders.recipe import Recipe

    entry = entry_of(name)
    return entry if isinstance(entry, Recipe) else None
