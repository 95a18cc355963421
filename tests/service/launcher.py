"""A program that has imported everything and forks services on demand: a start then takes no seconds of imports.

It reads lines: `start FOLDER PORT OUTPUT` answers with the process id, `wait PID` with the exit code.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from i2cansay.service.http.server import Address, run
from i2cansay.service.service import Service


def serve(folder: str, port: str, output: str) -> None:
    """Be the service."""
    target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(target, 1)
    os.dup2(target, 2)
    run(Service(Path(folder), encoder="pixels"), Address(port=int(port)))


def main() -> None:
    """Obey."""
    for line in sys.stdin:
        command, *words = line.split()
        if command == "wait":
            answer = os.waitstatus_to_exitcode(os.waitpid(int(words[0]), 0)[1])
        elif (answer := os.fork()) == 0:
            serve(*words)
            os._exit(0)
        print(answer, flush=True)


if __name__ == "__main__":
    main()
