"""Bodies without end in chunks of one byte, which cost much to parse: do others still get an answer?

python benchmarks/attacks/tiny_chunks.py --connections 4 --seconds 10
"""

from __future__ import annotations

import argparse
import socket
import threading
import time

from watched import victim

HEAD = b"POST /v1/models HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
PART = b"1\r\n \r\n" * 4000


def send(port: int, until: float) -> None:
    """Send chunks over one connection after the other."""
    while time.monotonic() < until:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                connection.sendall(HEAD)
                while time.monotonic() < until:
                    connection.sendall(PART)
        except OSError:
            continue


def main() -> None:
    """Attack and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10.0)
    chosen = parser.parse_args()
    with victim() as service, service.watched() as seen:
        until = time.monotonic() + chosen.seconds
        threads = [
            threading.Thread(target=send, args=(service.port, until)) for _ in range(chosen.connections)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(seen)


if __name__ == "__main__":
    main()
