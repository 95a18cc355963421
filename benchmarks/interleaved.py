"""Timing on a machine that others use too: contenders take turns, and medians are compared."""

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter, process_time

MOST_CALLS = 20


def interleaved(
    contenders: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    seconds: float = 20.0,
    clock: Callable[[], float] = perf_counter,
    turn: float = 0.0,
) -> dict[str, float]:
    """Return the median seconds of one call of each contender; every round gives each of them a turn.

    A turn is as many calls as fit into `turn` seconds, one at least and `MOST_CALLS` at most, and their mean is what
    counts. With several calls a contender finds its data in the cache, as in a stream, and not what the others have
    left there; and a slow peer does not take the time of all.

    Stops early after `seconds`, but not before three rounds, so that a slow peer does not hold up the rest.
    ``clock=time.process_time`` counts processor time: on a busy machine a call of a millisecond is rarely
    interrupted and one of ten nearly always, which the wall clock would hold against the longer one.
    """
    calls = {name: _calls_in(turn, run) for name, run in contenders.items()}
    times: dict[str, list[float]] = {name: [] for name in contenders}
    begin = perf_counter()
    for done in range(rounds):
        for name, run in contenders.items():
            start = clock()
            for _ in range(calls[name]):
                run()
            times[name].append((clock() - start) / calls[name])
        if done >= 2 and perf_counter() - begin > seconds:
            break
    return {name: median(values) for name, values in times.items()}


def _calls_in(seconds: float, run: Callable[[], object]) -> int:
    """Return how many calls fit; the first call pays for imports, caches and pages, the second is timed."""
    run()
    if not seconds:
        return 1
    start = process_time()
    run()
    return max(1, min(MOST_CALLS, round(seconds / max(process_time() - start, 1e-9))))
