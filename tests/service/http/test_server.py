"""The server as it is started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FLOOD = """
import logging, sys
from pathlib import Path
from i2cansay.service.http import server
from i2cansay.service.service import Service

class Flooded:
    def run(self):
        for number in range(1000):
            logging.getLogger("i2cansay.service").warning("a wrong token from %s", number)
            logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")

server.make_server = lambda *_: Flooded()
service = Service(Path(sys.argv[1]))
server.run(service, server.Address())
service.close()
"""


def test_clients_cannot_flood_the_log_of_a_running_service(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FLOOD, str(tmp_path)], capture_output=True, text=True, check=True
    )
    lines = done.stderr.splitlines()
    assert [line.partition("WARNING ")[2] for line in lines] == [
        "a wrong token from 0",
        "Invalid HTTP request received.",
    ]
