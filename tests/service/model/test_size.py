"""The estimate of a state's size, and refusals by it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from i2cansay.learners import make_learner
from i2cansay.learners.model_file import save
from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from i2cansay.service.model.requests import Learn
from i2cansay.service.model.size import check_size
from i2cansay.service.service import Service
from tests.service.material import new_model, teach

ROOM = [("fecam", 40), ("ensemble", 48), ("rff_lda", 1299), ("i2cansay_shared", 1379)]


def test_a_covariance_for_every_class_is_more_than_a_model_may_take() -> None:
    most = Limits().state_bytes
    with pytest.raises(ServiceError, match='use covariance="common" or another learner'):
        check_size(make_learner("fecam"), 1280, 100, most)
    check_size(make_learner("fecam", covariance="common"), 1280, 2000, most)
    with pytest.raises(ServiceError, match="use fewer n_classifiers"):
        check_size(make_learner("ensemble"), 1280, 100, most)
    with pytest.raises(ServiceError, match="use a smaller memory_size"):
        check_size(make_learner("er", memory_size=10**6), 1280, 100, most)


@pytest.mark.parametrize(("learner", "classes"), ROOM)
def test_so_many_classes_have_room_as_the_page_says(learner: str, classes: int) -> None:
    most = Limits().state_bytes
    check_size(make_learner(learner), 1280, classes, most)
    with pytest.raises(ServiceError, match=f"{classes + 1} classes"):
        check_size(make_learner(learner), 1280, classes + 1, most)
    text = (Path(__file__).parents[3] / "docs" / "service.md").read_text(encoding="utf-8")
    assert re.search(rf"\b{classes}\b[^.;]* with `{learner}`", text)


def test_a_model_that_would_grow_too_large_is_refused_and_goes_on(tmp_path: Path) -> None:
    model = new_model(tmp_path, learner="slda", limits=Limits(state_bytes=29_120))
    rng = np.random.default_rng(0)
    for wide in (60, 20_000):
        with pytest.raises(ServiceError, match=f"width {wide}") as refusal:
            model.teach(Learn(np.ones((2, wide), np.float32), ("a", "b"))).result()
        assert refusal.value.status == 422
    for label in "abcdefghijklmnop":
        teach(model, [label] * 2, rng)
    with pytest.raises(ServiceError, match="and 20 classes"):
        teach(model, list("qrst"), rng)
    assert teach(model, ["a"], rng).counts == {"a": 3}  # a known class makes nothing larger
    model.close()


def test_what_is_too_large_from_the_start_is_not_made(tmp_path: Path) -> None:
    service = Service(tmp_path)
    for parameters in ({}, {"n_projections": 1_000_000}):
        with pytest.raises(ServiceError, match="fewer n_projections"):
            service.create("wide", learner="ranpac", parameters=parameters, encoder=None)
    service.create("narrow", learner="ranpac", parameters={"n_projections": 100}, encoder=None)
    save(make_learner("ranpac", n_projections=1_000_000), tmp_path / "untaught.i2cs")
    with pytest.raises(ServiceError, match="fewer n_projections"):
        service.import_model("wide", (tmp_path / "untaught.i2cs").read_bytes())
    service.close()


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"lift": "wide"}, "use a smaller lift"),
        ({"lift": 20_000}, "use a smaller lift"),
        ({"lift": 10**9}, "use a smaller lift"),
        ({"lift": "widest"}, "lift must be one of 'auto', 'wide'"),
        ({"lift": -1}, "lift must be a whole number of at least 0"),
        ({"lift": float("nan")}, "lift must be a whole number"),
        ({"n_pseudo": 3e6}, "n_pseudo must be at most 100"),
    ],
)
def test_no_parameter_means_no_limit(tmp_path: Path, parameters: dict[str, object], sentence: str) -> None:
    service = Service(tmp_path)
    with pytest.raises(ServiceError, match=sentence):
        service.create("large", learner="i2cansay_shared", parameters=parameters, encoder=None)
    assert service.models == {}
    service.close()


@pytest.mark.parametrize("learner", ["joint", "cndpm"])
def test_a_learner_without_a_bound_is_refused(learner: str) -> None:
    with pytest.raises(ServiceError, match="could outgrow the 256 MB"):
        check_size(make_learner(learner), 2, 2, Limits().state_bytes)


def test_the_usual_limit_lets_usual_models_through() -> None:
    most = Limits().state_bytes
    for learner in ("i2cansay", "slda", "ridge"):
        check_size(make_learner(learner), 1280, 1000, most)
        check_size(make_learner(learner), 2048, 1000, most)
    with pytest.raises(ServiceError, match="256 MB"):
        check_size(make_learner("slda"), 9000, 2, most)
