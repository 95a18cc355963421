"""Where the names of marks go, so that they lie on no mark, no other name and no line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import hypot
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.path import Path
    from matplotlib.transforms import Bbox

# Points of air around a mark, and between two names.
AIR = 2.0
# In heights of a name: the distances across and up that are tried, and the distance from which it has a leader line.
ACROSS, UP, APART = (0.1, 1, 2, 4, 7), [step / 2 for step in range(-20, 21)], 0.2
# A name is on the other side of its mark, or above or below it, if it is so many heights nearer there.
OTHER_SIDE, CENTRED = 0.6, 0.9


class Place(NamedTuple):
    """Where a name may lie, how it is aligned there, the line to its mark, and whether it needs that line."""

    box: Bbox
    align: str
    leader: Path
    is_apart: bool
    cost: float


def arranged(tried: Sequence[Sequence[Place]], marks: Sequence[Bbox]) -> list[Place]:
    """Return one of the places of every name so that names and their lines meet neither marks nor each other.

    Each name in turn takes its first free place. One that finds none has its turn first the next time; if that never
    helps, it takes its first place.
    """
    order = list(range(len(tried)))
    found: dict[int, Place] = {}
    for _ in tried:
        found, stuck = {}, []
        for number in order:
            free = (each for each in tried[number] if _is_free(each, marks, found.values()))
            place = next(free, None)
            if place is None:
                stuck.append(number)
            found[number] = place or tried[number][0]
        if not stuck:
            break
        order = [*stuck, *(number for number in order if number not in stuck)]
    return [found[number] for number in range(len(tried))]


def places(mark: Bbox, name: Bbox, panel: Bbox, *, on_left: bool) -> list[Place]:
    """Return the places of a name of this size in a panel, those nearest to its mark first.

    Examples
    --------
    >>> from matplotlib.transforms import Bbox
    >>> mark, name, panel = Bbox([[45, 45], [55, 55]]), Bbox([[0, 0], [30, 10]]), Bbox([[0, 0], [100, 100]])
    >>> [places(mark, name, panel, on_left=on_left)[0].box.extents.tolist() for on_left in (False, True)]
    [[56.0, 45.0, 86.0, 55.0], [14.0, 45.0, 44.0, 55.0]]
    """
    every = sorted(_all_places(mark, name, on_left=on_left), key=lambda place: place.cost)
    inside = [each for each in every if all(panel.contains(*corner) for corner in each.box.corners())]
    return inside or every


def _all_places(mark: Bbox, name: Bbox, *, on_left: bool) -> Iterator[Place]:
    from matplotlib.path import Path
    from matplotlib.transforms import Bbox

    x, y, height = (mark.x0 + mark.x1) / 2, (mark.y0 + mark.y1) / 2, name.height
    lefts = [(mark.x1 + across * height, "left", OTHER_SIDE * on_left) for across in ACROSS]
    lefts += [
        (mark.x0 - across * height - name.width, "right", OTHER_SIDE * (not on_left)) for across in ACROSS
    ]
    lefts += [(x - name.width / 2, "center", CENTRED)]
    for (left, align, dearer), up in product(lefts, UP):
        box = Bbox.from_bounds(left, y + (up - 0.5) * height, name.width, height)
        end = min(max(x, box.x0), box.x1), min(max(y, box.y0), box.y1)
        away = hypot(max(box.x0 - mark.x1, mark.x0 - box.x1, 0), max(box.y0 - mark.y1, mark.y0 - box.y1, 0))
        leader = Path([(x, y), end])
        yield Place(box, align, leader, away > APART * height, away / height + dearer + 0.3 * abs(up))


def _is_free(place: Place, marks: Iterable[Bbox], others: Iterable[Place]) -> bool:
    """Return whether a name and its line meet nothing; the line starts inside its own mark."""
    start, others = np.asarray(place.leader.vertices)[0], list(others)
    covered = [*marks, *(other.box for other in others)]
    lines = [other.leader for other in others if other.is_apart]
    return not (
        any(map(place.box.overlaps, covered))
        or any(place.leader.intersects_bbox(box, False) for box in covered if not box.contains(*start))
        or any(line.intersects_bbox(place.box, False) for line in lines)
        or any(line.intersects_path(place.leader, False) for line in lines)
    )
