"""Models that were stored before verdicts rested on evidence: they open, answer and go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.learners import make_learner
from i2cansay.service.limits import Limits
from i2cansay.service.model.requests import Question
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.service_metrics import ServiceMetrics
from i2cansay.service.storage.database import Changes, Database
from i2cansay.service.storage.model_records import ClassRecord, ModelFacts
from tests.service.material import SHARED, rows, teach

KINDS: dict[str, dict[str, Any]] = {"paper": {"learner": "i2cansay", "parameters": {}}, **SHARED}
LABELS = ["a", "b"] * 5


@pytest.mark.parametrize("kind", KINDS)
def test_an_older_file_opens_answers_and_goes_on(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(0)
    made = KINDS[kind]
    learner = make_learner(made["learner"], **made["parameters"]).partial_fit(rows(LABELS, rng), LABELS)
    state = {name: array for name, array in learner.state().items() if not name.startswith("evidence.")}
    state["progress"] = state["progress"][:3]
    path = tmp_path / "tested.sqlite"
    Database.create(path, ModelFacts("tested", made["learner"], made["parameters"], None, 2, 0.0))
    database = Database(path)
    database.read()
    notes = {"curve": [[1]], "novelty": [0] * 128, "classes_made": 2}
    classes = {label: ClassRecord(label, 5, 0.0, 0.0, number) for number, label in enumerate("ab", start=1)}
    database.commit(1, state, notes, Changes(classes=dict(classes)))
    database.close()

    model = ServedModel(path, Limits(), ServiceMetrics())
    answers = model.ask(Question(rows(["b"], rng))).result()
    assert [(answer.label, answer.verdict) for answer in answers] == [("b", "unsure")]
    assert model.snapshot.tested == 0
    for _ in range(30):
        teach(model, ["a", "b"], rng)
    tested = model.snapshot.tested
    assert tested > 0
    model.close()
    again = ServedModel(path, Limits(), ServiceMetrics())
    assert again.snapshot.tested == tested
    assert "novelty" not in again.state().notes()
    again.close()
