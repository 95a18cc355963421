"""`i2cansay merge`: two plants, one model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from i2cansay import ImageLearner
from tests.cli.shell import good, refused, write_folder
from tests.image_learner.images import small_images


@pytest.fixture(scope="module")
def plants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plants")
    for name, seed in (("a", 0), ("b", 1)):
        write_folder(folder / name, 60, seed)
        good("learn", folder / f"{name}.i2cs", folder / name, "--encoder", "pixels@4")
    return folder


def test_merged_is_as_if_taught_together(plants: Path, tmp_path: Path) -> None:
    files = [plants / "a.i2cs", plants / "b.i2cs"]
    before = [file.read_bytes() for file in files]
    assert "2 models merged, knows 3 classes" in good("merge", *files, "-o", tmp_path / "both.i2cs")
    assert [file.read_bytes() for file in files] == before
    good("learn", tmp_path / "one.i2cs", plants / "a", plants / "b", "--encoder", "pixels@4")
    both, one = (ImageLearner.load(tmp_path / f"{name}.i2cs") for name in ("both", "one"))
    X = both.encoder.encode(small_images(20, seed=5)[0])
    np.testing.assert_allclose(
        both.learner.class_scores(X), one.learner.class_scores(X), rtol=1e-4, atol=1e-3
    )


def test_what_does_not_fit_is_refused(plants: Path, tmp_path: Path) -> None:
    a, b, out = plants / "a.i2cs", plants / "b.i2cs", tmp_path / "out.i2cs"
    other = tmp_path / "other.i2cs"
    good("learn", other, plants / "a", "--encoder", "pixels@5")
    assert "at least two" in refused("merge", a, "-o", out)
    assert "different encoders" in refused("merge", a, other, "-o", out)
    assert "exists" in refused("merge", a, b, "-o", b)
    assert "there is no model file" in refused("merge", a, tmp_path / "none.i2cs", "-o", out)
    paper = tmp_path / "paper.i2cs"
    good("learn", paper, plants / "a", "--encoder", "pixels@4", "--learner", "paper")
    assert refused("merge", a, paper, "-o", out)
    assert not out.exists()
