"""How an encoder is named in one text: "efficientnet-lite0+stages+mirror@128"."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

# One spelling for one encoder, so that records and stores have one name for it. A path may have any sign in it.
PATTERN = re.compile(
    r"(?P<base>.+\.(?i:onnx)|[^+@]+)(\+(?P<features>stages|pixels))?(\+(?P<views>mirror))?(@(?P<size>[1-9][0-9]*))?",
    re.DOTALL,
)


@dataclass(frozen=True)
class EncoderSpec:
    """An encoder's name with what is read of it: `base[+stages|+pixels][+mirror][@size]`.

    Attributes
    ----------
    base : str
        A name of the table or of an added encoder, the path of an ONNX file, or "package.module:NAME".
    features : {"last", "stages", "pixels"}
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
    ValueError: expected an encoder as NAME[+stages|+pixels][+mirror][@SIZE], got 'resnet18+upside-down'
    """

    base: str
    features: str = "last"
    views: str = "single"
    size: int | None = None

    @classmethod
    def parse(cls, text: str | Path) -> EncoderSpec:
        """Read a spec; a plain name is one."""
        match = PATTERN.fullmatch(str(text))
        if match is None:
            raise ValueError(
                f"expected an encoder as NAME[+stages|+pixels][+mirror][@SIZE], got {str(text)!r}"
            )
        parts = {key: value for key, value in match.groupdict().items() if value is not None}
        size = parts.pop("size", None)
        return cls(**parts, size=None if size is None else int(size))

    def __str__(self) -> str:
        """Return the text that `parse` reads.

        Examples
        --------
        >>> str(EncoderSpec("resnet18", features="stages", size=64))
        'resnet18+stages@64'
        """
        options = [f"+{option}" for option in (self.features, self.views) if option not in ("last", "single")]
        return self.base + "".join(options) + (f"@{self.size}" if self.size else "")

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
