"""Open labels: strings, whole numbers or booleans, new ones at any time, each with the row it lives in."""

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from i2cansay.core.types import Rows

Label: TypeAlias = str | int | bool | float
LARGEST = 2**63 - 1
LARGEST_FLOAT = 2**53
OUT_OF_RANGE = "labels that are numbers must lie between -2**63 and 2**63 - 1; use strings for longer ones"
TYPES: dict[str, Any] = {"str": np.str_, "int": np.int64, "bool": np.bool_, "float": np.float64}
KINDS = {"U": "strings", "i": "whole numbers", "b": "booleans", "f": "whole numbers as floats"}
NUMBERS = ("i", "f")


def as_labels(y: ArrayLike) -> NDArray[Any]:
    """Return labels as a one-dimensional array of strings, int64, float64 or booleans; raise on a mixture.

    Examples
    --------
    >>> as_labels(["cat", "dog"])
    array(['cat', 'dog'], dtype='<U3')
    >>> as_labels(["cat", 3])
    Traceback (most recent call last):
    ...
    ValueError: labels must be all strings or all whole numbers, got int and str in one batch
    """
    if isinstance(y, list | tuple) and not any(isinstance(label, list | tuple | np.ndarray) for label in y):
        y = np.array(y, dtype=object)  # numpy would turn ["cat", 3] into two strings without a word
    elif hasattr(getattr(y, "dtype", None), "na_value"):
        y = np.asarray(
            y, dtype=object
        )  # pandas would turn its nullable whole numbers and booleans into floats
    labels = y if isinstance(y, np.ndarray) and y.ndim == 1 else column_or_1d(y, warn=True)
    if labels.dtype.kind == "O" and len(labels):
        labels = _from_objects(labels)
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise ValueError("labels contain NaN or inf; expected strings or whole numbers")
        if (np.abs(labels) > LARGEST_FLOAT).any():
            raise ValueError("labels given as floats must be below 2**53, where floats are still exact")
        check_classification_targets(labels)  # scikit-learn's sentence for continuous targets
    if labels.dtype.kind == "u" and (labels > LARGEST).any():
        raise ValueError(OUT_OF_RANGE)
    if labels.dtype.kind == "f":
        return labels.astype(np.float64)
    if labels.dtype.kind in "iu":
        return labels.astype(np.int64)
    if labels.dtype.kind in "Ub":
        return labels
    raise ValueError(f"Unknown label type: {labels.dtype}; labels must be strings or whole numbers")


def same_kind(one: str, other: str) -> bool:
    """Tell whether labels of two numpy kinds may be mixed: whole numbers may be floats.

    Examples
    --------
    >>> same_kind("i", "f"), same_kind("i", "U")
    (True, False)
    """
    return one == other or (one in NUMBERS and other in NUMBERS)


def check_declared(labels: NDArray[Any], classes: ArrayLike) -> None:
    """Raise unless every label, (n,), is among the declared classes."""
    declared = as_labels(classes)
    if not same_kind(declared.dtype.kind, labels.dtype.kind):
        raise ValueError(f"classes are {KINDS[declared.dtype.kind]}, but y has {KINDS[labels.dtype.kind]}")
    if (unknown := np.setdiff1d(labels, declared)).size:
        # The words are scikit-learn's.
        raise ValueError(f"The target label(s) {unknown.tolist()} in y do not exist in the initial classes")


def _from_objects(labels: NDArray[Any]) -> NDArray[Any]:
    kinds = sorted({_kind_of(label) for label in labels})
    if len(kinds) > 1 and kinds != ["float", "int"]:
        found = " and ".join(kinds)
        raise ValueError(f"labels must be all strings or all whole numbers, got {found} in one batch")
    if not set(kinds) <= set(TYPES):
        raise ValueError(f"Unknown label type: {kinds[0]}; labels must be strings or whole numbers")
    if kinds[0] == "str" and any(label.endswith("\0") for label in labels):
        raise ValueError("a label ends in a NUL character, which numpy would cut off; strip it")
    try:
        return labels.astype(TYPES[kinds[0]])
    except OverflowError:
        raise ValueError(OUT_OF_RANGE) from None


def _kind_of(label: object) -> str:
    if isinstance(label, bool | np.bool_):
        return "bool"
    for kind, name in ((str, "str"), (int | np.integer, "int"), (float | np.floating, "float")):
        if isinstance(label, kind):
            return name
    return type(label).__name__


