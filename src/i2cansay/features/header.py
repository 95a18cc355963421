"""What a feature store says about itself: which images, which encoder, how many rows of which kind."""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from dataclasses import asdict, dataclass, fields
from typing import Any

FORMAT = 1
DTYPES = ("float16", "float32")


@dataclass(frozen=True)
class Subset:
    """A part of a split: a fraction drawn per class with a seed, the first `limit` rows of it, or both."""

    fraction: float | None = None
    seed: int = 0
    limit: int | None = None

    def __str__(self) -> str:
        drawn = None if self.fraction is None else f"fraction{self.fraction:g}-seed{self.seed}"
        first = None if self.limit is None else f"first{self.limit}"
        return "-".join(part for part in (drawn, first) if part)


@dataclass(frozen=True)
class Header:
    """Identity and shape of a feature store.

    Examples
    --------
    >>> header = Header("digits", "test", "d" * 64, "pixels", "e" * 64, rows=445, dim=64, dtype="float16",
    ...                 class_names=("0", "1"), labels_checksum=0)
    >>> header.store_name
    'digits-test-pixels-float16-118ddfc0d8b8'
    >>> Header.from_json(header.to_json()) == header
    True
    """

    dataset: str
    split: str
    dataset_fingerprint: str
    encoder: str
    encoder_fingerprint: str
    rows: int
    dim: int
    dtype: str
    class_names: tuple[str, ...]
    labels_checksum: int
    subset: Subset | None = None
    format: int = FORMAT

    @property
    def store_name(self) -> str:
        """Folder name: readable, and different whenever anything that decides the features differs."""
        fingerprints = (self.dataset_fingerprint, self.encoder_fingerprint)
        # Not the subset's short name: it rounds the fraction.
        subset = None if self.subset is None else asdict(self.subset)
        identity = (self.format, self.split, self.dtype, *fingerprints, subset)
        key = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:12]
        parts = [self.dataset, self.split, self.encoder, self.dtype, str(self.subset or ""), key]
        return "-".join(re.sub(r"[^\w.]+", "-", part) for part in parts if part)

    def difference(self, wanted: Header) -> str | None:
        """Say in which part this header differs from the wanted one; None where it does not.

        Examples
        --------
        >>> from dataclasses import replace
        >>> this = Header("digits", "test", "d", "pixels", "e", 445, 64, "float16", ("0", "1"), 0)
        >>> this.difference(replace(this, encoder_fingerprint="f"))
        "its encoder_fingerprint is 'e', expected 'f'"
        """
        for field in fields(self):
            here, there = getattr(self, field.name), getattr(wanted, field.name)
            if here != there:
                return f"its {field.name} is {_short(here)}, expected {_short(there)}"
        return None

    def to_json(self) -> str:
        """Write as JSON text."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Header:
        """Read from JSON text; raises ValueError when it is not a header of this format."""
        try:
            values: dict[str, Any] = json.loads(text)
            if values["format"] != FORMAT:
                raise ValueError(f"it has format {values['format']}, this version reads format {FORMAT}")
            known = {field.name: values[field.name] for field in fields(cls)}
            subset = None if known["subset"] is None else Subset(**known["subset"])
            header = cls(**{**known, "class_names": tuple(known["class_names"]), "subset": subset})
            header._check()
            return header
        except (KeyError, TypeError, RecursionError, json.JSONDecodeError) as error:
            raise ValueError(f"it is not a header of a feature store ({error})") from error

    def _check(self) -> None:
        texts = (self.dataset, self.split, self.dataset_fingerprint, self.encoder, self.encoder_fingerprint)
        counts = (self.rows, self.dim, self.labels_checksum)
        if any(type(text) is not str for text in (*texts, *self.class_names)):
            raise TypeError("names and fingerprints should be texts")
        if any(type(count) is not int or not 0 <= count < 2**53 for count in counts):
            raise TypeError("rows, dim and the checksum should be whole numbers of at least 0")
        if self.dtype not in DTYPES:
            raise TypeError(f"the type of the features should be one of {', '.join(DTYPES)}")


def _short(value: object) -> str:
    return textwrap.shorten(repr(value), 80, placeholder=" ...")
