"""The choices that people have."""

from pathlib import Path

import numpy as np
import pytest

from i2cansay.learners import LEARNERS, learner_class, make_learner
from i2cansay.learners.choices import CHOICES

WIDTH, CLASSES, MEGABYTE = 4256, 100, 1e6  # the stages of EfficientNet-Lite0


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_makes_its_learner_with_its_parameters(name: str) -> None:
    choice, learner = CHOICES[name], make_learner(name)
    assert type(learner) is learner_class(choice.learner)
    assert {key: getattr(learner, key) for key in choice.parameters} == dict(choice.parameters)


def test_a_parameter_of_a_choice_can_be_given_another_value() -> None:
    assert make_learner("small", width=512).width == 512


def test_no_choice_hides_a_learner() -> None:
    assert not set(CHOICES) & set(LEARNERS)


@pytest.mark.parametrize("name", ["best", "small"])
def test_what_people_get_depends_on_no_order(name: str) -> None:
    assert make_learner(name).order_free


def test_the_sizes_keep_their_word(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    small = make_learner("small").partial_fit(rng.random((CLASSES, WIDTH)), np.arange(CLASSES))
    small.save(tmp_path / "small.i2cs")
    assert (tmp_path / "small.i2cs").stat().st_size <= 12 * MEGABYTE
    best = make_learner("best").state_bytes(WIDTH, CLASSES)
    assert best is not None
    assert 12 * MEGABYTE < best <= 160 * MEGABYTE  # in memory, with the inverse that lessons update
