"""EEIL: its two stages, its heads and its balanced set."""

from typing import Any

import numpy as np
import pytest

from i2cansay.learners.sessions import eeil
from i2cansay.learners.sessions.eeil import EEIL
from i2cansay.learners.sessions.exemplars import unit_rows
from i2cansay.learners.sessions.losses import (
    distillation_error,
    head_distillation_error,
    softmax_in_heads,
)
from tests.learners.sessions.material import clouds, sessions, taught

FAST: dict[str, Any] = {"lr": 0.2, "epochs": 8, "finetune_epochs": 6, "batch_size": 20, "random_state": 0}


def test_a_stage_has_a_distillation_for_each_head(monkeypatch: pytest.MonkeyPatch) -> None:
    heads: list[list[int]] = []

    def note(logits: Any, targets: Any, starts: Any, *rest: Any) -> Any:
        heads.append([*starts.tolist(), logits.shape[1]])
        return head_distillation_error(logits, targets, starts, *rest)

    monkeypatch.setattr(eeil, "head_distillation_error", note)
    X, y = clouds(n_classes=8)
    model = EEIL(memory_size=40, **{**FAST, "epochs": 1, "finetune_epochs": 1, "batch_size": 1000})
    for number, session in enumerate(sessions(X, y)):  # one step per stage
        heads.clear()
        model.partial_fit(*session)
        old, with_new = list(range(0, 2 * number + 1, 2)), list(range(0, 2 * number + 3, 2))
        assert heads == ([old, with_new] if number else [])


def test_the_distillations_of_all_heads_are_those_of_each() -> None:
    rng = np.random.default_rng(0)
    logits, teacher, weights = rng.normal(size=(5, 7)), rng.normal(size=(5, 7)), rng.random(5)
    starts = np.array([0, 3, 4])
    targets = softmax_in_heads(teacher / 2.0, starts)
    found = head_distillation_error(logits, targets, starts, 2.0, weights)
    for head in (slice(0, 3), slice(3, 4), slice(4, 7)):
        expected = distillation_error(logits[:, head], teacher[:, head], 2.0, weights)
        np.testing.assert_allclose(found[:, head], expected, atol=1e-12)


def test_the_second_stage_sees_as_many_samples_of_every_class() -> None:
    X, y = clouds()
    first, second, *_ = sessions(X, y)
    model = EEIL(memory_size=31, **FAST).partial_fit(*first)
    together, rows, _ = model._with_exemplars(second[0], second[1], None)
    chosen = model._balanced(together, rows)
    assert np.bincount(rows[chosen]).tolist() == [15, 15, 15, 15]
    assert len(set(chosen.tolist())) == 60


def test_without_distillation_and_fine_tuning_it_is_replay() -> None:
    X, y = clouds()
    plain = {**FAST, "finetune_epochs": 0, "strength": 0.0}
    first, second, *_ = sessions(X, y)
    model = EEIL(memory_size=30, **plain).partial_fit(*first)
    again = EEIL(memory_size=30, **plain).set_state(model.state())
    rows, classes = model.exemplars_
    model.partial_fit(*second)
    # The exemplars handed over with the session, by somebody who has none stored, are the same training.
    again._exemplars.memory.keep(np.arange(0))
    again.partial_fit(np.concatenate([second[0], rows]), np.concatenate([second[1], classes]))
    for name, array in model._network.arrays().items():
        np.testing.assert_array_equal(array, again._network.arrays()[name])


def test_the_second_stage_takes_back_what_new_classes_were_preferred() -> None:
    X, y = clouds(600)
    X_old, y_old = clouds(600, seed=1)
    lead = []
    for finetune_epochs in (0, 6):
        model = EEIL(memory_size=20, **{**FAST, "finetune_epochs": finetune_epochs})
        for session in list(sessions(X, y))[:2]:
            model.partial_fit(*session)
        logits = model._logits(X_old[y_old < 2].astype(np.float32))
        lead.append(logits[:, 2:].mean() - logits[:, :2].mean())
    assert lead[1] < lead[0]


def test_it_is_above_the_nearest_mean_of_its_exemplars() -> None:
    # Classes that differ in directions in which they hardly vary, which a mean does not see.
    rng = np.random.default_rng(0)
    y = np.arange(1200) % 6
    X = np.random.default_rng(9).normal(size=(6, 10))[y] * 0.5
    X[:, :5] += 2 * rng.normal(size=(1200, 5))
    X[:, 5:] += 0.2 * rng.normal(size=(1200, 5))
    train, test = slice(600), slice(600, None)
    model = taught(EEIL(memory_size=120, **{**FAST, "epochs": 20, "finetune_epochs": 15}), X[train], y[train])
    rows, classes = model.exemplars_
    means = np.stack([unit_rows(rows[classes == each]).mean(axis=0) for each in range(6)])
    nearest = np.linalg.norm(unit_rows(X[test])[:, None] - unit_rows(means), axis=2).argmin(axis=1)
    assert model.score(X[test], y[test]) > (nearest == y[test]).mean() + 0.05


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strength": -1.0}, "strength must be a number of at least 0"),
        ({"finetune_rate": 2.0}, "finetune_rate must be a number from 0 to 1"),
        ({"finetune_epochs": -1}, "finetune_epochs must be a whole number of at least 0"),
    ],
)
def test_parameters_out_of_range_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EEIL(**parameters).partial_fit(np.eye(2), [0, 1])
