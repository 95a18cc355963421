"""The estimate of a state's size, and refusals by it."""

from __future__ import annotations

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


@pytest.mark.parametrize("learner", ["i2cansay", "naive", "ncm", "gaussian_nb", "slda", "ridge", "ranpac"])
def test_the_estimate_is_no_less_than_the_state_and_not_far_above(learner: str) -> None:
    parameters: dict[str, Any] = {"n_projections": 150} if learner == "ranpac" else {}
    labels = [f"class {number}" for number in range(20)] * 2
    made = make_learner(learner, **parameters)
    made.partial_fit(rows(labels, np.random.default_rng(0), width=200), labels)
    taken = sum(array.nbytes for name, array in made.state().items() if name != "labels")
    estimate = state_bytes(learner, parameters, 200, 20)
    assert 0.9 * taken - 8000 < estimate < 8 * taken


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
