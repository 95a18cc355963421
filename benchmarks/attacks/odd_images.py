"""Images of a few pixels whose files cost much to open, and what a request of one small image waits meanwhile.

python benchmarks/attacks/odd_images.py
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from http.client import HTTPConnection
from pathlib import Path

from large_images import form, image, send
from watched import MEGABYTE, PATIENCE, victim

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.service.model.odd_images import KINDS


def main() -> None:
    """Attack and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=2.0, help="of one image")
    parser.add_argument("--images", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, nargs="*", default=list(KINDS))
    chosen = parser.parse_args()
    small = form([image(64, "png")])
    with victim() as service:
        connection = HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
        connection.request("POST", "/v1/models", b'{"name": "images"}', {"content-type": "application/json"})
        connection.getresponse().read()
        connection.close()
        for kind in chosen.kind:
            attack = form([KINDS[kind](int(chosen.megabytes * MEGABYTE))] * chosen.images)
            answers: list[tuple[int, float]] = []
            others: list[tuple[int, float]] = []
            attacker = threading.Thread(target=lambda: answers.append(send(service, attack)))  # noqa: B023
            with service.watched() as seen:
                attacker.start()
                time.sleep(0.2)
                while not others or attacker.is_alive():
                    others.append(send(service, small))
                others.append(send(service, small))  # what was given up may still be under way
            status, seconds = answers[0]
            print(
                f"{kind}: {len(attack) / 1e6:.1f} MB, answer {status} in {seconds:.1f} s; "
                f"{len(others)} small requests, at most {max(each for _, each in others):.1f} s; {seen}",
                flush=True,
            )


if __name__ == "__main__":
    main()
