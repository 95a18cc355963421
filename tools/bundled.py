"""What is bundled, and under which licence: every file of sdist, wheel and site is named in bundled.toml."""

from __future__ import annotations

import re
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

TABLE = Path(__file__).with_name("bundled.toml")
# Words with which code of other people says whose it is; in a file of ours they must not stand.
CLAIMS = re.compile(
    rb"(?:\(c\)|copyright|\xc2\xa9) *(?:by )?(?:19|20)\d\d|@licen[s]e\b|SPDX-Licen[s]e-Identifier",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Bundle:
    """Files of one origin under one licence."""

    what: str
    files: tuple[str, ...]
    licence: str
    origin: str

    def matches(self, name: str) -> bool:
        """Whether a file belongs to it: by its path, or by its name where the pattern has no folder."""
        last = PurePosixPath(name).name
        return any(fnmatch(name if "/" in pattern else last, pattern) for pattern in self.files)


def bundles(kind: str) -> list[Bundle]:
    """Return what may be in the "packages" or in the "site"."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))[kind]
    return [Bundle(**{**row, "files": tuple(row["files"])}) for row in rows]


def contents(archive: Path) -> dict[str, bytes]:
    """Return the files of a wheel or an sdist; those of an sdist without the folder that it is packed in."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}
    with tarfile.open(archive) as sdist:
        found = {}
        for member in sdist.getmembers():
            if (stream := sdist.extractfile(member)) is not None:
                found[member.name.partition("/")[2]] = stream.read()
        return found


def problems(files: Mapping[str, bytes], allowed: Iterable[Bundle]) -> Iterator[str]:
    """Yield a sentence for each file that nobody names, and for each of ours that claims to be someone else's."""
    known = list(allowed)
    for name, data in sorted(files.items()):
        owner = next((bundle for bundle in reversed(known) if bundle.matches(name)), None)
        if owner is None:
            yield f"{name}: bundled, and named nowhere in tools/bundled.toml"
        elif (
            "here" in owner.origin
            and PurePosixPath(name).name != "LICENSE"
            and (claim := CLAIMS.search(data))
        ):
            yield f"{name}: {claim[0].decode(errors='replace')!r} stands in it: whose is it?"


def unused(files: Iterable[str], allowed: Iterable[Bundle]) -> Iterator[str]:
    """Yield a sentence for each bundle of which nothing is there any more."""
    names = list(files)
    for bundle in allowed:
        if not any(bundle.matches(name) for name in names):
            yield f"tools/bundled.toml: nothing matches {', '.join(bundle.files)} ({bundle.what})"


def summary(files: Iterable[str], allowed: Iterable[Bundle]) -> Iterator[str]:
    """Yield a line for each bundle: how many files, whose, under which licence."""
    names = list(files)
    for bundle in allowed:
        count = sum(bundle.matches(name) for name in names)
        if count:
            yield f"{count:5} files  {bundle.licence:14} {bundle.what} ({bundle.origin})"
