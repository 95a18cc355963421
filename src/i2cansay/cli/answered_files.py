"""Which files of a watched folder have been answered: a small file of names, sizes and times, never of images."""

from __future__ import annotations

import json
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path

from i2cansay.cli.arrivals import Version
from i2cansay.disk.atomic import write_bytes_atomically
from i2cansay.disk.file_lock import exclusive

FORMAT = "i2cansay-watch"
FILE_NAME = ".i2cansay-watch.json"


class AnsweredFiles(dict[str, Version]):
    """The answered files by name, each in the version that was answered; kept in a file between runs.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     memory = AnsweredFiles(Path(folder) / "memory.json")
    ...     memory["a.png"] = Version(120, 5)
    ...     memory.save(present={"a.png"})
    ...     dict(AnsweredFiles(Path(folder) / "memory.json"))
    {'a.png': Version(size=120, time_ns=5)}
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        if path.exists():
            try:
                content = json.loads(path.read_text(encoding="utf-8"))
                if content["format"] != FORMAT:
                    raise ValueError(content["format"])
                self.update(
                    {str(name): Version(int(size), int(at)) for name, (size, at) in content["files"].items()}
                )
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(
                    f"{path} does not list answered files; delete it, and every file in the folder is answered anew"
                ) from error

    def save(self, present: Set[str]) -> None:
        """Write the file, whole or not at all, without files that are no longer `present`."""
        for gone in self.keys() - present:
            del self[gone]
        content = {"format": FORMAT, "files": {name: list(version) for name, version in self.items()}}
        write_bytes_atomically(self.path, json.dumps(content).encode())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold these files for one process; raise ValueError where another one does."""

        def refuse() -> None:
            raise ValueError(f"another `i2cansay watch` is answering these files (it holds {self.path})")

        with exclusive(self.path.with_suffix(".lock"), waiting=refuse):
            yield
