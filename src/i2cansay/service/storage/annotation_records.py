"""Annotations of Label Studio that were taught: ids, labels, and where the sample of each is; never the sample."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from i2cansay.service.storage.receipts import NOT_HELD, TAKEN_BACK

DELETED = math.inf
"""The stamp of an annotation that was deleted: later than any change."""


@dataclass(frozen=True)
class AnnotationRecord:
    """An annotation as the model has last seen it.

    It is a receipt that does not expire: an annotation may be changed or deleted after years.

    Attributes
    ----------
    id, project, task : int
        As Label Studio numbers them; an id is not used again.
    stamp : float
        When the annotation was last changed, in seconds since 1970, by the clock of Label Studio.
    label : str
        What it said, "" where it said nothing that can be learnt.
    place : int
        Where its sample is: the number of a class, or one of the places of a receipt.

    Examples
    --------
    >>> record = AnnotationRecord(17, 1, 5, 1.5, "rust")
    >>> record.put(3).place, record.deleted().stamp
    (3, inf)
    """

    id: int
    project: int
    task: int
    stamp: float
    label: str = ""
    place: int = NOT_HELD

    @property
    def is_deleted(self) -> bool:
        """Whether the annotation is no more."""
        return self.stamp == DELETED

    def put(self, place: int) -> AnnotationRecord:
        """Return the record with the sample in another place."""
        return replace(self, place=place)

    def deleted(self) -> AnnotationRecord:
        """Return the record of an annotation that is no more: only its ids are kept."""
        return replace(self, stamp=DELETED, label="", place=TAKEN_BACK)
