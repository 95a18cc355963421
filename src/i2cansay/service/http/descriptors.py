"""File descriptors: how many connections a process can hold besides its files."""

from __future__ import annotations

from i2cansay.service.limits import Limits

PER_MODEL = 8
"""A database has three files open, a backup or a rewrite as many again."""
OTHERS = 128
"""Libraries, encoders, the log, listening sockets, connections on their way in and out."""


def room_for_connections(limits: Limits) -> int:
    """Raise the limit of descriptors as far as needed and allowed; return how many connections may be open.

    Examples
    --------
    >>> room_for_connections(Limits(connections=20))
    20
    """
    reserve = PER_MODEL * limits.models + OTHERS
    allowed = _raise_limit(limits.connections + reserve)
    # At least a quarter: with a low limit, most services still have fewer models than they may.
    return min(limits.connections, max(allowed - reserve, allowed // 4))


def _raise_limit(wanted: int) -> int:
    """Return how many descriptors the process may have, `wanted` if that can be had."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    reachable = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if reachable > soft:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (reachable, hard))
        except (OSError, ValueError):  # a container may forbid it
            return soft
    return reachable
