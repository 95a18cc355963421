"""The service against the same work in one process: features as numbers, in base64 and packed; images; lessons.

    python benchmarks/service.py --json service.json          about two minutes
    python benchmarks/service.py --only "mixed, packed" --rounds 9 --seconds 5

32 connections over loopback send one request at a time each. Every round runs each case twice, through the service
and in this process (the same learner, encoder and samples, one call after the other), so that other work on the
machine disturbs both; the ratio is the median over the rounds. The clients cost little (`http_load.py`), but they
share the cores with the service.

"Processor ratio" compares processor time: that of this process for a request over that of the service for it,
without the clients. On a busy machine it says most. `predict_proba` stands for a question in this process; the
service also answers with a verdict, a set and the novelty. "Of the same answer" compares with a process that
computes these as well, from one scoring of the rows.

A lesson is durable when it is answered, and there is no option for less. "Disk in memory" has the folder in
/dev/shm, which shows what waiting for the disk costs.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import multiprocessing
import os
import socket
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from http_load import Clients, Seen, WrittenRequest, written
from PIL import Image

from i2cansay import I2CANSAY
from i2cansay.core.types import Float32

WIDTH, CLASSES = 1280, 100
MEMORY = Path("/dev/shm")
JSON, PACKED = "application/json", "application/octet-stream"


@dataclass(frozen=True)
class Case:
    """Requests of one kind.

    Attributes
    ----------
    body : {"numbers", "base64", "packed", "images"}
    teaching : float
        Share of requests that teach.
    rows : int
        Samples in a request.
    in_memory : bool
        The service has its folder in memory.
    """

    name: str
    body: str
    teaching: float = 0.2
    rows: int = 1
    in_memory: bool = False


CASES = (
    Case("mixed, packed", "packed"),
    Case("mixed, base64", "base64"),
    Case("mixed, numbers", "numbers"),
    Case("mixed, packed, 50 rows", "packed", rows=50),
    Case("predict, packed", "packed", teaching=0.0),
    Case("predict, packed, 50 rows", "packed", teaching=0.0, rows=50),
    Case("learn, packed", "packed", teaching=1.0),
    Case("learn, packed, disk in memory", "packed", teaching=1.0, in_memory=True),
    Case("mixed, images", "images"),
)


# -- samples ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Samples:
    """Samples with labels: as they are sent, and as features."""

    labels: list[str]
    features: Callable[[slice], Float32]
    images: list[bytes] = field(default_factory=list)

    def body(self, kind: str, part: slice, *, teaching: bool) -> tuple[bytes, str]:
        """Return some samples as a body, and its type."""
        rest = {"labels": self.labels[part]} if teaching else {}
        if kind == "images":
            return _form(self.images[part], rest.get("labels", []))
        X = self.features(part)
        if kind == "packed":
            return json.dumps({"width": WIDTH, **rest}).encode() + b"\n" + X.tobytes(), PACKED
        if kind == "numbers":
            return json.dumps({"features": X.tolist(), **rest}).encode(), JSON
        text = base64.b64encode(X.tobytes()).decode()
        return json.dumps({"features_base64": text, "width": WIDTH, **rest}).encode(), JSON


def feature_samples() -> Samples:
    """Rows of features, 1280 wide, of 100 classes."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(CLASSES, WIDTH))
    rows = (centres + rng.normal(size=(4, CLASSES, WIDTH))).reshape(-1, WIDTH).astype("<f4")
    return Samples([f"class {n % CLASSES}" for n in range(len(rows))], lambda part: rows[part])


def image_samples() -> Samples:
    """Photographs of 256 x 256 pixels, of 10 classes, through the usual encoder of the paper's learner."""
    from i2cansay.encoders import get_encoder

    rng, images = np.random.default_rng(0), []
    for number in range(60):
        colour = np.array([37, 91, 151]) * (number % 10) % 256
        pixels = np.clip(colour + rng.normal(scale=40, size=(256, 256, 3)), 0, 255).astype(np.uint8)
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "JPEG", quality=85)
        images.append(file.getvalue())
    encoder = get_encoder("efficientnet-lite0")
    return Samples([f"class {n % 10}" for n in range(60)], lambda part: encoder.encode(images[part]), images)


def _form(images: list[bytes], labels: list[str]) -> tuple[bytes, str]:
    head = '--cut\r\ncontent-disposition: form-data; name="'
    parts = [f'{head}labels"\r\n\r\n{label}\r\n'.encode() for label in labels]
    parts += [f'{head}images"; filename="x"\r\n\r\n'.encode() + image + b"\r\n" for image in images]
    return b"".join(parts) + b"--cut--\r\n", "multipart/form-data; boundary=cut"


# -- the service --------------------------------------------------------------------------------------------


def serve(folder: str, port: int) -> None:
    """Be the service."""
    from i2cansay.service.http.server import Address, run
    from i2cansay.service.service import Service

    run(Service(Path(folder)), Address(port=port))


