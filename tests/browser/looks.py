"""How the page may look: on a desktop or a phone, in light or dark."""

from __future__ import annotations

from typing import NamedTuple

import pytest


class Look(NamedTuple):
    """A size of the window and a colour scheme; `open_page(url, **look._asdict())`."""

    size: str
    dark: bool

    def __str__(self) -> str:
        return f"{self.size}-{'dark' if self.dark else 'light'}"


LOOKS = [Look(size, dark) for size in ("desktop", "phone") for dark in (False, True)]
everywhere = pytest.mark.parametrize("look", LOOKS, ids=str)
"""For tests of the ways through the page that people take most."""
large_and_small = pytest.mark.parametrize("look", [Look("desktop", False), Look("phone", True)], ids=str)
"""For the others: both sizes, and both colour schemes."""
