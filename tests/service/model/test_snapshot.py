"""Questions that are answered together are answered as if alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from i2cansay.service.model.requests import Question
from tests.service.material import new_model, rows, teach

LABELS = ["a", "b", "c"] * 40


def test_questions_with_different_rates_keep_their_own(tmp_path: Path) -> None:
    model, rng = new_model(tmp_path), np.random.default_rng(0)
    for _ in range(3):
        teach(model, LABELS, rng)
    X = rows(LABELS[:7], rng)
    questions = [
        Question(X[:2], top=1),
        Question(X[2:3], top=3, error=0.5, new_error=0.9),
        Question(X[3:5], top=2, error=0.0001),
        Question(X[5:], top=9, error=0.5, new_error=0.9),
    ]
    together = model.snapshot.predict(questions)
    alone = [model.snapshot.predict([question])[0] for question in questions]
    assert [len(answers) for answers in together] == [2, 1, 2, 2]
    for group, single in zip(together, alone, strict=True):
        for one, other in zip(group, single, strict=True):
            assert (one.label, one.verdict, one.set_size, one.set) == (
                other.label,
                other.verdict,
                other.set_size,
                other.set,
            )
            assert [guess.label for guess in one.top] == [guess.label for guess in other.top]
            assert [guess.probability for guess in one.top] == pytest.approx(
                [guess.probability for guess in other.top]
            )
            assert one.novelty == pytest.approx(other.novelty)
    assert [len(answers[0].top) for answers in together] == [1, 3, 2, 3]
    model.close()
