"""The plot shows what the outcomes say."""

from pathlib import Path

import numpy as np
import pytest

from i2cansay.evaluate import Outcome, last_accuracy
from i2cansay.experiments.report.accuracy_plot import draw_curves
from i2cansay.experiments.run.comparison import FeatureData, compare


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[Outcome]]:
    rng = np.random.default_rng(0)
    y = np.arange(240) % 4
    X = 3 * np.eye(4)[y] + rng.normal(size=(240, 4))
    data = FeatureData("blobs", X[:160], y[:160], X[160:], y[160:])
    return compare(data, ["i2cansay", "ncm", "joint"], stream="step:1", seeds=[0, 1])


def test_the_same_seed_gives_every_learner_the_same_stream(outcomes: dict[str, list[Outcome]]) -> None:
    for seed in range(2):
        streams = [runs[seed].new_classes for runs in outcomes.values()]
        assert all(stream == streams[0] for stream in streams)
    assert outcomes["ncm"][0].new_classes != outcomes["ncm"][1].new_classes


def test_the_offline_limit_is_asked_once(outcomes: dict[str, list[Outcome]]) -> None:
    assert len(outcomes["joint"][0].checkpoints) == 1
    assert len(outcomes["ncm"][0].checkpoints) == 4


def test_the_plot_names_every_learner_with_its_last_accuracy(
    outcomes: dict[str, list[Outcome]], tmp_path: Path
) -> None:
    path = tmp_path / "curves.svg"
    draw_curves("blobs, two seeds", outcomes, path)
    # In SVG the letters are paths; matplotlib keeps the text as comments.
    drawn = path.read_text()
    for name, runs in outcomes.items():
        last = 100 * float(np.mean([last_accuracy(run) for run in runs]))
        assert name in drawn
        assert f"{last:.1f}" in drawn


def test_low_data_keeps_a_share_of_every_class() -> None:
    y = np.repeat(np.arange(3), 20)
    data = FeatureData("x", np.zeros((60, 2)), y, np.zeros((3, 2)), np.arange(3)).low_data(0.25)
    assert np.bincount(data.y).tolist() == [5, 5, 5]
    assert data.title == "x 25%"
