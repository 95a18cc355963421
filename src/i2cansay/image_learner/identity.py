"""Which encoder a file of an ImageLearner was taught with; its weights are not in the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from i2cansay.encoders import get_encoder, is_listed
from i2cansay.encoders.encoder import Encoder
from i2cansay.encoders.encoder_spec import EncoderSpec


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

        A name or path that is given is opened as `get_encoder` opens it: what it leaves out is not taken from here.

        Raises
        ------
        ValueError
            Where it cannot be opened here, or has another fingerprint.
        """
        if isinstance(encoder, Encoder):
            if threads is not None:
                raise ValueError("threads= goes with an encoder's name; this one is open already")
            found = encoder
        else:
            found = self._find(threads) if encoder is None else self._open_given(encoder, threads)
        if found.fingerprint != self.fingerprint:
            raise ValueError(
                f"it was taught with {self}, but {EncoderIdentity.of(found)} is what there is here: other "
                "weights or preprocessing give features it does not know. Open it with the encoder it was "
                "taught with (encoder=...), or teach a new one"
            )
        return found

    def _find(self, threads: int | None) -> Encoder:
        # A name out of a file is only looked up: it must not make us open a path somebody wrote there.
        if not is_listed(self.name):
            raise ValueError(
                f"it was taught with {self}, and no encoder of that name is here: give the path of its ONNX "
                f"file as encoder=..., followed by {self._options}, or add it with `i2cansay encoder add`"
            )
        try:
            return get_encoder(self.name, size=self.size, threads=threads)
        except (ValueError, OSError) as error:
            raise ValueError(f"it was taught with {self}, which cannot be opened here: {error}") from error

    def _open_given(self, encoder: str | Path, threads: int | None) -> Encoder:
        given = str(encoder)
        # A bare path says where the encoder is, and no more.
        opened = (
            given if is_listed(given) or EncoderSpec.parse(given).base != given else given + self._options
        )
        try:
            found = get_encoder(opened, threads=threads)
        except (ValueError, OSError) as error:
            raise ValueError(
                f"it was taught with {self}, and {given!r} cannot be opened here: {error}"
            ) from error
        there = EncoderIdentity.of(found)
        if there.fingerprint != self.fingerprint and (there.name, there.size) != (self.name, self.size):
            way_out = f"give the path of its own as PATH{self._options}"
            if is_listed(self.name):
                way_out = f"leave {given!r} out"
            raise ValueError(
                f"it was taught with {self}, but {given!r} is {there}, whose features it does not know: "
                f"{way_out}, or teach a new model"
            )
        return found

    @property
    def _options(self) -> str:
        """What follows the path of the encoder: "+stages@64"."""
        try:
            spec = EncoderSpec.parse(self.name)
        except ValueError:  # a name that an entry of the user's own has chosen
            return f"@{self.size}"
        return str(replace(spec, size=self.size)).removeprefix(spec.base)

    def __str__(self) -> str:
        return f"the encoder {self.name!r} at {self.size} px (fingerprint {self.fingerprint[:12]})"
