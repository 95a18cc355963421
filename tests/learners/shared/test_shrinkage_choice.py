from typing import Any

import numpy as np
import pytest

from i2cansay import SharedI2CANSAY
from i2cansay.core.statistics.discriminant import cross_validated_penalty, cross_validated_shrinkage
from i2cansay.core.statistics.scatter import SharedScatter, oas_shrinkage
from i2cansay.learners.shared.shrinkage_choice import ShrinkageChoice

C, D = 4, 6


def draw(n: int = 200, d: int = D, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % C
    centres = np.random.default_rng(99).standard_normal((C, d))
    return (rng.standard_normal((n, d)) + centres[y]).astype(np.float32), y


def taught(X: np.ndarray, y: np.ndarray, batch: int = 20, **parameters: Any) -> SharedI2CANSAY:
    model = SharedI2CANSAY(**{"lift": 0, "random_state": 0, **parameters})
    for start in range(0, len(X), batch):
        model.partial_fit(X[start : start + batch], y[start : start + batch])
    return model


@pytest.mark.parametrize("analogies", [True, False])
def test_every_way_to_a_shrinkage(analogies: bool) -> None:
    X, y = draw()
    for chosen in (0.2, 1):
        assert taught(X, y, shrinkage=chosen, analogies=analogies).shrinkage_ == chosen
    model = taught(X, y, shrinkage="oas", analogies=analogies)
    assert model.shrinkage_ == oas_shrinkage(model._scatter.matrix, 200)
    model = taught(X, y, batch=200, analogies=analogies)
    assert model.shrinkage_ == pytest.approx(cross_validated_shrinkage(model._scatter))


def test_penalty_stays_between_inverses_and_the_shrinkage_falls_with_the_samples() -> None:
    X, y = draw(220)
    model = taught(X[:200], y[:200], batch=200)
    before = model.shrinkage_
    model.partial_fit(X[200:], y[200:])
    lowered = 200 * before / (1 - before) * 200 / 220  # in proportion to the samples per dimension
    assert model.shrinkage_ == pytest.approx(lowered / (lowered + 220))


def watched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """Return a list that fills with the sample count and outcome of every choice of a penalty."""
    chosen: list[tuple[float, float]] = []

    def watching(scatter: SharedScatter, begin: float = 0.0) -> float:
        chosen.append((scatter.means.total, cross_validated_penalty(scatter, begin)))
        return chosen[-1][1]

    monkeypatch.setattr("i2cansay.learners.shared.shrinkage_choice.cross_validated_penalty", watching)
    return chosen


def test_penalty_is_chosen_anew_whenever_samples_have_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = watched(monkeypatch)
    X, y = draw(4000)
    model = taught(X, y, batch=10)
    assert [count for count, _ in chosen] == [10, 20, 40, 80, 160, 320, 640, 1280, 2560]
    asked = len(chosen)
    model.class_scores(X[:3])  # asking makes no further choice
    assert len(chosen) == asked


@pytest.mark.parametrize("batch", [1, 7, 50])
def test_penalty_falls_as_fast_as_samples_ask_for_however_they_come(batch: int) -> None:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(800) % C)
    mixing = rng.standard_normal((30, 30)) / 5
    X = rng.standard_normal((800, 30)) @ mixing + rng.standard_normal((C, 30))[y]
    model = taught(X.astype(np.float32), y, batch=batch)
    best = cross_validated_penalty(model._scatter)
    assert best / 4 < model._shrinkage.penalty < best * 4


def test_penalty_is_chosen_anew_also_where_samples_fade_as_fast_as_they_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = watched(monkeypatch)
    X, y = draw(4000)
    taught(X, y, forgetting=0.005, batch=10)
    assert sum(count > 190 for count, _ in chosen) > 5


def test_merging_chooses_anew_from_the_statistics_of_both() -> None:
    X, y = draw(160)
    mine = taught(X[:40], y[:40]).merge(taught(X[40:], y[40:]))
    np.testing.assert_allclose(mine.class_counts_, 40.0)
    np.testing.assert_allclose(mine.shrinkage_, cross_validated_shrinkage(mine._scatter))


def test_choice_goes_on_from_its_state_and_refuses_what_is_none() -> None:
    X, y = draw()
    scatter = taught(X, y)._scatter
    choice, again = ShrinkageChoice(), ShrinkageChoice()
    choice.renew(scatter, "gcv")
    again.restore(choice.state(), 0)
    assert again.penalty == choice.penalty > 0
    assert again.current(scatter, "gcv") == choice.current(scatter, "gcv")
    for forged, match in ((np.zeros(3), "one number"), (np.array([-1.0]), "the penalty should lie")):
        with pytest.raises(ValueError, match=match):
            again.restore({"penalty": forged}, 0)
    choice.expire()
    assert choice.penalty == 0.0
