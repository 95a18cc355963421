"""The engine of many machines: items are tasks of Ray, and results meet where they lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from i2cansay.engines.cores import limited_to
from i2cansay.engines.ray_cluster import connected
from i2cansay.engines.tree import TreeReduction

Item = TypeVar("Item")
Result = TypeVar("Result")

# How often a task is tried again that a dying process or machine has taken with it. What it raises is not retried.
RETRIES = 5
# Tasks that are under way for each processor: one works, one is ready to follow.
AHEAD = 2


class RayEngine:
    """Works on as many items at a time as the cluster has processors.

    The functions must be importable on every machine of the cluster: `i2cansay[ray]` is installed on each. Results
    stay where they were computed, and are merged there; only the last one comes here. What a machine takes with it
    when it dies is computed again.

    Parameters
    ----------
    address : str, optional
        Of a cluster; without it Ray starts on this machine, and ends with the engine.
    cpus : float
        Processors that a task is counted for. It works with as many threads, one at least.
    """

    def __init__(self, address: str | None = None, *, cpus: float = 1.0) -> None:
        self._address, self._cpus, self._cores = address, cpus, max(1, int(cpus))
        self._open = ExitStack()
        self._ray: Any = None

    def __enter__(self) -> Self:
        self._ray = self._open.enter_context(connected(self._address))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    @property
    def workers(self) -> int:
        """How many tasks the processors of the cluster can work on now."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1) / self._cpus))

    def each(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """Yield the number of each item with its result, in the order in which they are finished."""
        ray, call, shared = self._ray, self._task(_call), self._ray.put(function)
        running: dict[Any, int] = {}
        with _plain_errors(ray):
            for number, item in enumerate(items):
                if len(running) >= AHEAD * self.workers:
                    yield self._finished(running)
                running[call.remote(shared, item, self._cores)] = number
            while running:
                yield self._finished(running)

    def _finished(self, running: dict[Any, int]) -> tuple[int, Any]:
        (done, *_), _ = self._ray.wait(list(running), num_returns=1)
        return running.pop(done), self._ray.get(done)

    def reduce(
        self,
        function: Callable[[Item], Result],
        merge: Callable[[Result, Result], Result],
        items: Sequence[Item],
    ) -> Result:
        """Return the merged results of all items. A few results for each processor exist at a time."""
        ray, call, join = self._ray, self._task(_call_and_sign, num_returns=2), self._task(_join)
        shared, how = ray.put(function), ray.put(merge)
        tree: TreeReduction[Any] = TreeReduction(lambda left, right: join.remote(how, left, right))
        running: list[Any] = []
        with _plain_errors(ray):
            for item in items:
                if len(running) >= AHEAD * self.workers:
                    done, running = ray.wait(running, num_returns=1)
                    ray.get(done)  # raises what it raised; the result itself stays where it is
                leaf, sign = call.remote(shared, item, self._cores)
                running.append(sign)
                tree.add(leaf)
            result: Result = ray.get(tree.result())
            return result

    def _task(self, function: Callable[..., Any], **options: Any) -> Any:
        return self._ray.remote(num_cpus=self._cpus, max_retries=RETRIES, **options)(function)


def _call(function: Callable[[Item], Result], item: Item, cores: int) -> Result:
    with limited_to(cores):
        return function(item)


def _call_and_sign(function: Callable[[Item], Result], item: Item, cores: int) -> tuple[Result, bool]:
    """Return the result, and beside it a sign that it is there, which costs nothing to fetch."""
    return _call(function, item, cores), True


def _join(merge: Callable[[Result, Result], Result], left: Result, right: Result) -> Result:
    return merge(left, right)


@contextmanager
def _plain_errors(ray: Any) -> Iterator[None]:
    """Raise what a function raised on another machine as it was, without the report of Ray around it."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        while isinstance(cause, ray.exceptions.RayTaskError):  # a merge fails because a part of it has failed
            cause = cause.cause
        raise cause from None
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
        raise OSError(
            f"a worker of the Ray cluster died {RETRIES + 1} times at the same task (out of memory?); give more and "
            "smaller parts, or more memory"
        ) from error
