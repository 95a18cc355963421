"""Keep the C library from returning memory to the system after every batch and requesting it again."""

from functools import cache

import numpy as np

KEPT_BYTES = 1 << 24


@cache
def keep_freed_memory() -> None:
    """Let freed arrays of up to 16 MB be used again by this process; once is enough.

    glibc returns the top of the heap to the system when more than 128 kB of it are free, and a learning step
    frees a few megabytes of temporaries: mapping them anew cost 1,700 page faults and 2.6 of 9 ms per step
    (measured, batch 50 at width 1280). It raises both of its limits to the largest mapping it has seen freed,
    so freeing one untouched array of that size is all it takes. Elsewhere this does nothing.
    """
    np.empty(KEPT_BYTES, dtype=np.uint8)
