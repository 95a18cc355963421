"""The service under load: 32 clients that teach and ask at once, on features and on images.

Prints throughput, response times, errors and memory, and the rate of the same work in one process without a
service: the same learner, encoder and mix, one sample after the other.

    python benchmarks/service.py --seconds 60
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import multiprocessing
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from i2cansay import I2CANSAY
from i2cansay.core.types import Float32

TEACHING = 0.2
"""Share of requests that teach."""
WIDTH, CLASSES = 1280, 100


@dataclass(frozen=True)
class Work:
    """Samples in the form in which they are sent, and what the same samples cost without a service."""

    name: str
    encoder: str | None
    samples: list[dict[str, Any]]
    features: Callable[[int], Float32]
    labels: list[str]


@dataclass
class Seen:
    """What one client saw."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"learn": [], "predict": []})
    errors: list[str] = field(default_factory=list)


def features_work() -> Work:
    """Rows of features, 1280 wide, of 100 classes."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(CLASSES, WIDTH))
    rows = (centres + rng.normal(size=(4, CLASSES, WIDTH))).reshape(-1, WIDTH).astype(np.float32)
    samples = [{"features_base64": base64.b64encode(row.tobytes()).decode(), "width": WIDTH} for row in rows]
    labels = [f"class {number % CLASSES}" for number in range(len(rows))]
    return Work("features", None, samples, lambda n: rows[n : n + 1], labels)


def images_work() -> Work:
    """Photographs of 256 x 256 pixels, of 10 classes, through the usual encoder."""
    from i2cansay.encoders import get_encoder

    rng = np.random.default_rng(0)
    images = []
    for number in range(60):
        colour = np.array(
            [(37 * (number % 10)) % 256, (91 * (number % 10)) % 256, (151 * (number % 10)) % 256]
        )
        pixels = np.clip(colour + rng.normal(scale=40, size=(256, 256, 3)), 0, 255).astype(np.uint8)
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "JPEG", quality=85)
        images.append(file.getvalue())
    encoder = get_encoder("efficientnet-lite0")
    samples = [{"images": [base64.b64encode(image).decode()]} for image in images]
    labels = [f"class {number % 10}" for number in range(len(images))]
    return Work("images", "", samples, lambda n: encoder.encode([images[n]]), labels)


def serve(folder: str, port: int) -> None:
    """Be the service."""
    from i2cansay.service.http.server import Address, run
    from i2cansay.service.service import Service

    run(Service(Path(folder)), Address(port=port))


def client(port: int, work: Work, until: float, seed: int, seen: Seen) -> None:
    """Ask and teach, one request after the other, over one connection."""
    rng = np.random.default_rng(seed)
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    bodies = [
        {"predict": json.dumps(sample), "learn": json.dumps({**sample, "label": label})}
        for sample, label in zip(work.samples, work.labels, strict=True)
    ]
    while time.monotonic() < until:
        what = "learn" if rng.random() < TEACHING else "predict"
        body = bodies[rng.integers(len(bodies))][what]
        started = time.perf_counter()
        connection.request("POST", f"/v1/models/{work.name}/{what}", body)
        answer = connection.getresponse()
        content = answer.read()
        seen.seconds[what].append(time.perf_counter() - started)
        if answer.status != 200:
            seen.errors.append(f"{answer.status}: {content[:200]!r}")
    connection.close()


def call(port: int, method: str, path: str, body: Any = None) -> bytes:
    """Send one request."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    text = None if body is None else json.dumps(body)
    connection.request(method, path, text, {"content-type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    if answer.status >= 400:
        raise RuntimeError(f"{answer.status}: {content.decode()}")
    return content


def resident(pid: int) -> float:
    """Return the megabytes a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def in_process_rate(work: Work, seconds: float) -> float:
    """Return samples per second of the same mix without a service, in one thread."""
    learner = I2CANSAY(random_state=0)
    for _ in range(2):
        for number, label in enumerate(work.labels):
            learner.partial_fit(work.features(number), [label])
    rng = np.random.default_rng(0)
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        number = int(rng.integers(len(work.labels)))
        X = work.features(number)
        if rng.random() < TEACHING:
            learner.partial_fit(X, [work.labels[number]])
        else:
            learner.predict_proba(X)
        done += 1
    return done / (time.perf_counter() - started)


def measure(work: Work, *, clients: int, seconds: float) -> None:
    """Put a service under load and print what was seen."""
    alone = in_process_rate(work, min(seconds, 10.0))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        process = multiprocessing.get_context("spawn").Process(target=serve, args=(folder, port), daemon=True)
        process.start()
        while True:
            try:
                call(port, "GET", "/readyz")
                break
            except OSError:
                time.sleep(0.1)
        call(port, "POST", "/v1/models", {"name": work.name, "encoder": work.encoder, "learner": "paper"})
        for sample, label in zip(work.samples, work.labels, strict=True):
            call(port, "POST", f"/v1/models/{work.name}/learn", {**sample, "label": label})
        assert process.pid is not None
        seen = [Seen() for _ in range(clients)]
        until = time.monotonic() + seconds
        threads = [
            threading.Thread(target=client, args=(port, work, until, number, each))
            for number, each in enumerate(seen)
        ]
        for thread in threads:
            thread.start()
        memory = []
        while time.monotonic() < until:
            memory.append(resident(process.pid))
            time.sleep(seconds / 20)
        for thread in threads:
            thread.join()
        metrics = call(port, "GET", "/metrics").decode()
        process.terminate()
        process.join()
    report(work, seen, seconds=seconds, alone=alone, memory=memory, metrics=metrics)


def report(
    work: Work, seen: list[Seen], *, seconds: float, alone: float, memory: list[float], metrics: str
) -> None:
    """Print the figures."""
    total = sum(len(times) for each in seen for times in each.seconds.values())
    errors = [error for each in seen for error in each.errors]
    values = dict(line.split(" ") for line in metrics.splitlines() if line.startswith("i2cansay_commit"))
    group = float(values["i2cansay_commit_requests_total"]) / float(values["i2cansay_commits_total"])
    print(f"\n{work.name}: {len(seen)} clients, {seconds:g} s, {TEACHING:.0%} teach")
    rate = total / seconds
    print(f"  requests/s          {rate:8.1f}   in process {alone:.1f}/s, ratio {rate / alone:.2f}")
    for what in ("predict", "learn"):
        times = np.concatenate([each.seconds[what] for each in seen]) * 1000
        p50, p99 = np.percentile(times, [50, 99])
        print(
            f"  {what:8}  n {len(times):6}   p50 {p50:8.1f} ms   p99 {p99:8.1f} ms   worst {times.max():8.1f} ms"
        )
    print(f"  requests per commit {group:8.1f}")
    print(f"  errors              {len(errors):8}   {errors[:1] or ''}")
    quarter = max(1, len(memory) // 4)
    first, last = np.mean(memory[quarter : 2 * quarter]), np.mean(memory[-quarter:])
    print(f"  memory, MB          {first:8.0f} in the second quarter, {last:.0f} in the last")


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", choices=["features", "images"])
    chosen = parser.parse_args()
    for name, make in (("features", features_work), ("images", images_work)):
        if chosen.only in (None, name):
            measure(make(), clients=chosen.clients, seconds=chosen.seconds)


if __name__ == "__main__":
    main()
