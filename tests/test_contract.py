"""Every learner of the table keeps every promise of the contract."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from i2cansay import LEARNERS
from i2cansay.testing import learner_checks, small_learner


def cases() -> Iterator[Any]:
    for learner in LEARNERS:
        for name, check in learner_checks(small_learner(learner)):
            yield pytest.param(check, id=f"{learner}-{name}")


@pytest.mark.parametrize("check", list(cases()))
def test_contract(check: Callable[[], None]) -> None:
    check()