@dataclass(frozen=True)
class Served:
    """A service in a process of its own."""

    port: int
    pid: int

    def call(self, method: str, path: str, body: bytes | None = None, kind: str = JSON) -> str:
        """Send one request."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, path, body, {"content-type": kind})
        answer = connection.getresponse()
        content = answer.read().decode()
        connection.close()
        if answer.status >= 400:
            raise RuntimeError(f"{answer.status}: {content}")
        return content

    def when_ready(self) -> Served:
        """Wait until it answers."""
        while True:
            try:
                self.call("GET", "/readyz")
                return self
            except OSError:
                time.sleep(0.1)

    def processor_seconds(self) -> float:
        """Return the processor time that the process has taken."""
        stat = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Return the memory that the process holds."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def commits(self) -> tuple[float, float]:
        """Return how many groups were committed, and how many requests were in them."""
        lines = [line.split(" ") for line in self.call("GET", "/metrics").splitlines() if line[0] != "#"]
        values = {line[0]: line[1] for line in lines}
        return float(values["i2cansay_commits_total"]), float(values["i2cansay_commit_requests_total"])


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def service(folder: Path) -> Iterator[Served]:
    """Run a service with its data in a new folder below `folder`."""
    port = free_port()
    with tempfile.TemporaryDirectory(dir=folder) as data:
        process = multiprocessing.get_context("spawn").Process(target=serve, args=(data, port), daemon=True)
        process.start()
        assert process.pid is not None
        try:
            yield Served(port, process.pid).when_ready()
        finally:
            process.terminate()
            process.join()


# -- measuring ----------------------------------------------------------------------------------------------


def full_answer(learner: I2CANSAY, X: Float32) -> None:
    """Compute what the service answers with: probabilities, verdicts, sets and novelty, from one scoring."""
    probabilities = learner._temperature.probabilities(learner.class_scores(X))
    learner._evidence.verdicts(probabilities, learner.novelty(X))
    learner._evidence.sets(probabilities, 0.05)


class Contest:
    """One case, through the service and in this process."""

    def __init__(self, case: Case, samples: Samples, served: Served, clients: int) -> None:
        self.case = case
        self._samples = samples
        self._served = served
        self._clients = clients
        self._model = "".join(c if c.isalnum() else "-" for c in case.name)
        self._rng = np.random.default_rng(0)
        self._parts = [slice(at, at + case.rows) for at in range(len(samples.labels) - case.rows + 1)]
        self._learner = I2CANSAY(random_state=0)
        self._seen = Seen()
        self._ratios: list[tuple[float, float]] = []
        self._processor: list[tuple[float, float, float]] = []
        self._alone: list[float] = []
        self._memory: list[float] = []
        self._commits: list[tuple[float, float]] = []
        self._prepare()

    def _prepare(self) -> None:
        encoder = "" if self.case.body == "images" else None
        new = json.dumps({"name": self._model, "encoder": encoder, "learner": "paper"})
        self._served.call("POST", "/v1/models", new.encode())
        everything = slice(0, len(self._samples.labels))
        kind = "images" if self.case.body == "images" else "packed"
        path = f"/v1/models/{self._model}"
        for _ in range(2):
            lesson = self._samples.body(kind, everything, teaching=True)
            self._served.call("POST", f"{path}/learn", *lesson)
            self._learner.partial_fit(self._samples.features(everything), self._samples.labels)
        self._requests = {
            teaching: [
                written(what, f"{path}/{what}", body, content_type=content_type)
                for part in self._parts
                for body, content_type in [self._samples.body(self.case.body, part, teaching=teaching)]
            ]
            for teaching, what in ((False, "predict"), (True, "learn"))
        }

    def _mix(self) -> Iterator[tuple[bool, int]]:
        """Yield whether to teach and which part, the same for both sides."""
        # Drawn beforehand: a draw takes as long as the client takes for a request.
        teaching = (self._rng.random(4096) < self.case.teaching).tolist()
        return cycle(zip(teaching, self._rng.integers(len(self._parts), size=4096).tolist(), strict=True))

    def _sent(self) -> Iterator[WrittenRequest]:
        return (self._requests[teaching][part] for teaching, part in self._mix())

    def turn(self, seconds: float) -> None:
        """Run both sides once."""
        alone, in_process = self._alone_for(seconds / 2, self._learner.predict_proba)
        same, same_in_process = self._alone_for(seconds / 2, partial(full_answer, self._learner))
        commits = self._served.commits()
        seen, spent = self.through_service(seconds)
        self._seen.add(seen)
        self._alone.append(alone)
        rate = seen.total / seen.taken
        self._ratios.append((rate / alone, rate / same))
        self._processor.append((in_process, same_in_process, spent))
        self._memory.append(self._served.megabytes())
        groups, requests = self._served.commits()
        self._commits.append((groups - commits[0], requests - commits[1]))

    def through_service(self, seconds: float) -> tuple[Seen, float]:
        """Return what the clients saw, and seconds of the service's processor for each request."""
        clients = Clients(self._served.port, self._clients)
        before = self._served.processor_seconds()
        seen = clients.run(self._sent(), seconds)
        spent = (self._served.processor_seconds() - before) / seen.total
        clients.close()
        return seen, spent

    def _alone_for(self, seconds: float, ask: Callable[[Float32], object]) -> tuple[float, float]:
        """Return requests per second in this process, and seconds of its processor for each."""
        wall, processor, done = time.perf_counter(), time.process_time(), 0
        for teaching, number in self._mix():
            part = self._parts[number]
            X = self._samples.features(part)
            if teaching:
                self._learner.partial_fit(X, self._samples.labels[part])
            else:
                ask(X)
            done += 1
            if (taken := time.perf_counter() - wall) > seconds:
                break
        return done / taken, (time.process_time() - processor) / done

    def forget(self) -> None:
        """Begin to count anew."""
        self._seen = Seen()
        for each in (self._ratios, self._processor, self._alone, self._memory, self._commits):
            each.clear()

    def result(self) -> dict[str, Any]:
        """Return the figures."""
        groups, requests = np.sum(self._commits, axis=0).tolist()
        seen, case = self._seen, self.case
        times = {kind: 1000 * np.array(seconds) for kind, seconds in sorted(seen.seconds.items())}
        return {
            "case": case.name,
            "body": case.body,
            "teaching": case.teaching,
            "rows": case.rows,
            "requests_per_second": seen.total / seen.taken,
            "in_process_per_second": statistics.median(self._alone),
            "ratio": statistics.median(ratio for ratio, _ in self._ratios),
            "ratio_of_same_answer": statistics.median(ratio for _, ratio in self._ratios),
            "processor_ratio": statistics.median(alone / served for alone, _, served in self._processor),
            "processor_ratio_of_same_answer": statistics.median(
                same / served for _, same, served in self._processor
            ),
            "processor_ms": 1000 * statistics.median(served for _, _, served in self._processor),
            "p50_ms": {kind: float(np.percentile(each, 50)) for kind, each in times.items()},
            "p99_ms": {kind: float(np.percentile(each, 99)) for kind, each in times.items()},
            "requests_per_commit": requests / groups if groups else None,
            "requests": seen.total,
            "errors": dict(seen.errors),
            "megabytes": [round(self._memory[0], 1), round(self._memory[-1], 1)],
        }


