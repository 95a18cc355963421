"""Learners that have to be told where sessions end, or that read images, cannot be taught by lessons."""

from pathlib import Path

import numpy as np
import pytest

from i2cansay import LEARNERS, ImageLearner
from i2cansay.learners import learner_class

TOLD = [name for name in LEARNERS if learner_class(name).needs_boundaries]


@pytest.mark.parametrize("name", TOLD)
def test_a_lesson_is_not_a_session(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from i2cansay.cli import app

    with pytest.raises(ValueError, match="has to be told where sessions end, and lessons have none"):
        ImageLearner("pixels", name)
    monkeypatch.chdir(tmp_path)
    np.savez("train.npz", X=np.eye(2), y=np.arange(2))
    result = CliRunner().invoke(app, ["learn", "model.i2cs", "train.npz", "--learner", name])
    assert result.exit_code != 0
    assert not Path("model.i2cs").exists()


@pytest.mark.parametrize("name", [name for name in LEARNERS if learner_class(name).reads_images])
def test_features_are_not_images(name: str) -> None:
    with pytest.raises(ValueError, match=r"has to be told where sessions end|takes no features"):
        ImageLearner("pixels", name)


def test_features_are_not_played_to_a_learner_of_images() -> None:
    from i2cansay.experiments.run.comparison import FeatureData, compare

    X, y = np.eye(4), np.arange(4)
    with pytest.raises(ValueError, match="takes no features"):
        compare(FeatureData("features", X, y, X, y), ["l2p"], stream="iid", seeds=[0])
