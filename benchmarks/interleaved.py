"""Timing on a machine that others use too: contenders take turns, and medians are compared."""

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter


def interleaved(
    contenders: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    seconds: float = 20.0,
    clock: Callable[[], float] = perf_counter,
    calls: int = 1,
) -> dict[str, float]:
    """Return the median seconds of one call of each contender; every round calls each of them `calls` times.

    With several calls their mean is what counts: then a contender finds its data in the cache, as in a stream, and
    not what the others have left there.

    Stops early after `seconds`, but not before three rounds, so that a slow peer does not hold up the rest.
    ``clock=time.process_time`` counts processor time: on a busy machine a call of a millisecond is rarely
    interrupted and one of ten nearly always, which the wall clock would hold against the longer one.
    """
    for run in contenders.values():
        run()  # the first call pays for imports, caches and pages
    times: dict[str, list[float]] = {name: [] for name in contenders}
    begin = perf_counter()
    for done in range(rounds):
        for name, run in contenders.items():
            start = clock()
            for _ in range(calls):
                run()
            times[name].append((clock() - start) / calls)
        if done >= 2 and perf_counter() - begin > seconds:
            break
    return {name: median(values) for name, values in times.items()}