def measure(cases: list[Case], *, clients: int, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """Return the figures of some cases, which take turns."""
    samples = {False: feature_samples()}
    if any(case.body == "images" for case in cases):
        samples[True] = image_samples()
    with ExitStack() as stack:
        folders = {False: Path.cwd(), True: MEMORY}
        served = {
            in_memory: stack.enter_context(service(folders[in_memory]))
            for in_memory in sorted({case.in_memory for case in cases})
        }
        contests = [
            Contest(case, samples[case.body == "images"], served[case.in_memory], clients) for case in cases
        ]
        for number in range(rounds + 1):
            for contest in contests:
                contest.turn(seconds if number else 0.3)
                if not number:  # the first requests pay for caches and pages
                    contest.forget()
        return [contest.result() for contest in contests]


def show(figures: list[dict[str, Any]]) -> None:
    """Print the figures, ratios first."""
    print(
        "| case | of in-process | processor ratio | of the same answer | processor ratio "
        "| requests/s | in process/s | ms | p50 / p99 ms | a commit |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for each in figures:
        times = ", ".join(
            f"{kind} {each['p50_ms'][kind]:.0f} / {each['p99_ms'][kind]:.0f}" for kind in each["p50_ms"]
        )
        group = each["requests_per_commit"]
        print(
            f"| {each['case']} | {each['ratio']:.2f} | {each['processor_ratio']:.2f} "
            f"| {each['ratio_of_same_answer']:.2f} | {each['processor_ratio_of_same_answer']:.2f} "
            f"| {each['requests_per_second']:.0f} | {each['in_process_per_second']:.0f} "
            f"| {each['processor_ms']:.2f} | {times} | {f'{group:.1f}' if group else '-'} |"
        )
        if each["errors"]:
            print(f"errors of {each['case']}: {each['errors']}")


def main() -> None:
    """Run the cases."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="of one turn through the service")
    parser.add_argument("--only", action="append", choices=[case.name for case in CASES])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    chosen = parser.parse_args()
    cases = [case for case in CASES if chosen.only is None or case.name in chosen.only]
    cases = [case for case in cases if MEMORY.is_dir() or not case.in_memory]
    load = os.getloadavg()[0]
    figures = measure(cases, clients=chosen.clients, rounds=chosen.rounds, seconds=chosen.seconds)
    print(f"{chosen.clients} clients, {os.cpu_count()} cores, load {load:.1f} at the start\n")
    show(figures)
    if chosen.json:
        about = {"clients": chosen.clients, "cores": os.cpu_count(), "load": load, "cases": figures}
        chosen.json.write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
