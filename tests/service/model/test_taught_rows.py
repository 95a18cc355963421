"""Rows of a lesson: chosen, renamed and counted without being taken apart."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from i2cansay.service.model.taught_rows import (
    LessonSource,
    PrequentialScores,
    TaughtRows,
    row_digests,
    stacked,
)


def rows_of(labels: str, first: int = 1) -> TaughtRows:
    """Return a row for each letter, which all differ."""
    n = len(labels)
    serials = np.arange(first, first + n)
    X = np.repeat(serials[:, None], 3, axis=1).astype(np.float32)
    tested = PrequentialScores(serials % 2 == 0, serials % 3 == 0, serials % 4)
    return TaughtRows(LessonSource(0.0, n_rows=n), X, tuple(labels), serials, np.arange(n), tested)


@given(st.text("abc", max_size=8), st.sampled_from("abc"))
def test_a_class_and_the_others_are_all_rows(labels: str, label: str) -> None:
    rows = rows_of(labels)
    parts = rows.of_class(label), rows.without_class(label)
    assert sorted([*parts[0].serials, *parts[1].serials]) == rows.serials.tolist()
    for part in parts:
        assert part.labels == tuple(labels[position] for position in part.positions)
        np.testing.assert_array_equal(part.X[:, 0], part.serials)
        np.testing.assert_array_equal(part.tested.correct, part.serials % 3 == 0)
    assert rows.without(parts[0].serials).serials.tolist() == parts[1].serials.tolist()


def test_a_choice_of_all_rows_copies_nothing() -> None:
    rows = rows_of("ab")
    assert rows.select([0, 1]) is rows
    assert rows.select([1, 0]).labels == ("b", "a")
    assert stacked([rows])[0] is rows.X


def test_a_choice_does_not_keep_the_other_rows_in_memory() -> None:
    assert rows_of("aaaa").select([2]).X.base is None


def test_copies_count_once_and_minus_zero_is_zero() -> None:
    rows = rows_of("aa")
    zero = TaughtRows(
        rows.source,
        np.array([[0.0], [-0.0]], np.float32),
        rows.labels,
        rows.serials,
        rows.positions,
        rows.tested,
    )
    assert len(row_digests([zero])) == 1
    assert len(row_digests([rows, rows])) == 2


def test_pieces_are_stacked_in_their_order() -> None:
    X, labels = stacked([rows_of("ab"), rows_of("c", first=3)])
    assert X[:, 0].tolist() == [1, 2, 3]
    assert labels == ["a", "b", "c"]


def test_rows_beside_others_have_all_parts_of_both() -> None:
    rows = rows_of("abcab")
    one, other = rows.of_class("a"), rows.without_class("a")
    both = one.beside(other)
    order = np.argsort(both.serials)
    assert np.array_equal(both.X[order], rows.X)
    assert [both.labels[index] for index in order] == list(rows.labels)
    assert np.array_equal(both.positions[order], rows.positions)
    assert np.array_equal(both.tested.scored[order], rows.tested.scored)
    assert np.array_equal(both.tested.predicted[order], rows.tested.predicted)
    assert one.beside(rows.of_class("z")) is one


def test_tests_name_the_class_taught_and_the_one_predicted() -> None:
    rows = rows_of("aabbab")  # serials 1 to 6: even ones were tested, those that 3 divides were right
    assert list(rows.tests({"a": 7, "b": 9})) == [(7, 2), (9, 0), (9, 9)]
