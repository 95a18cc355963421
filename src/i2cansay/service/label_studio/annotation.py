"""What an annotation says: a label, or why there is nothing to learn from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from i2cansay.service.errors import ServiceError, refused
from i2cansay.service.label_studio.labelling import Labelling
from i2cansay.service.label_text import check_label
from i2cansay.service.limits import Limits

LARGEST_ID = 2**62


@dataclass(frozen=True)
class Said:
    """The label that an annotation gives to its image, "" with the reason where it gives none."""

    label: str
    why_not: str = ""


def what_it_says(annotation: dict[str, Any], labelling: Labelling, limits: Limits) -> Said:
    """Return the label of an annotation.

    Examples
    --------
    >>> labelling = Labelling("choice", "image", "image", frozenset({"rust", "dent"}))
    >>> chosen = {"from_name": "choice", "type": "choices", "value": {"choices": ["rust"]}}
    >>> what_it_says({"result": [chosen]}, labelling, Limits())
    Said(label='rust', why_not='')
    >>> what_it_says({"result": []}, labelling, Limits())
    Said(label='', why_not='nothing was chosen')
    """
    if annotation.get("was_cancelled"):
        return Said("", "the task was skipped")
    chosen: list[Any] = []
    results = annotation.get("result")
    for result in results if isinstance(results, list) else ():
        if isinstance(result, dict) and result.get("from_name") == labelling.choices:
            value = result.get("value")
            named = value.get("choices") if isinstance(value, dict) else None
            chosen += named if isinstance(named, list) else [named]
    if not chosen:
        return Said("", "nothing was chosen")
    if len(chosen) > 1:
        return Said("", f"{len(chosen)} labels were chosen, and an image has one")
    (label,) = chosen
    if not isinstance(label, str) or (labelling.labels and label not in labelling.labels):
        return Said("", "the label is none of the choices of the project")
    try:
        return Said(check_label(label, limits))
    except ServiceError as error:
        return Said("", error.sentence)


def id_of(holder: Any, what: str) -> int:
    """Return the id of something that Label Studio describes; raise ServiceError where it has none.

    Examples
    --------
    >>> id_of({"id": 7}, "task")
    7
    """
    number = holder.get("id") if isinstance(holder, dict) else holder
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < LARGEST_ID:
        raise refused(f"expected a {what} with its id, a whole number, got none")
    return number


def stamp_of(annotation: dict[str, Any]) -> float:
    """Return when an annotation was last changed, in seconds since 1970.

    Examples
    --------
    >>> stamp_of({"updated_at": "2026-01-01T00:00:00.250000Z"}) - stamp_of({"updated_at": "2026-01-01T00:00:00Z"})
    0.25
    """
    written = annotation.get("updated_at")
    try:
        return datetime.fromisoformat(written).timestamp()  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise refused("expected an annotation with updated_at, a time as ISO 8601 writes it") from None
