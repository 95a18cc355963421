"""Two real Ray nodes on this machine, and what it takes to kill one of them in the middle."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from i2cansay.engines.ray_cluster import QUIET

NODE = {"num_cpus": 1, "object_store_memory": 100 * 1024**2}
LONGEST_WAIT = 120.0


class TwoNodes:
    """A cluster of a head, which stays, and a second machine, which may be killed."""

    def __init__(self) -> None:
        os.environ.update(QUIET)
        make: Any = import_module("ray.cluster_utils").Cluster
        self._cluster = make(initialize_head=True, head_node_args=NODE | {"include_dashboard": False})
        self._second = self._cluster.add_node(**NODE)
        self._cluster.wait_for_nodes()

    @property
    def address(self) -> str:
        address: str = self._cluster.address
        return address

    @contextmanager
    def second_killed_when(self, ready: Callable[[], bool]) -> Iterator[list[bool]]:
        """Kill the second node, without a word to it, as soon as `ready()`; put another in its place afterwards."""
        killed: list[bool] = []
        given_up = threading.Event()

        def kill() -> None:
            end = time.monotonic() + LONGEST_WAIT
            while not given_up.is_set() and time.monotonic() < end:
                if ready():
                    self._cluster.remove_node(self._second, allow_graceful=False)
                    killed.append(True)
                    return
                time.sleep(0.02)

        thread = threading.Thread(target=kill)
        thread.start()
        try:
            yield killed
        finally:
            given_up.set()
            thread.join()
            if killed:
                self._second = self._cluster.add_node(**NODE)
                self._cluster.wait_for_nodes()

    def close(self) -> None:
        import_module("ray").shutdown()
        self._cluster.shutdown()
