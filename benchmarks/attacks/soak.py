"""Sixteen clients that learn, ask, undo, forget, and make and delete models for minutes: does anything grow?

Memory and descriptors of the service are looked at twice a second. Medians of the second and the last quarter are
compared (the first is warming up), and every answer must be one that the request can have. Exit code 1 where not.

    python benchmarks/attacks/soak.py --minutes 10
"""

from __future__ import annotations

import argparse
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.client import HTTPException
from typing import Any

import numpy as np
from watched import MEGABYTE, Victim, victim

from i2cansay.service.client import Client, RequestRefused

WIDTH = 64
LABELS = [f"class {number}" for number in range(20)]
MODELS: dict[str, dict[str, Any]] = {
    "default": {"learner": "i2cansay"},
    "shared": {"learner": "i2cansay_shared", "parameters": {"lift": 0}},
    "matrix": {"learner": "slda"},
}
NAMES = list(MODELS)
MEMORY_GROWTH = 0.10
"""How much more memory, of what was in use, the last quarter may take; or 16 MB, whichever is more."""
MEMORY_SLACK = 16 * MEGABYTE
DESCRIPTOR_GROWTH = 8


class Visitor(threading.Thread):
    """One client; counts what it asked for, and keeps the answers that it should not have got."""

    def __init__(self, url: str, number: int, ended: threading.Event) -> None:
        super().__init__(daemon=True)
        self.asked: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self._client = Client(url, tries=1, timeout=60)
        self._number = number
        self._ended = ended
        self._rng = np.random.default_rng(number)
        self._lessons: list[tuple[str, str]] = []

    def run(self) -> None:
        """Ask without pause."""
        actions: list[tuple[float, str, Callable[[], None], set[int]]] = [
            (0.42, "learn", self._learn, set()),
            (0.36, "predict", self._predict, {409}),  # every class may have been forgotten
            (0.08, "undo", self._undo, {404, 409}),
            (0.03, "forget", self._forget, {404}),
            (0.02, "rename", self._rename, {404, 409}),
            (0.03, "look", self._look, set()),
            (0.06, "come and go", self._come_and_go, set()),
        ]
        shares = [share for share, *_ in actions]
        while not self._ended.is_set():
            _, name, act, refusals = actions[self._rng.choice(len(actions), p=shares)]
            self.asked[name] += 1
            try:
                act()
            except RequestRefused as refusal:
                kept = self.refused if refusal.status in refusals else self.wrong
                kept[f"{name}: {refusal.status} {refusal.code}"] += 1
            except (OSError, HTTPException) as error:
                self.wrong[f"{name}: {type(error).__name__}"] += 1
        self._client.close()

    def _features(self, n: int) -> list[list[float]]:
        features: list[list[float]] = self._rng.normal(size=(n, WIDTH)).astype(np.float32).tolist()
        return features

    def _any(self, names: list[str]) -> str:
        return names[self._rng.integers(len(names))]

    def _learn(self) -> None:
        model, n = self._any(NAMES), int(self._rng.integers(1, 9))
        labels = [self._any(LABELS) for _ in range(n)]
        lesson = self._client.model(model).learn(labels, features=self._features(n))
        self._lessons = [*self._lessons[-4:], (model, lesson.lesson)]

    def _predict(self) -> None:
        self._client.model(self._any(NAMES)).predict(features=self._features(int(self._rng.integers(1, 9))))

    def _undo(self) -> None:
        if self._lessons:
            model, lesson = self._lessons.pop()
            self._client.model(model).undo(lesson)

    def _forget(self) -> None:
        self._client.model(self._any(NAMES)).forget(self._any(LABELS))

    def _rename(self) -> None:
        self._client.model(self._any(NAMES)).rename(self._any(LABELS), self._any(LABELS))

    def _look(self) -> None:
        model = self._client.model(self._any(NAMES))
        model.classes()
        model.log(limit=10)

    def _come_and_go(self) -> None:
        model = self._client.create(f"own-{self._number}", encoder=None)
        model.learn(LABELS[:2] * 2, features=self._features(4))
        model.predict(features=self._features(1))
        model.delete()


def watch(watched: Victim, minutes: float) -> tuple[list[int], list[int]]:
    """Return memory and descriptors, looked at twice a second, and print them about 20 times."""
    memory: list[int] = []
    descriptors: list[int] = []
    started, told = time.monotonic(), 0.0
    while (passed := time.monotonic() - started) < 60 * minutes:
        memory.append(watched.resident_bytes())
        descriptors.append(watched.descriptors())
        if passed >= told:
            print(
                f"{passed:6.0f} s  {memory[-1] / MEGABYTE:6.1f} MB  {descriptors[-1]:4d} descriptors",
                flush=True,
            )
            told += 3 * minutes
        time.sleep(0.5)
    return memory, descriptors


def quarters(values: list[int]) -> tuple[float, float]:
    """Return the medians of the second and the last quarter."""
    quarter = max(1, len(values) // 4)
    return statistics.median(values[quarter : 2 * quarter] or values), statistics.median(values[-quarter:])


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=16)
    options = parser.parse_args()
    with victim(requests_per_second=1e6) as watched:
        url = f"http://127.0.0.1:{watched.port}"
        maker = Client(url)
        for name, made in MODELS.items():
            maker.create(name, encoder=None, **made)
        maker.close()
        ended = threading.Event()
        visitors = [Visitor(url, number, ended) for number in range(options.clients)]
        for visitor in visitors:
            visitor.start()
        memory, descriptors = watch(watched, options.minutes)
        ended.set()
        for visitor in visitors:
            visitor.join(60)
    asked = Counter[str]()
    refused = Counter[str]()
    wrong = Counter[str]()
    for visitor in visitors:
        asked += visitor.asked
        refused += visitor.refused
        wrong += visitor.wrong
    before, after = quarters(memory)
    held, holds = quarters(descriptors)
    print(f"{sum(asked.values())} visits: {dict(asked)}")
    print(f"refused, as may be: {dict(refused)}")
    print(f"wrong answers: {dict(wrong)}")
    print(
        f"memory {before / MEGABYTE:.1f} -> {after / MEGABYTE:.1f} MB, descriptors {held:.0f} -> {holds:.0f} "
        "(medians of the second and the last quarter)"
    )
    grown = after - before > max(MEMORY_SLACK, MEMORY_GROWTH * before) or holds - held > DESCRIPTOR_GROWTH
    stuck = any(visitor.is_alive() for visitor in visitors)
    return int(grown or stuck or bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
