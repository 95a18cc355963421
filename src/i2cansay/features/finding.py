"""Finding features that are on the disk already: the store itself, or one that holds these and more columns."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from i2cansay.features.header import Header
from i2cansay.features.journal import Journal
from i2cansay.features.store import HEADER, JOURNAL, FeatureStore, check_same, read_header


def finished_store(base: Path, wanted: Header) -> FeatureStore | None:
    """Return the finished store below folder `base` that holds what `wanted` describes, or None.

    Where features of the last layer are wanted, the first block of a finished store of the same encoder's stages
    will do: it has the same values.
    """
    path = base / wanted.store_name
    if is_finished(path):
        return open_store(path, wanted)
    if wanted.features == "last":
        for wider in sorted(base.glob(f"{wanted.name_stem}-*/{HEADER}")):
            with suppress(ValueError):  # a damaged store is refused where it is asked for by name
                if read_header(wider.parent).begins_with(wanted) and is_finished(wider.parent):
                    return FeatureStore.open(wider.parent).first_block(wanted)
    return None


def open_store(path: Path, wanted: Header) -> FeatureStore:
    """Open a finished store and make sure that it is the wanted one: a folder may have been renamed."""
    check_same(path, read_header(path), wanted)
    return FeatureStore.open(path)


def is_finished(path: Path) -> bool:
    """Whether a store is there and complete; reads its small files only."""
    if not ((path / HEADER).is_file() and (path / JOURNAL).is_file()):
        return False
    return Journal.read(path / JOURNAL).committed >= read_header(path).rows
