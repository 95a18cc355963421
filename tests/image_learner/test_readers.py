"""Readers of a learner: a change in place waits for none of them, and finds out whether there are any."""

from __future__ import annotations

from copy import deepcopy

import pytest

from i2cansay.image_learner.readers import Readers
from i2cansay.learners import make_learner


def test_nothing_is_changed_in_place_while_somebody_reads() -> None:
    learner, readers = make_learner("ncm").partial_fit([[0.0]], ["low"]), Readers()
    with readers.reading(learner), readers.reading(learner):
        assert not readers.change_if_idle(lambda: pytest.fail("it was changed"))
    assert readers.change_if_idle(lambda: None)


def test_who_reads_what_was_replaced_holds_nobody_up() -> None:
    learner, readers = make_learner("ncm").partial_fit([[0.0]], ["low"]), Readers()
    with readers.reading(learner) as known:
        readers.replace(learner, deepcopy(learner).partial_fit([[1.0]], ["high"]))
        assert readers.change_if_idle(lambda: learner.partial_fit([[9.0]], ["higher"]))
        assert known.classes_.tolist() == ["low"]
        with readers.reading(learner):
            assert not readers.change_if_idle(lambda: None)
    assert readers.change_if_idle(lambda: None)
    assert learner.classes_.tolist() == ["high", "higher", "low"]


def test_a_reader_that_fails_has_read() -> None:
    learner, readers = make_learner("ncm"), Readers()
    with pytest.raises(ZeroDivisionError), readers.reading(learner):
        raise ZeroDivisionError
    assert readers.change_if_idle(lambda: None)


def test_nobody_reads_a_copy() -> None:
    learner, readers = make_learner("ncm"), Readers()
    with readers.reading(learner):
        assert deepcopy(readers).change_if_idle(lambda: None)
