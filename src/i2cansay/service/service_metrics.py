"""Counters, times and gauges of a service, for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

NAMESPACE = "i2cansay"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
Event: TypeAlias = Literal[
    "connections_refused",
    "connections_evicted",
    "connections_overdue",
    "wrong_tokens",
    "wrong_tokens_refused",
]
"""What clients cause, and an operator may want to be warned of."""


class ServiceMetrics:
    """Everything counted since the service started. Each service has a registry of its own.

    Examples
    --------
    >>> metrics = ServiceMetrics()
    >>> metrics.learnt(3)
    >>> b"i2cansay_samples_learnt_total 3.0" in metrics.text()
    True
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._learnt = self._counter("samples_learnt", "Samples learnt.")
        self._predicted = self._counter("samples_predicted", "Samples predicted.")
        self._commits = self._counter("commits", "Groups of requests committed.")
        self._commit_requests = self._counter("commit_requests", "Requests in these groups.")
        self._commit_seconds = self._counter("commit_seconds", "Seconds spent on committing them.")
        self._storage_errors = self._counter("storage_errors", "Commits that could not be written.")
        self._events = {
            event: self._counter(event, f"{event.replace('_', ' ').capitalize()}.")
            for event in get_args(Event)
        }
        self._requests = self._counter("requests", "Requests answered.", "method", "route", "status")
        self._request_seconds = Histogram(
            "request_seconds",
            "Seconds from the headers of a request to the end of its answer.",
            ("method", "route"),
            namespace=NAMESPACE,
            registry=self._registry,
            buckets=BUCKETS,
        )

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(name, help_text, labels, namespace=NAMESPACE, registry=self._registry)

    def gauge(self, name: str, help_text: str, value: Callable[[], float]) -> None:
        """Add a value that is computed whenever the metrics are read."""
        Gauge(name, help_text, namespace=NAMESPACE, registry=self._registry).set_function(value)

    def learnt(self, samples: int) -> None:
        """Count learnt samples."""
        self._learnt.inc(samples)

    def predicted(self, samples: int) -> None:
        """Count predicted samples."""
        self._predicted.inc(samples)

    def storage_failed(self) -> None:
        """Count a commit that could not be written."""
        self._storage_errors.inc()

    def happened(self, event: Event) -> None:
        """Count an event that a client caused."""
        self._events[event].inc()

    @contextmanager
    def committing(self, requests: int) -> Iterator[None]:
        """Time the commit of a group of requests."""
        start = time.perf_counter()
        yield
        self._commits.inc()
        self._commit_requests.inc(requests)
        self._commit_seconds.inc(time.perf_counter() - start)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests.labels(method, route, str(status)).inc()
        self._request_seconds.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        """Return everything in the format that `prometheus_client.CONTENT_TYPE_LATEST` names."""
        return generate_latest(self._registry)
