"""Labels stay what they are: one type, never cut, never confused, each with its row."""

import copy
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.learners.labels import LabelRows, as_labels

# numpy's strings cannot end in NUL; that is refused and tested on its own.
TEXT = st.text(max_size=12).filter(lambda label: not label.endswith("\0"))
WHOLE = st.integers(-(2**63), 2**63 - 1)
ONE_TYPE = st.one_of(
    st.lists(TEXT, min_size=1), st.lists(WHOLE, min_size=1), st.lists(st.booleans(), min_size=1)
)


@settings(deadline=None)
@given(ONE_TYPE)
def test_labels_come_back_as_they_were(labels: list[Any]) -> None:
    array = as_labels(labels)
    assert array.tolist() == labels
    assert {type(label) for label in array.tolist()} == {type(label) for label in labels}


@pytest.mark.parametrize(
    ("given_labels", "expected"),
    [
        (np.array(["a", "b"], dtype=object), ["a", "b"]),
        (np.array([3, 250], dtype=np.uint8), [3, 250]),
        (np.array([1.0, -2.0]), [1, -2]),
        ([1, 2.0], [1, 2]),
        ([np.int32(4), np.int64(5)], [4, 5]),
        ([np.str_("a"), "b"], ["a", "b"]),
        (pd.Series(["a", "b"]), ["a", "b"]),
        (pd.Series(["a", "b"], dtype="category"), ["a", "b"]),
        (pd.Series([1, 2], dtype="Int64"), [1, 2]),
        (range(3), [0, 1, 2]),
        (("a", "b"), ["a", "b"]),
    ],
)
def test_many_containers_are_read(given_labels: Any, expected: list[Any]) -> None:
    assert as_labels(given_labels).tolist() == expected


@pytest.mark.parametrize(
    ("given_labels", "sentence"),
    [
        (["a", 1], "all strings or all whole numbers"),
        ([True, 1], "all strings or all whole numbers"),
        (["a", None], "all strings or all whole numbers"),
        (["a", float("nan")], "all strings or all whole numbers"),
        ([None, None], "Unknown label type: NoneType"),
        ([b"a", b"b"], "Unknown label type: bytes"),
        (np.array([b"a"]), "Unknown label type"),
        ([1.5, 2.0], "continuous"),
        ([1.0, float("nan")], "NaN or inf"),
        ([1.0, float("inf")], "NaN or inf"),
        ([2**63], "between"),
        (np.array([2**63], dtype=np.uint64), "between"),
        ([1e300, 1.0], "below 2\\*\\*53"),
        (["a\0", "a"], "NUL"),
        ("abc", "1d array"),
        ([[1, 2], [3, 4]], "1d array"),
        ([1 + 2j], "Unknown label type"),
    ],
)
def test_other_labels_are_refused(given_labels: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        as_labels(given_labels)


def test_rows_are_in_order_of_arrival_and_columns_sorted() -> None:
    rows = LabelRows()
    for batch in (["m", "z", "m"], ["a"], ["z", "longer than all before"]):
        labels = as_labels(batch)
        rows.extend(rows.new_in(labels))
    assert rows.arrived().tolist() == ["m", "z", "a", "longer than all before"]
    assert rows.sorted.tolist() == ["a", "longer than all before", "m", "z"]
    assert rows.arrived()[rows.order].tolist() == rows.sorted.tolist()
    assert rows.rows(as_labels(["z", "nobody", "a"])).tolist() == [1, -1, 2]
    assert len(rows) == 4
    assert "z" in rows
    assert "nobody" not in rows


@settings(deadline=None)
@given(st.lists(ONE_TYPE, max_size=4), st.data())
def test_every_label_keeps_one_row_of_its_own(batches: list[list[Any]], data: st.DataObject) -> None:
    rows = LabelRows()
    for batch in batches:
        labels = as_labels(batch)
        try:
            rows.check(labels)
        except ValueError:
            assert type(rows.arrived().tolist()[0]) is not type(batch[0])
            continue
        rows.extend(rows.new_in(labels))
        assert rows.arrived()[rows.rows(labels)].tolist() == batch
    if len(rows):
        gone = data.draw(st.sampled_from(rows.arrived().tolist()))
        before = [label for label in rows.arrived().tolist() if label != gone]
        rows.drop(gone)
        assert rows.arrived().tolist() == before
    again = LabelRows.from_json(rows.to_json())
    assert again.arrived().tolist() == rows.arrived().tolist()
    assert again.sorted.tolist() == rows.sorted.tolist()


def test_one_type_in_one_model() -> None:
    rows = LabelRows(["a"], "U")
    with pytest.raises(ValueError, match="so far are strings, these are whole numbers"):
        rows.check(as_labels([1]))
    rows.drop("a")
    rows.check(as_labels([1]))  # nothing is known any more, so the type is free again


def test_true_is_not_one() -> None:
    rows = LabelRows([0, 1], "i")
    with pytest.raises(ValueError, match="True is not a known class"):
        rows.drop(True)
    assert rows.drop(1) == 1


def test_rename_moves_only_the_name() -> None:
    rows = LabelRows(["a", "b", "c"], "U")
    rows.rename("b", "a much longer name")
    assert rows.arrived().tolist() == ["a", "a much longer name", "c"]
    rows.rename("c", "c")
    for old, new, sentence in (
        ("b", "x", "'b' is not a known class"),
        ("a", "c", "already a class"),
        ("a", 5, "these are whole numbers"),
    ):
        with pytest.raises(ValueError, match=sentence):
            rows.rename(old, new)
    assert rows.arrived().tolist() == ["a", "a much longer name", "c"]


def test_an_unknown_class_is_named_with_those_known() -> None:
    with pytest.raises(ValueError, match="'owl' is not a known class; known are 'cat', 'fox'"):
        LabelRows(["fox", "cat"], "U").row("owl")
    with pytest.raises(ValueError, match="known are none yet"):
        LabelRows().row(3)


@pytest.mark.parametrize(
    "stored",
    [
        {"kind": "i", "labels": ["a"]},
        {"kind": "U", "labels": [1]},
        {"kind": "i", "labels": [True]},
        {"kind": "q", "labels": []},
        {"kind": "U", "labels": ["a", "a"]},
    ],
)
def test_stored_labels_must_be_what_they_say(stored: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="stored label"):
        LabelRows.from_json(json.dumps(stored))


def test_a_copy_learns_labels_of_its_own() -> None:
    rows = LabelRows(["b", "a"], "U")
    twin = copy.deepcopy(rows)
    twin.rename("a", "z")
    twin.extend(twin.new_in(as_labels(["c"])))
    twin.sorted[:] = "x"
    assert (rows.sorted.tolist(), len(rows), "z" in rows) == (["a", "b"], 2, False)
    assert rows.rows(as_labels(["a", "b"])).tolist() == [1, 0]
