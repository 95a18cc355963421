"""The estimate of a state's size, and refusals by it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.learners import make_learner
from i2cansay.learners.model_file import save
from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from i2cansay.service.requests import Learn
from i2cansay.service.service import Service
from i2cansay.service.size import check_size, state_bytes
from tests.service.material import new_model, rows, teach

WITHOUT_SAMPLES = (
    "i2cansay",
    "i2cansay_shared",
    "naive",
    "ncm",
    "gaussian_nb",
    "slda",
    "ridge",
    "ranpac",
    "rff_lda",
    "fecam",
    "ensemble",
)
WITH_SAMPLES = ["er", "agem", "mir", "gss", "aser", "gdumb", "cope", "cndpm", "cv", "dsdm"]
SMALL: dict[str, dict[str, Any]] = {
    "i2cansay_shared": {"lift": 50},
    "ranpac": {"n_projections": 150},
    "rff_lda": {"n_projections": 150},
    "ensemble": {"n_classifiers": 64},
    "cndpm": {"rank": 4},
}
"""Parameters that make a learner small; whoever stores samples gets room for half of those taught."""
ROOM = 40


@pytest.mark.parametrize("learner", [*WITHOUT_SAMPLES, *WITH_SAMPLES])
def test_the_estimate_is_no_less_than_the_state_and_not_far_above(learner: str) -> None:
    parameters = dict(SMALL.get(learner, {}))
    if learner in WITH_SAMPLES:
        parameters["memory_size"] = ROOM
    labels = [f"class {number}" for number in range(20)] * 4
    made = make_learner(learner, **parameters)
    made.partial_fit(rows(labels, np.random.default_rng(0), width=200), labels)
    taken = sum(array.nbytes for name, array in made.state().items() if name != "labels")
    estimate = state_bytes(learner, parameters, 200, 20)
    assert 0.9 * taken - 8000 < estimate < 8 * taken


@pytest.mark.parametrize("learner", WITH_SAMPLES)
def test_what_is_stored_counts(learner: str) -> None:
    small, large = (state_bytes(learner, {"memory_size": size}, 1280, 10) for size in (1000, 6000))
    assert 5000 * 1280 * 4 <= large - small < 1.1 * 5000 * 1280 * 4


def test_a_covariance_for_every_class_is_more_than_a_model_may_take() -> None:
    most = Limits().state_bytes
    with pytest.raises(ServiceError, match='use covariance="common" or another learner'):
        check_size("fecam", {}, 1280, 100, most)
    check_size("fecam", {"covariance": "common"}, 1280, 2000, most)
    with pytest.raises(ServiceError, match="use fewer n_classifiers"):
        check_size("ensemble", {}, 1280, 100, most)
    with pytest.raises(ServiceError, match="use a smaller memory_size"):
        check_size("er", {"memory_size": 10**6}, 1280, 100, most)


@pytest.mark.parametrize(("learner", "classes"), [("fecam", 40), ("ensemble", 49), ("rff_lda", 570)])
def test_so_many_classes_have_room_as_the_page_says(learner: str, classes: int) -> None:
    most = Limits().state_bytes
    check_size(learner, {}, 1280, classes, most)
    with pytest.raises(ServiceError, match=f"{classes + 1} classes"):
        check_size(learner, {}, 1280, classes + 1, most)
    text = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")
    assert re.search(rf"\b{classes}\b[^.;]* with `{learner}`", text)


def test_a_model_that_would_grow_too_large_is_refused_and_goes_on(tmp_path: Path) -> None:
    model = new_model(tmp_path, learner="slda", limits=Limits(state_bytes=30_000))
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
        service.take_in("wide", (tmp_path / "untaught.i2cs").read_bytes())
    service.close()


def test_the_usual_limit_lets_usual_models_through() -> None:
    most = Limits().state_bytes
    for learner in ("i2cansay", "slda", "ridge"):
        check_size(learner, {}, 1280, 1000, most)
        check_size(learner, {}, 2048, 1000, most)
    with pytest.raises(ServiceError, match="256 MB"):
        check_size("slda", {}, 6000, 2, most)
