"""How an encoder is named in one text: "efficientnet-lite0+stages+mirror@128"."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

OPTIONS = {"stages": "features", "mirror": "views"}
# A path may have any of these signs in it; what follows its ending is ours.
PATTERN = re.compile(r"(?P<base>.+\.onnx|[^+@]+)(?P<options>(\+[^+@]*)*)(@(?P<size>[0-9]+))?", re.I | re.S)


@dataclass(frozen=True)
class EncoderSpec:
    """An encoder's name with what is read of it: `base[+stages][+mirror][@size]`.

    Attributes
    ----------
    base : str
        A name of the table or of an added encoder, the path of an ONNX file, or "package.module:NAME".
    features : {"last", "stages"}
    views : {"single", "mirror"}
    size : int or None

    Examples
    --------
    >>> EncoderSpec.parse("efficientnet-lite0+stages@128")
    EncoderSpec(base='efficientnet-lite0', features='stages', views='single', size=128)
    >>> EncoderSpec.parse("nets/v1+2@home.onnx+mirror").base
    'nets/v1+2@home.onnx'
    >>> EncoderSpec.parse("resnet18+upside-down")
    Traceback (most recent call last):
    ValueError: expected an encoder as NAME[+stages][+mirror][@SIZE], got 'resnet18+upside-down'
    """

    base: str
    features: str = "last"
    views: str = "single"
    size: int | None = None

    @classmethod
    def parse(cls, text: str | Path) -> EncoderSpec:
        """Read a spec; a plain name is one."""
        text = str(text)
        match = PATTERN.fullmatch(text)
        options = match["options"].split("+")[1:] if match else []
        if match is None or len(set(options)) < len(options) or not OPTIONS.keys() >= set(options):
            raise ValueError(f"expected an encoder as NAME[+stages][+mirror][@SIZE], got {text!r}")
        chosen = {OPTIONS[option]: option for option in options}
        return cls(match["base"], **chosen, size=int(match["size"]) if match["size"] else None)

    def with_choices(self, *, features: str | None, views: str | None, size: int | None) -> EncoderSpec:
        """Return the spec with choices made beside it; ValueError where it says something else.

        Examples
        --------
        >>> EncoderSpec("resnet18", size=64).with_choices(features="stages", views=None, size=None)
        EncoderSpec(base='resnet18', features='stages', views='single', size=64)
        >>> EncoderSpec("resnet18", size=64).with_choices(features=None, views=None, size=128)
        Traceback (most recent call last):
        ValueError: the name of the encoder says size 64, and size=128 is given beside it; leave one of them out
        """
        choices = {"features": features, "views": views, "size": size}
        made = {key: value for key, value in choices.items() if value is not None}
        for key, value in made.items():
            said = getattr(self, key)
            if said not in (value, getattr(EncoderSpec, key)):
                raise ValueError(
                    f"the name of the encoder says {key} {said}, and {key}={value} is given beside it; leave one of "
                    "them out"
                )
        return replace(self, **made)  # type: ignore[arg-type]
