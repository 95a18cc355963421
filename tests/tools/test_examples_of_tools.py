"""The examples in the docstrings of the tools run."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "name",
    ["links", "docs_site.api_pages", "docs_site.flowchart", "docs_site.gallery_order", "docs_site.places"],
)
def test_examples(name: str) -> None:
    result = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0
    assert result.failed == 0
