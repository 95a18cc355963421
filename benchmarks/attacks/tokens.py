"""Guesses of a token, as fast as they go: are they slowed down, and does the right token still work?

python benchmarks/attacks/tokens.py
"""

from __future__ import annotations

import argparse
import secrets
import threading
import time
from collections import Counter
from http.client import HTTPConnection, HTTPException

from watched import victim


def ask(connection: HTTPConnection, token: str) -> int:
    """Ask with a token; return the status."""
    connection.request("GET", "/v1/models", headers={"authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def guess(port: int, until: float, statuses: Counter[int]) -> None:
    """Guess over one connection after the other."""
    while time.monotonic() < until:
        connection = HTTPConnection("127.0.0.1", port, timeout=20)
        try:
            while time.monotonic() < until:
                statuses[ask(connection, secrets.token_urlsafe(32))] += 1
        except (OSError, HTTPException):
            statuses[0] += 1
        finally:
            connection.close()


def main() -> None:
    """Attack and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--guessers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0)
    chosen = parser.parse_args()
    guessed: Counter[int] = Counter()
    right: Counter[int] = Counter()
    with victim(need_token=True) as service, service.watched() as seen:
        token = (service.folder / "token").read_text()
        until = time.monotonic() + chosen.seconds
        threads = [
            threading.Thread(target=guess, args=(service.port, until, guessed))
            for _ in range(chosen.guessers)
        ]
        for thread in threads:
            thread.start()
        connection = HTTPConnection("127.0.0.1", service.port, timeout=20)
        while time.monotonic() < until:
            right[ask(connection, token)] += 1
            time.sleep(0.1)
        connection.close()
        for thread in threads:
            thread.join()
    print(f"answers to guesses {dict(guessed)} in {chosen.seconds:g} s, to the right token {dict(right)}")
    print(seen)


if __name__ == "__main__":
    main()
