"""Counts of what was predicted, by class: bounded, durable, and following what happens to the classes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from i2cansay.service.http.quality_routes import confusion_by_label
from i2cansay.service.limits import Limits
from i2cansay.service.model.confusion import MOST_PAIRS, Confusion
from i2cansay.service.model.requests import Forget, Learn, Move, Rename, Undo
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.service_metrics import ServiceMetrics
from tests.service.material import SHARED, new_model, rows, teach

PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 5)), max_size=60)
KINDS: dict[str, dict[str, Any]] = {"paper": {"learner": "i2cansay"}, **SHARED}


def table(model: ServedModel) -> tuple[dict[tuple[str, str], int], dict[str, tuple[int, int]]]:
    """Return the counts by pair, and the tests by class."""
    answer = confusion_by_label(model.state())
    counts = {(each["taught"], each["predicted"]): each["n"] for each in answer["counts"]}
    return counts, {each["label"]: (each["tested"], each["right"]) for each in answer["classes"]}


@given(PAIRS, PAIRS)
def test_counts_add_up_and_can_be_taken_out(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    one = Confusion().add(first)
    both = one.add(second)
    expected = Counter(first + second)
    assert both.mistaken == {(a, b): n for (a, b), n in expected.items() if b not in (a, 0)}
    for number, tests in both.classes.items():
        assert tests.tested == sum(n for (taught, _), n in expected.items() if taught == number)
        assert tests.right == expected[number, number]
    assert both.remove(second) == one
    assert Confusion.from_json(both.to_json(), range(1, 6)) == both


@given(PAIRS, PAIRS, st.integers(1, 5))
def test_counts_stay_whole_whatever_is_taken_out(
    pairs: list[tuple[int, int]], others: list[tuple[int, int]], number: int
) -> None:
    left = Confusion().add(pairs).without(number).remove(others)
    numbers = {each for pair in left.mistaken for each in pair} | left.classes.keys()
    assert Confusion.from_json(left.to_json(), numbers) == left  # raises where counts do not fit together


def test_the_rarest_pairs_go_where_there_are_too_many() -> None:
    confusion = Confusion()
    for taught in range(1, 101):
        often = [(taught, taught % 100 + 1)] * 5
        confusion = confusion.add(often + [(taught, other) for other in range(1, 101)])
    assert len(confusion.mistaken) <= MOST_PAIRS
    assert all(confusion.mistaken[taught, taught % 100 + 1] == 6 for taught in range(1, 101))
    assert all(tests.tested == 105 for tests in confusion.classes.values())
    assert confusion.remove([(1, 50)] * 500).classes[1].tested >= 7
    Confusion.from_json(confusion.to_json(), range(1, 101))


@pytest.mark.parametrize(
    "stored",
    [
        {"classes": [[9, 1, 1]], "mistaken": []},
        {"classes": [[1, 1, 2]], "mistaken": []},
        {"classes": [[1, 1, -1]], "mistaken": []},
        {"classes": [[1, 1, 1]], "mistaken": [[1, 2, 1]]},
        {"classes": [[1, 1, 0]], "mistaken": [[1, 9, 1]]},
        {"classes": [], "mistaken": [[1, 2, 1]]},
        {"classes": [[1, 1, 0]], "mistaken": [[1, 2, 0]]},
    ],
)
def test_counts_that_cannot_be_are_refused(stored: dict[str, list[list[int]]]) -> None:
    with pytest.raises(ValueError, match="not those of its classes"):
        Confusion.from_json(stored, [1, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_tests_are_counted_where_accuracy_is_and_survive(tmp_path: Path, kind: str) -> None:
    model = new_model(tmp_path, **KINDS[kind])
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    assert table(model) == ({}, {})  # new classes are not tested
    teach(model, ["a", "b", "a"], rng)
    model.teach(Learn(rows(["a"], rng), ("b",))).result()  # an a, taught as b
    expected = ({("a", "a"): 2, ("b", "b"): 1, ("b", "a"): 1}, {"a": (2, 2), "b": (2, 1)})
    assert table(model) == expected
    assert sum(point.samples for point in model.state().curve.points) == 4
    model.close()
    model = ServedModel(model.path, Limits(), ServiceMetrics())
    assert table(model) == expected
    model.teach(Rename("b", "z")).result()
    assert table(model) == ({("a", "a"): 2, ("z", "z"): 1, ("z", "a"): 1}, {"a": (2, 2), "z": (2, 1)})
    model.teach(Forget("a")).result()
    assert table(model) == ({("z", "z"): 1}, {"z": (2, 1)})
    model.close()
    model = ServedModel(model.path, Limits(), ServiceMetrics())
    assert table(model) == ({("z", "z"): 1}, {"z": (2, 1)})
    teach(model, ["a", "a"], rng)  # another class of that name
    assert table(model)[1] == {"z": (2, 1)}
    model.close()


@pytest.mark.parametrize("request_of", [Undo, lambda lesson: Move(lesson, "a")])
def test_a_lesson_takes_its_tests_along(tmp_path: Path, request_of: Any) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    teach(model, ["a", "b"], rng)
    before = table(model)
    wrong: Any = model.teach(Learn(rows(["a"] * 2, rng), ("b", "b"))).result()
    assert table(model)[0]["b", "a"] == 2
    model.teach(request_of(wrong.lesson)).result()
    assert table(model) == before
    model.close()
    model = ServedModel(model.path, Limits(), ServiceMetrics())
    assert table(model) == before
    model.close()


def test_a_class_in_memory_is_not_named_and_nothing_of_it_is_written(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    teach(model, ["waiting"], rng)
    model.teach(Learn(rows(["waiting"], rng), ("a",))).result()  # taken for the class of one
    assert table(model) == ({}, {"a": (1, 0)})
    assert b"waiting" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    teach(model, ["waiting"], rng)  # tested, since the model knew it, and counted as it is written
    assert table(model)[1] == {"a": (1, 0), "waiting": (1, 1)}
    model.close()
