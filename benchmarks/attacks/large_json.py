"""Bodies of 60 MB of small JSON values, several at once: what they cost before they are refused.

python benchmarks/attacks/large_json.py --megabytes 60 --at-once 4
"""

from __future__ import annotations

import argparse
import threading
import time
from http.client import HTTPConnection

from watched import MEGABYTE, PATIENCE, Victim, victim

KINDS = {
    "numbers": (b'{"features": [[0', b",0", b"]]}"),
    "rows": (b'{"features": [[0]', b",[0]", b"]}"),
    "strings": (b'{"images": ["a"', b',"a"', b"]}"),
    "depth": (b'{"features": ', b"[", b""),
    "one label": ('{"features": [[0]], "label": "\U0001f600'.encode(), b"a", b'"}'),
    "one number": (b'{"features": [[0.', b"1", b"]]}"),
}


def body_of(kind: str, n_bytes: int) -> bytes:
    """Return a body of about so many bytes."""
    head, middle, tail = KINDS[kind]
    return head + middle * (n_bytes // len(middle)) + tail


def send(service: Victim, body: bytes, answers: list[tuple[int, float]]) -> None:
    """Send a body to be predicted; add the status, 0 where there was none, and the seconds it took."""
    connection = HTTPConnection("127.0.0.1", service.port, timeout=5 * PATIENCE)
    started = time.perf_counter()
    try:
        connection.request("POST", "/v1/models/numbers/predict", body, {"content-type": "application/json"})
        status = connection.getresponse().status
    except OSError:
        status = 0
    finally:
        connection.close()
    answers.append((status, time.perf_counter() - started))


def main() -> None:
    """Attack and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=60)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, default="numbers")
    chosen = parser.parse_args()
    body = body_of(chosen.kind, int(chosen.megabytes * MEGABYTE))
    with victim() as service:
        connection = HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
        new = b'{"name": "numbers", "encoder": null}'
        connection.request("POST", "/v1/models", new, {"content-type": "application/json"})
        connection.getresponse().read()
        connection.close()
        answers: list[tuple[int, float]] = []
        with service.watched() as seen:
            for _ in range(chosen.rounds):
                senders = [
                    threading.Thread(target=send, args=(service, body, answers))
                    for _ in range(chosen.at_once)
                ]
                for sender in senders:
                    sender.start()
                for sender in senders:
                    sender.join()
    statuses = {status: sum(1 for each, _ in answers if each == status) for status, _ in sorted(answers)}
    slowest = max(seconds for _, seconds in answers)
    print(
        f"{chosen.kind}, {chosen.megabytes:g} MB, {chosen.at_once} at once: answers {statuses} in {slowest:.1f} s"
    )
    print(seen)


if __name__ == "__main__":
    main()
