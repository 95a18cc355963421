"""Images of the page for the docs; none are made unless asked for."""

from __future__ import annotations

import os
from pathlib import Path

from tests.browser.page import Page

FOLDER = os.environ.get("I2CANSAY_SCREENSHOTS", "")
"""A folder, as docs/images."""


def photograph(page: Page, name: str, *, whole: bool = False) -> None:
    """Save what is seen, or the whole page, where images are asked for."""
    if FOLDER:
        page.photograph(Path(FOLDER).absolute() / f"{name}.png", whole=whole)
