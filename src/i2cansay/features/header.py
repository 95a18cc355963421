"""What a feature store says about itself: which images, which encoder, how many rows of which kind."""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from i2cansay.encoders.encoder import VIEWS
from i2cansay.encoders.stages import FEATURES, LAST, Block
from i2cansay.features.shard import Shard

FORMAT = 1
# Fields that early versions did not write
LATER = {"features", "views", "stage_blocks", "last_fingerprint"}
DTYPES = ("float16", "float32")


@dataclass(frozen=True)
class Subset:
    """A part of a split: a fraction drawn per class with a seed, the first `limit` rows, a shard of what is left.

    Examples
    --------
    >>> str(Subset(fraction=0.3, shard=Shard(2, 12)))
    'fraction0.3-seed0-shard02of12'
    """

    fraction: float | None = None
    seed: int = 0
    limit: int | None = None
    shard: Shard | None = None

    def __str__(self) -> str:
        drawn = None if self.fraction is None else f"fraction{self.fraction:g}-seed{self.seed}"
        first = None if self.limit is None else f"first{self.limit}"
        shard = None if self.shard is None else self.shard.name
        return "-".join(part for part in (drawn, first, shard) if part)

    @property
    def together(self) -> Subset | None:
        """What all shards are together; None where that is the whole split."""
        whole = replace(self, shard=None)
        return None if whole == Subset() else whole

    def to_values(self) -> dict[str, Any]:
        """Return it as JSON has it; without a shard the same as before there were shards."""
        values = {"fraction": self.fraction, "seed": self.seed, "limit": self.limit}
        return values if self.shard is None else values | {"shard": str(self.shard)}

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> Subset:
        """Read what `to_values` returned."""
        shard = values.get("shard")
        return cls(**values | {"shard": None if shard is None else Shard.parse(shard)})


@dataclass(frozen=True)
class Header:
    """Identity and shape of a feature store.

    A store of stages says which blocks its columns make (`stage_blocks`), and the fingerprint of the encoder that
    makes the first of them alone (`last_fingerprint`). Both are empty in a store of the last layer.

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
    features: str = LAST
    views: str = "single"
    stage_blocks: tuple[Block, ...] = ()
    last_fingerprint: str = ""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The runs of columns that come from one layer each; the first is the last layer's."""
        return self.stage_blocks or (Block(LAST, self.dim),)

    def begins_with(self, wanted: Header) -> bool:
        """Whether this is a store of stages whose first block is what `wanted` describes."""
        if not self.stage_blocks:
            return False
        alone = replace(
            self,
            encoder=wanted.encoder,
            encoder_fingerprint=self.last_fingerprint,
            dim=self.stage_blocks[0].width,
            features=LAST,
            stage_blocks=(),
            last_fingerprint="",
        )
        return alone == wanted

    def is_shard_of(self, whole: Header) -> bool:
        """Whether this is the header of a shard of what `whole` describes."""
        if self.subset is None or self.subset.shard is None:
            return False
        together = replace(
            self, rows=whole.rows, labels_checksum=whole.labels_checksum, subset=self.subset.together
        )
        return together == whole

    @property
    def name_stem(self) -> str:
        """How the folder names of all stores of this split of the data set begin."""
        return "-".join(_plain(part) for part in (self.dataset, self.split))

    @property
    def store_name(self) -> str:
        """Folder name: readable, and different whenever anything that decides the features differs."""
        fingerprints = (self.dataset_fingerprint, self.encoder_fingerprint)
        # Not the subset's short name: it rounds the fraction.
        subset = None if self.subset is None else self.subset.to_values()
        identity = (self.format, self.split, self.dtype, *fingerprints, subset)
        key = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:12]
        parts = [self.encoder, self.dtype, str(self.subset or ""), key]
        return "-".join([self.name_stem, *(_plain(part) for part in parts if part)])

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
        subset = None if self.subset is None else self.subset.to_values()
        return json.dumps(asdict(self) | {"subset": subset}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Header:
        """Read from JSON text; raises ValueError when it is not a header of this format."""
        try:
            values: dict[str, Any] = json.loads(text)
            if values["format"] != FORMAT:
                raise ValueError(f"it has format {values['format']}, this version reads format {FORMAT}")
            # Stores of early versions are of the last layer, and say nothing of stages.
            names = {field.name for field in fields(cls)} - (LATER - values.keys())
            known = {name: values[name] for name in names}
            known["class_names"] = tuple(known["class_names"])
            known["subset"] = None if known["subset"] is None else Subset.from_values(known["subset"])
            known["stage_blocks"] = tuple(Block(**block) for block in known.get("stage_blocks", ()))
            header = cls(**known)
            header._check()
            return header
        except (KeyError, TypeError, RecursionError, json.JSONDecodeError) as error:
            raise ValueError(f"it is not a header of a feature store ({error})") from error

    def _check(self) -> None:
        texts: tuple[str, ...] = (
            self.dataset,
            self.split,
            self.dataset_fingerprint,
            self.encoder,
            self.encoder_fingerprint,
        )
        texts += (self.last_fingerprint, *(block.name for block in self.stage_blocks))
        widths = [block.width for block in self.stage_blocks]
        counts = (self.rows, self.dim, self.labels_checksum, *widths)
        if any(type(text) is not str for text in (*texts, *self.class_names)):
            raise TypeError("names and fingerprints should be texts")
        if any(type(count) is not int or not 0 <= count < 2**53 for count in counts):
            raise TypeError("rows, dim and the checksum should be whole numbers of at least 0")
        if self.dtype not in DTYPES:
            raise TypeError(f"the type of the features should be one of {', '.join(DTYPES)}")
        if self.features not in FEATURES or self.views not in VIEWS:
            raise TypeError("features and views should be ones that there are")
        if (self.features == LAST) == bool(widths) or sum(widths) != (self.dim if widths else 0):
            raise TypeError("a store of stages should have blocks that make up its columns")


def _plain(text: str) -> str:
    return re.sub(r"[^\w.]+", "-", text)


def _short(value: object) -> str:
    return textwrap.shorten(repr(value), 80, placeholder=" ...")
