"""Models of the three choices, with the blocks of their encoder."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from i2cansay.core.types import Float32
from i2cansay.encoders.stages import Block
from i2cansay.learners import make_learner
from i2cansay.learners.choices import CHOICES
from i2cansay.service.errors import ServiceError
from i2cansay.service.model.exchange import export
from i2cansay.service.model.open_encoders import OpenEncoders
from i2cansay.service.model.requests import Learn, Question
from i2cansay.service.service import Service
from tests.service.material import rows

BLOCKS = (24, 16)
LABELS = ("a", "b") * 4


@dataclasses.dataclass
class StagedEncoder:
    """As much of an encoder as a new model asks."""

    name: str
    blocks = tuple(Block(f"stage {width}", width) for width in BLOCKS)
    fingerprint = "staged"

    @dataclasses.dataclass
    class _Squares:
        size = 8

    preprocessing = _Squares()


@dataclasses.dataclass
class StagedQueue:
    """A queue before it."""

    encoder: StagedEncoder

    def close(self) -> None:
        """Nothing waits."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every encoder is one of two blocks; return the names that were asked for."""
    names: list[str] = []

    def named(_: OpenEncoders, name: str) -> StagedQueue:
        names.append(name)
        return StagedQueue(StagedEncoder(name))

    monkeypatch.setattr(OpenEncoders, "named", named)
    monkeypatch.setattr(OpenEncoders, "of", lambda _, identity: StagedQueue(StagedEncoder(identity.name)))
    return names


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path / "data")
    yield made
    made.close()


def lesson() -> Float32:
    return np.abs(rows(LABELS, np.random.default_rng(0), width=sum(BLOCKS)))


@pytest.mark.parametrize("choice", CHOICES)
def test_a_choice_has_its_encoder_and_the_learner_knows_the_blocks(
    service: Service, asked: list[str], choice: str
) -> None:
    model = service.create("made", learner=choice)
    staged = CHOICES[choice].features == "stages"
    assert asked == ["efficientnet-lite0+stages" if staged else "efficientnet-lite0"]
    assert model.facts.learner == CHOICES[choice].learner
    assert model.facts.parameters.get("blocks") == (list(BLOCKS) if staged else None)
    model.teach(Learn(lesson(), LABELS)).result()
    expected = make_learner(choice, **({"blocks": BLOCKS} if staged else {}), random_state=0)
    expected.partial_fit(lesson(), LABELS)
    answers = model.ask(Question(lesson(), 1)).result()
    assert [answer.label for answer in answers] == expected.predict(lesson()).tolist()


@pytest.mark.parametrize("choice", CHOICES)
def test_a_model_of_a_choice_opens_again_and_goes_out_and_comes_in(
    tmp_path: Path, asked: list[str], choice: str
) -> None:
    service = Service(tmp_path / "data", learner=choice)
    model = service.create("made")
    model.teach(Learn(lesson(), LABELS)).result()
    file = export(model.state())
    before = model.state().learner.class_scores(lesson())
    service.close()
    again = Service(tmp_path / "data")
    assert again.damaged == {}
    brought = again.import_model("brought", file)
    for each in (again.model("made"), brought):
        assert np.array_equal(each.state().learner.class_scores(lesson()), before)
        assert each.facts.parameters == model.facts.parameters
        each.teach(Learn(lesson()[:1] + 1, ("a",))).result()
    again.close()
    last = Service(tmp_path / "data")
    assert sorted(last.models) == ["brought", "made"]
    last.close()


def test_an_encoder_for_all_is_used_for_every_choice(tmp_path: Path, asked: list[str]) -> None:
    service = Service(tmp_path / "data", learner="paper", encoder="resnet18")
    service.create("one")
    service.create("two", learner="best")
    service.create("three", learner="best", encoder="pixels")
    assert asked == ["resnet18", "resnet18", "pixels"]
    assert [choice.encoder for choice in service.choices()] == ["resnet18"] * 3
    service.close()


def test_another_learner_by_name_can_be_the_usual_one(tmp_path: Path, asked: list[str]) -> None:
    service = Service(tmp_path / "data", learner="slda")
    assert service.create("made").facts.learner == "slda"
    assert [(choice.name, choice.usual) for choice in service.choices()][:2] == [
        ("slda", True),
        ("best", False),
    ]
    service.close()


def test_a_wrong_name_is_told_before_an_encoder_is_opened(service: Service, asked: list[str]) -> None:
    with pytest.raises(ServiceError, match="bset") as refusal:
        service.create("made", learner="bset")
    assert refusal.value.status == 422
    assert asked == []


def test_wide_features_are_too_large_before_anything_is_made(
    service: Service, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StagedEncoder, "blocks", (Block("a", 5000), Block("b", 5000)))
    assert service.create("reduced").facts.parameters["blocks"] == [5000, 5000]
    with pytest.raises(ServiceError, match="smaller lift or width"):
        service.create("wide", learner="best", parameters={"width": 10000})
