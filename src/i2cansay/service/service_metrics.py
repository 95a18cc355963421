"""Counters and times for Prometheus, in its text format."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias, get_args

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
Event: TypeAlias = Literal[
    "connections_refused",
    "connections_evicted",
    "connections_overdue",
    "wrong_tokens",
    "wrong_tokens_refused",
]
EVENTS: tuple[str, ...] = get_args(Event)


class ServiceMetrics:
    """What happened since the start.

    Examples
    --------
    >>> metrics = ServiceMetrics()
    >>> metrics.learnt(3)
    >>> print(metrics.text({}).splitlines()[2])
    i2cansay_samples_learnt_total 3
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, float] = defaultdict(float)
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._seconds: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0] * (len(BUCKETS) + 2))
        for name in (
            "samples_learnt",
            "samples_predicted",
            "commits",
            "commit_requests",
            "storage_errors",
            *EVENTS,
        ):
            self._counts[f"{name}_total"] = 0.0
        self._counts["commit_seconds_total"] = 0.0

    def _add(self, name: str, amount: float) -> None:
        with self._lock:
            self._counts[name] += amount

    def learnt(self, samples: int) -> None:
        """Count samples that were learnt."""
        self._add("samples_learnt_total", samples)

    def predicted(self, samples: int) -> None:
        """Count samples that were predicted."""
        self._add("samples_predicted_total", samples)

    def storage_failed(self) -> None:
        """Count a commit that the disk refused."""
        self._add("storage_errors_total", 1)

    def happened(self, event: Event) -> None:
        """Count something that came from outside."""
        self._add(f"{event}_total", 1)

    @contextmanager
    def committing(self, requests: int) -> Iterator[None]:
        """Time a commit of a group of requests."""
        start = time.perf_counter()
        yield
        self._add("commits_total", 1)
        self._add("commit_requests_total", requests)
        self._add("commit_seconds_total", time.perf_counter() - start)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        with self._lock:
            self._requests[method, route, status] += 1
            times = self._seconds[method, route]
            for place, bound in enumerate(BUCKETS):
                times[place] += seconds <= bound
            times[-2] += 1
            times[-1] += seconds

    def text(self, gauges: dict[str, float]) -> str:
        """Return everything, and some values of the moment, as Prometheus reads it."""
        with self._lock:
            lines = []
            for name, value in sorted(
                self._counts.items(), key=lambda pair: pair[0] != "samples_learnt_total"
            ):
                lines += [
                    f"# HELP i2cansay_{name} {name.replace('_', ' ')}",
                    f"# TYPE i2cansay_{name} counter",
                ]
                lines.append(f"i2cansay_{name} {value:g}")
            lines.append("# TYPE i2cansay_requests_total counter")
            for (method, route, status), count in sorted(self._requests.items()):
                labels = f'method="{method}",route="{route}",status="{status}"'
                lines.append(f"i2cansay_requests_total{{{labels}}} {count}")
            lines.append("# TYPE i2cansay_request_seconds histogram")
            for (method, route), times in sorted(self._seconds.items()):
                labels = f'method="{method}",route="{route}"'
                for bound, below in zip((*BUCKETS, "+Inf"), times, strict=False):
                    lines.append(f'i2cansay_request_seconds_bucket{{{labels},le="{bound}"}} {below:g}')
                lines.append(f"i2cansay_request_seconds_count{{{labels}}} {times[-2]:g}")
                lines.append(f"i2cansay_request_seconds_sum{{{labels}}} {times[-1]:g}")
        gauges = {**_memory(), **gauges}
        for name, value in gauges.items():
            lines += [f"# TYPE i2cansay_{name.partition('{')[0]} gauge", f"i2cansay_{name} {value:g}"]
        return "\n".join(lines) + "\n"


def _memory() -> dict[str, float]:
    if sys.platform != "linux":
        return {}
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return {"resident_bytes": float(pages * os.sysconf("SC_PAGE_SIZE"))}
