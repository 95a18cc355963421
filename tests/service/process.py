"""The service as a process of its own, to be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from i2cansay.service.client import Client
from tests.service.running import free_port


class Launcher:
    """The program that forks services."""

    def __init__(self) -> None:
        self._program = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("launcher.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            text=True,
        )

    def order(self, *words: object) -> int:
        """Send a line and return the number it answers."""
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(" ".join(map(str, words)) + "\n")
        self._program.stdin.flush()
        return int(self._program.stdout.readline())

    def close(self) -> None:
        """End the program."""
        self._program.communicate()


class Process:
    """A service on a free port; its output goes to a file."""

    def __init__(self, launcher: Launcher, folder: Path) -> None:
        self.folder = folder
        self.output = folder.parent / "output.txt"
        self.port = free_port()
        self.client = Client(f"http://127.0.0.1:{self.port}", tries=1)
        self._launcher = launcher
        self._pid = 0

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._pid = self._launcher.order("start", self.folder, self.port, self.output)
        for _ in range(1500):
            try:
                self.client.call("GET", "/readyz")
                return
            except OSError:
                time.sleep(0.02)
        raise AssertionError(f"the service did not start: {self.output.read_text()}")

    def signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self._pid, number)

    def wait(self) -> int:
        """Wait until it ends; return its exit code."""
        self.client.close()
        pid, self._pid = self._pid, 0
        return self._launcher.order("wait", pid)

    def kill(self) -> None:
        """End it without a word."""
        if self._pid:
            self.signal(signal.SIGKILL)
            self.wait()
