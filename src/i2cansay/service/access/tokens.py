"""Tokens: each has a scope, and only its hash is kept."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from i2cansay.disk.atomic import write_atomically

Scope: TypeAlias = Literal["predict", "teach", "admin"]
SCOPES: tuple[str, ...] = get_args(Scope)
"""From the least to the most; each includes those before it."""
FILE = "tokens.json"


@dataclass(frozen=True)
class Token:
    """A token as it is stored: its name, its scope, when it was made, and the hash of its secret.

    The secret has 256 random bits, so that a plain hash cannot be searched.
    """

    name: str
    scope: Scope
    created: float
    sha256: str

    def allows(self, scope: Scope) -> bool:
        """Return whether the token includes `scope`."""
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


class Tokens:
    """The tokens of a data folder. A running service sees changes made by the command line.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> tokens = Tokens(Path(folder.name))
    >>> secret = tokens.add("line-3", "teach")
    >>> tokens.find(secret).name, tokens.find("guess")
    ('line-3', None)
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = threading.Lock()
        self._read_at: tuple[int, int] | None = None
        self._tokens: tuple[Token, ...] = ()

    def all(self) -> tuple[Token, ...]:
        """Return the tokens; read the file again if it has changed."""
        with self._lock:
            try:
                status = self._path.stat()
            except FileNotFoundError:
                self._read_at, self._tokens = None, ()
                return ()
            if (changed := (status.st_mtime_ns, status.st_ino)) != self._read_at:
                try:
                    self._tokens = tuple(Token(**entry) for entry in json.loads(self._path.read_text()))
                except (TypeError, ValueError) as error:
                    raise ValueError(
                        f"{self._path} is damaged ({error}); delete it and add the tokens again"
                    ) from error
                self._read_at = changed
            return self._tokens

    def find(self, secret: str) -> Token | None:
        """Return the token of a secret, or None; each comparison takes constant time."""
        digest = _digest(secret)
        found = None
        for token in self.all():
            if hmac.compare_digest(token.sha256, digest):
                found = token
        return found

    def add(self, name: str, scope: Scope) -> str:
        """Make a token and return its secret, which is not kept."""
        if not name or any(token.name == name for token in self.all()):
            raise ValueError(f"there is a token {name!r} already; remove it first, or choose another name")
        if scope not in SCOPES:
            raise ValueError(f"a scope is one of {', '.join(SCOPES)}, got {scope!r}")
        secret = secrets.token_urlsafe(32)
        self._write((*self.all(), Token(name, scope, time.time(), _digest(secret))))
        return secret

    def remove(self, name: str) -> None:
        """Remove a token, so that its secret is no longer valid."""
        left = tuple(token for token in self.all() if token.name != name)
        if len(left) == len(self.all()):
            raise ValueError(f"there is no token {name!r}")
        self._write(left)

    def _write(self, tokens: tuple[Token, ...]) -> None:
        text = json.dumps([asdict(token) for token in tokens], indent=1)

        def write(place: Path) -> None:
            place.chmod(0o600)
            place.write_text(text)

        write_atomically(self._path, write)
        self._path.chmod(0o600)


def secret_in(authorization: str, *, basic: bool = False) -> str:
    """Return the secret that a header carries, "" where it carries none.

    With `basic` it may also be the password of HTTP Basic, whatever the name of the user is.

    Examples
    --------
    >>> secret_in("Bearer s3cret"), secret_in("Basic bGluZTpzM2NyZXQ=")
    ('s3cret', '')
    >>> secret_in("Basic bGluZTpzM2NyZXQ=", basic=True)
    's3cret'
    """
    kind, _, rest = authorization.partition(" ")
    if kind.lower() == "bearer":
        return rest.strip()
    if basic and kind.lower() == "basic":
        try:
            return base64.b64decode(rest.strip(), validate=True).decode().partition(":")[2]
        except ValueError:  # not base64, or not UTF-8
            return ""
    return ""


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
