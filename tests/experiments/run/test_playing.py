from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.run.playing import play_cell
from i2cansay.experiments.run.shared_features import share_features

CELL = Cell("squares", "made", "step:2", "ncm", every_session=False)


@pytest.fixture
def squares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Features, their square roots, and those with a unit of its own in the first column."""
    rng = np.random.default_rng(0)
    for split, n in (("train", 200), ("test", 80)):
        y = np.arange(n) % 4
        roots = np.abs(3 * np.eye(4)[y] + rng.standard_normal((n, 4)))
        units = roots * [100.0, 1.0, 1.0, 1.0]
        for name, X in (("squares", roots**2), ("roots", roots), ("units", units)):
            np.savez(tmp_path / f"{name}_made_{split}.npz", X=X, y=y)
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path))
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("squares")
def test_a_learner_of_roots_sees_the_roots() -> None:
    plain = play_cell(CELL, share_features(*CELL.source))
    rooted = play_cell(replace(CELL, root=True), share_features(*CELL.source))
    by_hand = play_cell(replace(CELL, dataset="roots"), share_features("roots", "made"))
    assert np.array_equal(rooted.predictions, by_hand.predictions)
    assert not np.array_equal(rooted.predictions, plain.predictions)
    assert "root" not in plain.cell
    assert rooted.cell["root"] is True
    assert rooted.key != plain.key


@pytest.mark.usefixtures("squares")
def test_a_learner_that_asks_is_told_the_blocks_of_the_features() -> None:
    shared = share_features("units", "made")
    in_blocks = replace(shared, identity={**shared.identity, "blocks": [1, 3]})
    cell = replace(
        CELL,
        dataset="units",
        learner="i2cansay_shared",
        parameters={"lift": 0, "analogies": False, "shrinkage": 0.9},
    )
    told = replace(cell, parameters={**cell.parameters, "blocks": [1, 3]})
    by_features, by_parameter, neither = (
        play_cell(*each).predictions for each in ((cell, in_blocks), (told, shared), (cell, shared))
    )
    assert np.array_equal(by_features, by_parameter)
    assert not np.array_equal(by_features, neither)
    play_cell(CELL, in_blocks)  # one that does not ask is not told
