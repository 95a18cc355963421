"""Which encoder a file of an ImageLearner was taught with; its weights are not in the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from i2cansay.encoders import get_encoder, is_listed
from i2cansay.encoders.encoder import Encoder


@dataclass(frozen=True)
class EncoderIdentity:
    """An encoder's name, its size in pixels, and the fingerprint of its weights and preprocessing.

    Examples
    --------
    >>> identity = EncoderIdentity.of(get_encoder("pixels", size=4))
    >>> EncoderIdentity.from_header(identity.header()) == identity
    True
    >>> identity.open().dim
    48
    """

    name: str
    size: int
    fingerprint: str

    @classmethod
    def of(cls, encoder: Encoder) -> EncoderIdentity:
        """Describe an encoder."""
        return cls(encoder.name, encoder.preprocessing.size, encoder.fingerprint)

    @classmethod
    def from_header(cls, header: Mapping[str, str]) -> EncoderIdentity:
        """Read what `header` gave; ValueError where a part is missing."""
        try:
            return cls(header["encoder"], int(header["encoder_size"]), header["encoder_fingerprint"])
        except KeyError as missing:
            raise ValueError(f"it does not name its {str(missing)[1:-1]}") from None

    def header(self) -> dict[str, str]:
        """Return the parts as text for the header of a file."""
        return {
            "encoder": self.name,
            "encoder_size": str(self.size),
            "encoder_fingerprint": self.fingerprint,
        }

    def open(self, encoder: str | Path | Encoder | None = None, *, threads: int | None = None) -> Encoder:
        """Return the encoder this describes: the one given, or the one of its name.

        Raises
        ------
        ValueError
            Where it cannot be opened here, or has another fingerprint.
        """
        if isinstance(encoder, Encoder) and threads is not None:
            raise ValueError("threads= goes with an encoder's name; this one is open already")
        found = encoder if isinstance(encoder, Encoder) else self._find(encoder, threads)
        if found.fingerprint != self.fingerprint:
            raise ValueError(
                f"it was taught with {self}, but {EncoderIdentity.of(found)} is what there is here: other "
                "weights or preprocessing give features it does not know. Open it with the encoder it was "
                "taught with (encoder=...), or teach a new one"
            )
        return found

    def _find(self, encoder: str | Path | None, threads: int | None) -> Encoder:
        # A name out of a file is only looked up: it must not make us open a path somebody wrote there.
        if encoder is None and not is_listed(self.name):
            raise ValueError(
                f"it was taught with {self}, and no encoder of that name is here: give the path of its ONNX "
                "file as encoder=..., or add it with `i2cansay encoder add`"
            )
        try:
            if encoder is None:
                return get_encoder(self.name, size=self.size, threads=threads)
            # The path of a file says nothing of stages and views, the name of what it was opened as does.
            views = "mirror" if self.name.endswith("+mirror") else None
            features = "stages" if self.name.removesuffix("+mirror").endswith("+stages") else None
            return get_encoder(encoder, features=features, views=views, size=self.size, threads=threads)
        except (ValueError, OSError) as error:
            raise ValueError(f"it was taught with {self}, which cannot be opened here: {error}") from error

    def __str__(self) -> str:
        return f"the encoder {self.name!r} at {self.size} px (fingerprint {self.fingerprint[:12]})"