class LabelRows:
    """Which row of the statistics each label has: rows in order of arrival, `sorted` as users see them.

    Examples
    --------
    >>> labels = LabelRows()
    >>> labels.extend(labels.new_in(as_labels(["fox", "owl", "fox"])))
    >>> labels.rows(as_labels(["owl"])), labels.sorted
    (array([1]), array(['fox', 'owl'], dtype='<U3'))
    """

    def __init__(self, labels: Iterable[Label] = (), kind: str | None = None) -> None:
        self._rows: dict[Label, int] = {label: row for row, label in enumerate(labels)}
        self._kind = kind
        self._index()

    def __deepcopy__(self, memo: dict[int, Any]) -> "LabelRows":
        """Return a copy; labels cannot be changed, and `deepcopy` would look at each of them."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._rows, twin.order, twin.sorted = dict(self._rows), self.order.copy(), self.sorted.copy()
        return twin

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, label: object) -> bool:
        return label in self._rows

    @property
    def kind(self) -> str | None:
        """The numpy kind of the labels, None before the first."""
        return self._kind

    def _index(self) -> None:
        arrived = np.array(list(self._rows), dtype=self._dtype())
        self.order: Rows = np.argsort(arrived, kind="stable")
        self.sorted: NDArray[Any] = arrived[self.order]

    def _dtype(self) -> Any:
        return {"i": np.int64, "U": np.str_, "b": np.bool_, "f": np.float64, None: np.int64}[self._kind]

    def check(self, y: NDArray[Any]) -> None:
        """Raise unless labels of this type may be mixed with those already known."""
        if self._kind is not None and len(self) and not same_kind(y.dtype.kind, self._kind):
            raise ValueError(
                f"the labels so far are {KINDS[self._kind]}, these are {KINDS[y.dtype.kind]}; "
                "use one type of label in one model"
            )

    def new_in(self, y: NDArray[Any]) -> list[Label]:
        """Return the labels of `y` not seen before, in order of first appearance."""
        return [label for label in dict.fromkeys(y.tolist()) if label not in self._rows]

    def extend(self, new: Iterable[Label]) -> None:
        """Give each new label the next row."""
        for label in new:
            if not self._rows:
                self._kind = {str: "U", bool: "b", float: "f"}.get(type(label), "i")
            self._rows[self._as_known(label)] = len(self._rows)
        self._index()

    def _as_known(self, label: Label) -> Label:
        """Return a number as the others are: 2 and 2.0 are one label, and come back as the first ones came."""
        return int(label) if self._kind == "i" else float(label) if self._kind == "f" else label

    def rows(self, y: NDArray[Any]) -> Rows:
        """Return the row of each label, -1 for one not seen, (n,)."""
        return np.array([self._rows.get(label, -1) for label in y.tolist()], dtype=np.int64)

    def row(self, label: Label) -> int:
        """Return the row of one label that must be known."""
        key = label.item() if isinstance(label, np.generic) else label
        # Python counts True as 1: without the first part forget(True) would drop the class 1.
        known_type = isinstance(key, str | int | float) and isinstance(key, bool) == (self._kind == "b")
        if not known_type or key not in self._rows:
            known = ", ".join(repr(known) for known in self.sorted.tolist()[:10])
            raise ValueError(f"{key!r} is not a known class; known are {known or 'none yet'}")
        return self._rows[key]

    def drop(self, label: Label) -> int:
        """Forget a label and return the row it had; the rows behind it move up."""
        gone = self.row(label)
        self._rows = {name: row - (row > gone) for name, row in self._rows.items() if row != gone}
        self._index()
        return gone

    def rename(self, old: Label, new: Label) -> None:
        """Give the row of `old` the label `new`, which must be of the same type and not in use."""
        row = self.row(old)
        fresh = as_labels([new])
        self.check(fresh)
        name = self._as_known(fresh.tolist()[0])
        if name in self._rows and self._rows[name] != row:
            raise ValueError(f"{name!r} is already a class; merge is not what rename does")
        self._rows = {(name if at == row else label): at for label, at in self._rows.items()}
        self._index()

    def with_unknown(self, labels: NDArray[Any], where: NDArray[Any], unknown: Label | None) -> NDArray[Any]:
        """Return known labels with `unknown`, which is none of them, in some places; None makes them objects."""
        if unknown is None:
            replaced = labels.astype(object)
            replaced[where] = None
            return replaced
        value = as_labels([unknown])
        self.check(value)
        if unknown in self._rows:
            raise ValueError(f"unknown must be a value that is no class, and {unknown!r} is one")
        return np.where(where, value.astype(labels.dtype) if self._kind in NUMBERS else value, labels)

    def arrived(self) -> NDArray[Any]:
        """Return all labels in the order of their rows."""
        return np.array(list(self._rows), dtype=self._dtype())

    def to_json(self) -> str:
        """Return the labels in the order of their rows."""
        return json.dumps({"kind": self._kind, "labels": list(self._rows)})

    @classmethod
    def from_json(cls, text: str) -> "LabelRows":
        """Return labels as `to_json` gave them."""
        stored = json.loads(text)
        kinds: dict[str | None, type] = {"U": str, "i": int, "b": bool, "f": float, None: int}
        kind, labels = stored["kind"], stored["labels"]
        if (
            kind not in kinds
            or not isinstance(labels, list)
            or any(type(label) is not kinds[kind] for label in labels)
        ):
            raise ValueError("the stored labels are not of their declared type")
        if labels:
            as_labels(labels)  # no number beyond 64 bits, no NUL that would be cut off
        if len(set(labels)) != len(labels):
            raise ValueError("a stored label occurs twice")
        return cls(labels, kind)
