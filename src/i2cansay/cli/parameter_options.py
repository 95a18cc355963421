"""`--set name=value` options, as a learner's constructor wants them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Return ``{"lr": 0.01, "pseudo": None}`` for ``["lr=0.01", "pseudo=none"]``.

    Examples
    --------
    >>> parse_settings(["lr=0.01", "significance=false", "distance=squared"])
    {'lr': 0.01, 'significance': False, 'distance': 'squared'}
    """
    parsed = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise ValueError(f"expected a setting like lr=0.01, got {setting!r}")
        parsed[name.strip()] = _value(value.strip())
    return parsed


def _value(text: str) -> Any:
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
