"""The one address from which images are fetched, and which of the addresses in a task lie there.

A task may name anything as its image. Only a path below the configured address of Label Studio, at which it serves
images, is ever asked for; everything else is refused before a connection is made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, unquote, urlsplit

from i2cansay.service.errors import ServiceError

PORTS = {"http": 80, "https": 443}
IMAGE_PATHS = re.compile(r"/data/(upload|local-files)/.*|/(tasks|projects)/[0-9]+/(resolve|presign)/")
"""Where Label Studio serves images: files that were uploaded, files of its disk, files of storages in the cloud."""
STEP = re.compile("[/=&;?]")
LONGEST = 4096
PLAIN = re.compile(r"[!-\[\]-~]+")
"""Visible ASCII without the backslash, which some programs take for a slash."""


def not_there(why: str) -> ServiceError:
    """The image of a task is not at Label Studio."""
    return ServiceError(
        422, "wrong_origin", f"the image of this task is not fetched: {why}; upload it to Label Studio"
    )


@dataclass(frozen=True)
class Origin:
    """Scheme, host, port and path under which Label Studio is reached from here.

    Examples
    --------
    >>> origin = Origin.parse("http://127.0.0.1:8080")
    >>> origin.path_of("/data/upload/1/a b.png")
    '/data/upload/1/a%20b.png'
    >>> origin.path_of("http://127.0.0.1:8081/data/upload/1/a.png")
    Traceback (most recent call last):
    i2cansay.service.errors.ServiceError: the image of this task is not fetched: it is not at the address of \
Label Studio; upload it to Label Studio
    """

    scheme: str
    host: str
    port: int
    base: str = ""

    @classmethod
    def parse(cls, address: str) -> Origin:
        """Read an address as a person writes it; raise ValueError where it is none."""
        try:
            parts = urlsplit(address)
            port = parts.port
        except ValueError as error:
            raise ValueError(f"{address!r} is not the address of a Label Studio: {error}") from error
        odd = parts.username is not None or parts.password is not None or parts.query or parts.fragment
        if parts.scheme not in PORTS or not parts.hostname or odd or not PLAIN.fullmatch(address):
            raise ValueError(
                f"expected the address of Label Studio, as http://127.0.0.1:8080, got {address!r}; the token goes "
                "into a file"
            )
        return cls(parts.scheme, parts.hostname, port or PORTS[parts.scheme], parts.path.rstrip("/"))

    def path_of(self, reference: object) -> str:
        """Return the path at which the image of a task is asked for; raise ServiceError where it is elsewhere.

        `reference` is a path, or a whole address with the scheme, host and port of this origin.
        """
        if not isinstance(reference, str) or not 0 < len(reference) <= LONGEST:
            raise not_there("the task names none")
        # As Label Studio writes them, names of files may have spaces and letters of any script.
        written = quote(reference, safe="!#$%&'()*+,/:;=?@[]~\\")
        if not PLAIN.fullmatch(written):
            raise not_there("its address has characters that no address has")
        try:
            parts = urlsplit(written)
            self._check_place(parts)
        except ValueError:
            raise not_there("its address cannot be read") from None
        _check_steps(parts.path)
        _check_steps(parts.query)
        self._check_path(parts.path)
        return parts.path + (f"?{parts.query}" if parts.query else "")

    def _check_place(self, parts: SplitResult) -> None:
        if parts.fragment:
            raise not_there("its address has a fragment")
        if not parts.scheme and not parts.netloc and parts.path.startswith("/"):
            return
        same = (parts.scheme, parts.hostname, parts.port or PORTS.get(parts.scheme)) == (
            self.scheme,
            self.host,
            self.port,
        )
        if not same or "@" in parts.netloc:
            raise not_there("it is not at the address of Label Studio")

    def _check_path(self, path: str) -> None:
        inside = path.removeprefix(self.base)
        if not path.startswith(self.base) or not IMAGE_PATHS.fullmatch(inside) or "//" in path:
            raise not_there("Label Studio serves no images at its path")


def _check_steps(written: str) -> None:
    """Refuse `.` and `..` as a step of a path or of a path in a query, in any spelling."""
    plain = written
    for _ in range(3):  # a server, a proxy before it, and one more
        if "\\" in plain or any(step in (".", "..") for step in STEP.split(plain)):
            raise not_there("its path goes up")
        plain = unquote(plain)
        if any(ord(character) < 32 for character in plain):
            raise not_there("its address has characters that no address has")
