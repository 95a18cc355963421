"""Files that were made to be taken in, not learnt."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.core.types import State
from i2cansay.learners import make_learner
from i2cansay.service import service as service_module
from i2cansay.service.errors import ServiceError
from i2cansay.service.model.exchange import UNPROVEN
from i2cansay.service.service import Service
from i2cansay.service.storage.database import Damaged
from tests.learners.forged import forged, taught_file

Forge = Callable[[dict[str, str], State], None]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path / "service")
    yield made
    made.close()


def numbers(name: str, value: float) -> Forge:
    def forge(header: dict[str, str], state: State) -> None:
        (found,) = [path for path in state if path == name or path.endswith(f".{name}")][:1]
        state[found].reshape(-1)[0] = value

    return forge


def labels(*names: Any) -> Forge:
    def forge(header: dict[str, str], state: State) -> None:
        text = json.dumps({"kind": "U", "labels": list(names)})
        state["labels"] = np.frombuffer(text.encode(), np.uint8)

    return forge


def width(value: int) -> Forge:
    return numbers("progress", value)


def seen(samples: int) -> Forge:
    def forge(header: dict[str, str], state: State) -> None:
        state["progress"][1] = samples

    return forge


def parameters(**given: Any) -> Forge:
    def forge(header: dict[str, str], state: State) -> None:
        header["parameters"] = json.dumps({**json.loads(header["parameters"]), **given})

    return forge


@pytest.mark.parametrize("learner", ["i2cansay", "i2cansay_shared", "slda", "ncm"])
@pytest.mark.parametrize(
    ("forge", "sentence"),
    [
        (width(36_000), "features of width 36000"),
        (width(9_000), "would keep|cannot be what was learnt|should|expected"),
        (width(-4), "impossible"),
        (numbers("mean", np.nan), "not finite"),
        (numbers("mean", np.inf), "not finite"),
        (numbers("count", 1e300), "too large|count"),
        (numbers("count", 1e17), "count"),
        (numbers("count", -3.0), "count"),
        (numbers("count", np.nan), "not finite"),
        (numbers("count", 1.5), "fewer than 2 samples"),
        (numbers("temperature", 1e9), "temperature"),
        (labels("a\ud800", "b", "c"), "characters"),
        (labels("a\n", "b", "c"), "control characters|as the service stores"),
        (labels("a\x07b", "b", "c"), "control characters"),
        (labels(" a", "b", "c"), "as the service stores"),
        (labels("a", "a", "c"), "twice"),
        (labels("", "b", "c"), "1 to 200 characters"),
        (labels("a" * 201, "b", "c"), "1 to 200 characters"),
        (labels("a", "b"), "classes|shape"),
        (labels(*(str(n) for n in range(2001))), "2001 classes"),
        (parameters(speed=1), "no parameter speed"),
        (parameters(**{"x" * 5000: 1}), "no parameter"),
    ],
)
def test_a_forged_file_is_refused_with_a_sentence(
    service: Service, tmp_path: Path, learner: str, forge: Forge, sentence: str
) -> None:
    data = forged(taught_file(learner, tmp_path), forge)
    with pytest.raises(ServiceError, match=sentence) as refusal:
        service.import_model("odd", data)
    assert refusal.value.status == 422
    assert len(str(refusal.value)) < 500
    assert service.models == {}
    assert [path.name for path in (tmp_path / "service" / "models").iterdir()] == []


@pytest.mark.parametrize(
    ("learner", "forge", "sentence"),
    [
        ("i2cansay", numbers("weights", np.nan), "not finite"),
        ("naive", numbers("weights", np.inf), "not finite"),
        ("i2cansay_shared", parameters(lift=20_000), "smaller lift"),
        ("i2cansay_shared", parameters(lift="wide"), "smaller lift"),
        ("i2cansay_shared", parameters(lift=3000), "cannot be what was learnt"),
        ("i2cansay_shared", parameters(n_pseudo=3e6), "n_pseudo must be at most 100"),
        ("i2cansay_shared", numbers("head.centre", 1e59), "does not answer"),
        ("slda", seen(2**50), "more than 1099511627776 samples"),
        ("i2cansay_shared", parameters(forgetting=0.5), "lets samples fade|was learnt"),
        ("i2cansay", parameters(lr="fast"), "lr must be"),
        ("i2cansay", parameters(memory_size=5), "stores samples|lacks"),
    ],
)
def test_so_is_what_only_some_learners_have(
    service: Service, tmp_path: Path, learner: str, forge: Forge, sentence: str
) -> None:
    with pytest.raises(ServiceError, match=sentence):
        service.import_model("odd", forged(taught_file(learner, tmp_path), forge))
    assert service.models == {}


@pytest.mark.parametrize("learner", ["i2cansay", "gaussian_nb"])
@pytest.mark.parametrize("how", ["twice", "weighted"])
def test_one_sample_counted_twice_is_refused_where_the_file_shows_it(
    service: Service, tmp_path: Path, learner: str, how: str
) -> None:
    X, y = np.random.default_rng(0).normal(size=(6, 5)), ["a", "a", "a", "b", "b", "b"]
    model = make_learner(learner).partial_fit(X, y)
    if how == "twice":
        model.partial_fit(np.full((2, 5), 0.1), ["one", "one"])
    else:
        model.partial_fit(np.full((1, 5), 0.1), ["one"], sample_weight=[2.0])
    model.save(tmp_path / "model.i2cs")
    with pytest.raises(ServiceError, match="the samples of the class 'one' are all the same"):
        service.import_model("odd", (tmp_path / "model.i2cs").read_bytes())
    assert service.models == {}


def test_what_cannot_be_opened_leaves_no_file(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(*_: object) -> None:
        raise Damaged("is damaged: it was forged")

    monkeypatch.setattr(service_module, "ServedModel", damaged)
    with pytest.raises(ServiceError, match="it was forged"):
        service.import_model("odd", taught_file("ncm", tmp_path))
    assert list((tmp_path / "service" / "models").iterdir()) == []


def test_a_file_that_came_after_the_start_is_not_overwritten(service: Service, tmp_path: Path) -> None:
    copied = tmp_path / "service" / "models" / "restored.sqlite"
    copied.write_bytes(b"a backup")
    data = taught_file("ncm", tmp_path)
    with pytest.raises(ServiceError, match=r"restored.sqlite that came after the start") as refusal:
        service.create("restored", encoder=None)
    assert refusal.value.status == 409
    with pytest.raises(ServiceError, match=r"restored.sqlite that came after the start"):
        service.import_model("restored", data)
    assert copied.read_bytes() == b"a backup"


def test_a_learner_that_forgets_by_itself_is_refused(service: Service, tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="lets samples fade"):
        service.import_model("odd", taught_file("i2cansay_shared", tmp_path, forgetting=0.001))
    assert service.models == {}


def test_where_a_file_cannot_show_it_the_model_says_so(service: Service, tmp_path: Path) -> None:
    assert service.import_model("shown", taught_file("i2cansay", tmp_path)).facts.unproven == ""
    for number, learner in enumerate(["i2cansay_shared", "slda", "ncm"]):
        taken = service.import_model(f"model{number}", taught_file(learner, tmp_path))
        assert taken.facts.unproven == UNPROVEN
    service.close()
    again = Service(tmp_path / "service")
    assert again.model("model0").facts.unproven == UNPROVEN
    again.close()
