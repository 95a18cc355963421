"""Samples that wait for others of their class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from i2cansay.service.model import transaction
from i2cansay.service.model.requests import Forget, Learn, Rename
from i2cansay.service.model.waiting import COPIES
from tests.service.material import WIDTH, new_model, rows, teach


def test_copies_of_one_sample_do_not_gather_without_end(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    x = rows(["a"], rng)
    most = 2 + COPIES
    model.teach(Learn(np.repeat(x, most - 1, axis=0), ("a",) * (most - 1))).result()
    model.teach(Learn(x, ("a",))).result()
    for n in (1, 500):
        with pytest.raises(ServiceError, match="of which only 1 are different") as refusal:
            model.teach(Learn(np.repeat(x, n, axis=0), ("a",) * n)).result()
        assert refusal.value.status == 409
    assert model.state().count("a") == most
    assert teach(model, ["b", "b"], rng).durable == (True, True)  # others go on
    assert teach(model, ["a"], rng).counts == {"a": most + 1}  # another sample completes it
    assert model.state().classes["a"].count == most + 1
    model.close()


def test_what_completes_a_class_may_be_as_many_as_a_request_allows(tmp_path: Path) -> None:
    model = new_model(tmp_path, min_samples=300)
    rng = np.random.default_rng(0)
    assert not any(teach(model, ["a"] * 250, rng).durable)
    assert all(teach(model, ["a"] * 250, rng).durable)
    model.close()


def test_waiting_samples_take_no_more_than_a_model_may(tmp_path: Path) -> None:
    model = new_model(tmp_path, learner="ncm", min_samples=50, limits=Limits(state_bytes=100 * 4 * WIDTH))
    rng = np.random.default_rng(0)
    teach(model, ["a"] * 49 + ["b"] * 49, rng)
    with pytest.raises(ServiceError, match="101 samples would wait in memory"):
        teach(model, ["c"] * 3, rng)
    assert model.state().count("c") == 0
    teach(model, ["a"] + ["c"] * 3, rng)  # the 49 are complete now, and wait no more
    assert model.state().classes["a"].count == 50
    assert model.state().count("c") == 3
    model.teach(Forget("b")).result()
    model.close()


def test_lessons_that_can_be_taken_back_are_bounded_by_their_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "LESSON_BYTES", 10 * 4 * WIDTH)
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    lessons = [teach(model, ["a", "b"] * 2, rng).lesson for _ in range(4)]
    assert list(model.state().lessons) == lessons[-2:]
    model.close()


def test_lessons_of_one_group_are_bounded_as_those_of_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "LESSONS", 3)
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    old = teach(model, ["a", "b"] * 2, rng)
    answers: Any = model._commit([Learn(rows(["a", "b"], rng), ("a", "b")) for _ in range(5)])
    assert list(model.state().lessons) == [answer.lesson for answer in answers[-3:]]
    assert old.lesson not in model.state().lessons
    model.close()


def test_features_whose_time_is_over_leave_memory_with_the_next_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    monkeypatch.setattr(transaction, "LESSON_SECONDS", -1.0)
    teach(model, ["a", "b"] * 2, rng)
    model.teach(Rename("a", "c")).result()
    assert not model.state().lessons
    model.close()
