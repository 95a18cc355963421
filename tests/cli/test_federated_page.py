"""The commands of docs/federated.md run, in their order, and the merged model is the one it promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from i2cansay import ImageLearner
from tests.cli.shell import good, write_folder
from tests.cli.test_shell_page import commands_of
from tests.image_learner.images import small_images

PAGE = Path(__file__).parents[2] / "docs" / "federated.md"


def test_the_commands_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("i2cansay.image_learner.image_learner.default_encoder", lambda learner: "pixels@4")
    for folder, seed in (("site-a", 0), ("site-b", 1), ("kept-back", 2)):
        write_folder(tmp_path / folder, 60, seed)
    commands = commands_of(PAGE.read_text())
    for program, *words in commands:
        assert program == "i2cansay"
        good(*words)
    assert {words[1] for words in commands} == {"learn", "info", "merge", "test"}
    whole, both = (ImageLearner.load(f"{name}.i2cs") for name in ("whole", "both"))
    X = whole.encoder.encode(small_images(30, seed=5)[0])
    scores = both.learner.class_scores(X)
    np.testing.assert_allclose(whole.learner.class_scores(X), scores, atol=1e-6 * np.abs(scores).max())
