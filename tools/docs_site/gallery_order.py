"""The order of examples: as contents.toml names them, then by name."""

from __future__ import annotations

import tomllib
from pathlib import Path

CONTENTS = Path(__file__).with_name("contents.toml")


class ByContents:
    """The key by which sphinx-gallery sorts the files of a folder.

    Examples
    --------
    >>> sorted(["teach.py", "shared_covariance.py", "moments.py", "significance.py"], key=ByContents("examples"))
    ['moments.py', 'significance.py', 'shared_covariance.py', 'teach.py']
    """

    def __init__(self, folder: str) -> None:
        sections = tomllib.loads(CONTENTS.read_text(encoding="utf-8"))["section"]
        self._names = [Path(name).name for section in sections for name in section.get("more", [])]

    def __call__(self, file: str) -> tuple[int, str]:
        """Return where a file comes."""
        name = Path(file).stem
        return self._names.index(name) if name in self._names else len(self._names), name
