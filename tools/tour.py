"""Run docs/tour.md from top to bottom and write what its commands print, or with --check say whether it differs.

    python tools/tour.py [--check]

The page is its own source: lines of a `console` block that begin with `$`, and of a `pycon` block that begin with
`>>>`, are run in an empty folder; what is between them is what they printed. Figures, names of classes and verdicts
differ a little between processors, so --check compares the page without them. It needs CIFAR-10 (I2CANSAY_DATA).
"""

from __future__ import annotations

import contextlib
import glob
import io
import os
import re
import shlex
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

if TYPE_CHECKING:
    from i2cansay.service.http.server import Address
    from i2cansay.service.label_studio.connection import LabelStudio
    from i2cansay.service.service import Service

PAGE = Path(__file__).parent.parent / "docs" / "tour.md"
BLOCK = re.compile(r"^```(console|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPTS = {"console": "$ ", "pycon": ">>> "}
HEAD = re.compile(r"^(.*) \| head -(\d+)$")
PORT = 8000


class Tour:
    """The shell, the Python session and the service of one walk through the page, in the current folder.

    Parameters
    ----------
    words : mapping
        Words to replace in everything that is run: for other images than those of the page.
    """

    def __init__(self, words: Mapping[str, str] | None = None) -> None:
        self._words = dict(words or {})
        self._session: dict[str, Any] = {}
        self._stops: list[Callable[[], None]] = []
        self._port = PORT

    def page(self, text: str) -> str:
        """Return the page with what its commands print now."""
        try:
            return BLOCK.sub(self._block, text)
        finally:
            for stop in self._stops:
                stop()

    def _block(self, match: re.Match[str]) -> str:
        kind, prompt = match[1], PROMPTS[match[1]]
        lines = []
        for line in match[2].splitlines():
            if line.startswith(prompt):
                command = line.removeprefix(prompt)
                printed = (self._shell if kind == "console" else self._python)(self._renamed(command))
                lines += [line, *printed.rstrip("\n").splitlines()]
        return "\n".join([f"```{kind}", *(line.rstrip() for line in lines), "```"])

    def _renamed(self, command: str) -> str:
        for word, other in self._words.items():
            command = re.sub(rf"\b{re.escape(word)}\b", other, command)
        return command

    def _shell(self, command: str) -> str:
        """Run a line of the shell and return what it prints; `i2cansay` runs in this process, which saves time."""
        if not command.startswith("i2cansay "):
            return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout
        cut = HEAD.match(command)
        words = shlex.split(cut[1] if cut else command.removesuffix(" &"))[1:]
        expanded = [name for word in words for name in (sorted(glob.glob(word)) if "*" in word else [word])]
        if words[0] == "serve":
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self._port = free.getsockname()[1]
            expanded += ["--port", str(self._port)]
        with patch("i2cansay.service.http.server.run", self._serve):
            printed = run(expanded).replace(f":{self._port}", f":{PORT}")
        return "".join(printed.splitlines(keepends=True)[: int(cut[2])]) if cut else printed

    def _serve(self, service: Service, address: Address, studio: LabelStudio | None) -> None:
        """Serve in a thread, until the end of the page."""
        from i2cansay.service.http.server import make_server

        server = make_server(service, address, studio)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)

        def stop() -> None:
            if "model" in self._session:
                self._session["model"].client.close()
            server.should_exit = True
            thread.join(timeout=30)

        self._stops.append(stop)

    def _python(self, statement: str) -> str:
        """Run a line of Python and return what a session would show."""
        code = compile(statement.replace(f":{PORT}", f":{self._port}"), "tour.md", "single")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, self._session)
        return printed.getvalue()


def run(words: list[str]) -> str:
    """Run the command line with these words and return what it prints; raise where it fails."""
    from i2cansay.cli import main as command_line

    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        patch.object(sys, "argv", ["", *words]),
    ):
        try:
            command_line()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
    if code:
        raise RuntimeError(f"i2cansay {' '.join(words)}: {err.getvalue()}")
    return out.getvalue()


def masked(text: str) -> list[str]:
    """Return the lines of a page without what differs between processors: figures, classes, verdicts, rows.

    Examples
    --------
    >>> masked("file   label  probability\\na.png  cat         0.9812\\nb.png  dog         0.7000\\n")
    ['file label probability', 'a.png WORD #']
    """
    from i2cansay.datasets.cifar import CIFAR10

    names = "|".join([*(CIFAR10.class_names or ()), "sure", "unsure", "new"])
    found: list[str] = []
    for line in text.splitlines():
        words = line
        if not line.startswith(("$ ", ">>> ")):
            words = re.sub(rf"\b(?:{names})\b", "WORD", words)
            words = re.sub(r"(?<!\S)[\w./]+\.png\b", "a.png", words)
            words = re.sub(r"\d[\d,]*(?:\.\d+)?(?:e-\d+)?%?|(?<=\s)[.-](?=\s|$)", "#", words)
            words = re.sub(r"(?:# ?)+", "# ", " ".join(words.split())).strip()
        if not found or found[-1] != words:
            found.append(words)
    return found


@contextlib.contextmanager
def empty_folder() -> Iterator[None]:
    """Work in an empty folder that goes away at the end."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def main() -> int:
    """Write or check the page; return the exit code."""
    text = PAGE.read_text(encoding="utf-8")
    with empty_folder():
        made = Tour().page(text)
    if "--check" not in sys.argv:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    if masked(made) == masked(text):
        return 0
    print("docs/tour.md is out of date; run `python tools/tour.py`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
