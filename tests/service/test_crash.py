"""Pulling the plug: the process is killed at random moments while it is being taught."""

from __future__ import annotations

import http.client
import os
import signal
import threading
import time
from collections import Counter
from typing import Any

import numpy as np
import pytest

from i2cansay.service.client import Client, RequestRefused
from i2cansay.service.diagnosis import examine
from tests.service.material import rows
from tests.service.process import Process

KILLS = int(os.environ.get("I2CANSAY_KILLS", "2"))
"""Per learner: a few in the usual run; `I2CANSAY_KILLS=100` for the long one."""
LABELS = [f"class {number}" for number in range(7)]
LESSONS_AT_ONCE = 4
MODELS: dict[str, dict[str, Any]] = {
    "paper": {"learner": "paper"},
    "shared": {"learner": "i2cansay_shared", "parameters": {"lift": 0}},
    "shared and lifted": {"learner": "i2cansay_shared", "parameters": {"lift": 64}},
    "best": {"learner": "best"},
    "small": {"learner": "small", "parameters": {"width": 20}},
}


class Pupil(threading.Thread):
    """Teaches without pause until the service dies, and remembers what it was told."""

    def __init__(self, client: Client, number: int, seed: int) -> None:
        super().__init__(daemon=True)
        self.client = client
        self.number = number
        self.rng = np.random.default_rng([seed, number])
        self.sent: dict[str, tuple[list[str], list[list[float]]]] = {}
        self.durable: set[str] = set()

    def run(self) -> None:
        while True:
            labels = self.rng.choice(LABELS, size=self.rng.integers(1, 4)).tolist()
            key = f"{self.number}-{self.rng.integers(2**60)}"
            self.sent[key] = (labels, rows(labels, self.rng).tolist())
            try:
                self.send(key)
            except (OSError, http.client.HTTPException, RequestRefused):
                return

    def send(self, key: str) -> None:
        labels, X = self.sent[key]
        if all(self.client.model("tested").learn(labels, features=X, key=key).durable):
            self.durable.add(key)


@pytest.mark.parametrize("model", list(MODELS.values()), ids=list(MODELS))
def test_everything_acknowledged_is_counted_exactly_once(process: Process, model: dict[str, Any]) -> None:
    rng = np.random.default_rng(int.from_bytes(os.urandom(4)))
    process.start()
    process.client.create("tested", encoder=None, **model)
    sent: dict[str, tuple[list[str], list[list[float]]]] = {}
    durable: set[str] = set()
    for kill in range(KILLS):
        pupils = [
            Pupil(Client(process.client.url, tries=1, timeout=10), n, kill) for n in range(LESSONS_AT_ONCE)
        ]
        for pupil in pupils:
            pupil.start()
        time.sleep(rng.uniform(0.02, 0.8))
        process.kill()
        for pupil in pupils:
            pupil.join()
            pupil.client.close()
            sent |= pupil.sent
            durable |= pupil.durable
        assert all(finding.well for finding in examine(process.folder))
        process.start()
        counts = counted(process.client)
        least = Counter(label for key in durable for label in sent[key][0])
        assert all(counts[label] >= least[label] for label in LABELS), "an acknowledged sample was lost"
        # A client that got no answer, or heard `durable: false`, sends the same lesson again.
        retry = Pupil(process.client, 0, 0)
        retry.sent = sent
        for key in sorted(sent.keys() - durable):
            retry.send(key)
        durable |= retry.durable
        expected = Counter(label for labels, _ in sent.values() for label in labels)
        assert counted(process.client) == expected, "a sample was counted twice, or not at all"
    logged = Counter[str]()
    last = 0
    while lines := process.client.model("tested").log(after=last, limit=1000):
        logged.update({line["label"]: 0 for line in lines})
        for line in lines:
            logged[line["label"]] += line["count"]
        last = lines[-1]["id"]
    durable_counts = {
        line.label: line.count for line in process.client.model("tested").classes() if line.durable
    }
    assert {label: count for label, count in logged.items() if count} == durable_counts


def counted(client: Client) -> Counter[str]:
    return Counter({line.label: line.count for line in client.model("tested").classes()})


def test_sigterm_under_load_answers_all_that_is_in(process: Process) -> None:
    process.start()
    process.client.create("tested", encoder=None)
    pupils = [Pupil(Client(process.client.url, tries=1, timeout=20), n, 5) for n in range(8)]
    for pupil in pupils:
        pupil.start()
    deadline = time.monotonic() + 60
    while sum(len(pupil.durable) for pupil in pupils) < 40:
        assert time.monotonic() < deadline, "hardly a lesson was learnt"
        time.sleep(0.02)
    process.signal(signal.SIGTERM)
    assert process.wait() in (0, -signal.SIGTERM)
    for pupil in pupils:
        pupil.join()
        pupil.client.close()
    process.start()
    counts = counted(process.client)
    durable = Counter(label for pupil in pupils for key in pupil.durable for label in pupil.sent[key][0])
    sent = Counter(label for pupil in pupils for labels, _ in pupil.sent.values() for label in labels)
    assert sum(durable.values()) >= 40
    assert all(durable[label] <= counts[label] <= sent[label] for label in LABELS)
