"""Lessons, moves, undos, new names and restarts in any order, against a plain count of who was taught what."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from i2cansay.service.model.requests import Forget, Learn, Move, Rename, Request, Undo
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.service_metrics import ServiceMetrics
from tests.service.material import SHARED, new_model, rows

KINDS: dict[str, dict[str, Any]] = {"paper": {"learner": "i2cansay"}, "best": SHARED["best"]}
LABELS = "abcde"


class Ledger:
    """What a model must hold: the classes of old samples, and the labels of lessons in memory."""

    def __init__(self) -> None:
        self.old = Counter[str]()
        self.lessons: dict[str, list[str]] = {}

    def counts(self) -> dict[str, int]:
        return dict(+(self.old + Counter(label for labels in self.lessons.values() for label in labels)))

    def apply(self, request: Request, answer: Any) -> None:
        if isinstance(request, Learn):
            self.lessons[answer.lesson] = list(request.labels)
        elif isinstance(request, Undo):
            del self.lessons[request.lesson]
        elif isinstance(request, Move):
            self.lessons[request.lesson] = [request.label] * len(self.lessons[request.lesson])
        elif isinstance(request, Rename):
            moved = self.old.pop(request.label, 0)
            self.old[request.new] += moved
            for labels in self.lessons.values():
                labels[:] = [request.new if label == request.label else label for label in labels]
        else:
            assert isinstance(request, Forget)
            self.old.pop(request.label, 0)
            for labels in self.lessons.values():
                labels[:] = [label for label in labels if label != request.label]
            self.lessons = {name: labels for name, labels in self.lessons.items() if labels}


def any_request(ledger: Ledger, rng: np.random.Generator) -> Request:
    label, other = rng.choice(list(LABELS), size=2).tolist()
    kind = rng.choice(
        ["learn", "learn", "move", "move", "undo", "rename", "forget"], p=[0.25] * 2 + [0.1] * 5
    )
    if kind in ("move", "undo") and ledger.lessons:
        lesson = rng.choice(list(ledger.lessons)).item()
        return Move(lesson, label) if kind == "move" else Undo(lesson)
    if kind == "rename":
        return Rename(label, other)
    if kind == "forget":
        return Forget(label)
    labels = rng.choice(list(LABELS), size=rng.integers(1, 4)).tolist()
    return Learn(rows(labels, rng), tuple(labels), rng.bytes(8))


def whole(model: ServedModel) -> tuple[Any, ...]:
    state = model.state()
    arrays = {name: array.tobytes() for name, array in state.learner.state().items()}
    return (
        arrays,
        state.classes,
        {name: each.rows.labels for name, each in state.lessons.items()},
        state.notes(),
    )


def outcome(model: ServedModel, request: Request) -> Any:
    try:
        return model.teach(request).result()
    except ServiceError as error:
        return error


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_every_sample_is_where_it_was_put_last(tmp_path: Path, kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = new_model(tmp_path, **KINDS[kind])
    ledger, refused, sent = Ledger(), 0, list[Learn]()
    for step in range(80):
        request, before = any_request(ledger, rng), whole(model)
        answer = outcome(model, request)
        if isinstance(answer, ServiceError):
            assert answer.status in (404, 409)
            assert whole(model) == before, answer
            refused += 1
        else:
            ledger.apply(request, answer)
            sent += [request] if isinstance(request, Learn) else []
        assert {line.label: line.count for line in model.snapshot.classes} == ledger.counts()
        listed = {line.id: Counter(line.labels) for line in model.lessons()}
        assert listed == {name: Counter(labels) for name, labels in ledger.lessons.items()}
        if step % 20 == 19:
            durable = {line.label: line.count for line in model.snapshot.classes if line.durable}
            model.close()
            model = ServedModel(model.path, Limits(), ServiceMetrics())
            assert {line.label: line.count for line in model.snapshot.classes} == durable
            ledger.old, ledger.lessons = Counter(durable), {}
        elif sent and step % 5 == 0:  # a retry counts nothing twice, whatever has become of its samples
            again: Any = model.teach(sent[-1]).result()
            if again.learnt == 0:
                assert {line.label: line.count for line in model.snapshot.classes} == ledger.counts()
            else:  # samples that a restart has lost come back
                ledger.lessons[again.lesson] = list(model.state().lessons[again.lesson].rows.labels)
    assert refused < 60
    model.close()
