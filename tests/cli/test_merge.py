"""`i2cansay merge`: two plants, one model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from i2cansay import ImageLearner
from i2cansay.learners.model_file import load_with_extra, save
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
    narrow = tmp_path / "narrow.i2cs"
    good("learn", narrow, plants / "a", "--encoder", "pixels@4", "--learner", "small", "--set", "width=20")
    narrower = tmp_path / "narrower.i2cs"
    good("learn", narrower, plants / "b", "--encoder", "pixels@4", "--learner", "small", "--set", "width=10")
    sentence = refused("merge", narrow, narrower, "-o", out)
    assert f"{narrow} and {narrower}: the two learners differ in width (20 and 10)" in sentence
    paper = tmp_path / "paper.i2cs"
    good("learn", paper, plants / "a", "--encoder", "pixels@4", "--learner", "paper")
    assert refused("merge", a, paper, "-o", out)
    assert not out.exists()


def test_other_weights_of_the_same_encoder_are_told_by_their_fingerprints(
    plants: Path, tmp_path: Path
) -> None:
    other, theirs = tmp_path / "other.i2cs", "f" * 64
    learner, extra = load_with_extra(plants / "b.i2cs")
    save(learner, other, extra=extra | {"encoder_fingerprint": theirs})
    sentence = refused("merge", plants / "a.i2cs", other, "-o", tmp_path / "out.i2cs")
    assert f"{plants / 'a.i2cs'} and {other} were taught with different encoders" in sentence
    for fingerprint in (extra["encoder_fingerprint"], theirs):
        assert f"'pixels' at 4 px (fingerprint {fingerprint[:12]})" in sentence


def test_a_copy_of_a_file_is_refused(plants: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.i2cs"
    copy.write_bytes((plants / "a.i2cs").read_bytes())
    sentence = refused("merge", plants / "a.i2cs", plants / "b.i2cs", copy, "-o", tmp_path / "out.i2cs")
    assert f"{plants / 'a.i2cs'} and {copy} have the same content" in sentence
    assert not (tmp_path / "out.i2cs").exists()
