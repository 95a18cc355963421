"""`i2cansay relabel`, `unlearn`, `forget`, `rename`: what was taught wrongly is put right, or the file stays."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from i2cansay import ImageLearner
from tests.cli.shell import good, refused, write_folder


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of images and a model of them."""
    folder = tmp_path_factory.mktemp("day")
    write_folder(folder / "images", 60)
    good("learn", folder / "m.i2cs", folder / "images", "--encoder", "pixels@4")
    return folder


@pytest.fixture
def model(day: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(day / "m.i2cs", tmp_path / "m.i2cs"))


def counts(model: Path) -> dict[str, int]:
    learner = ImageLearner.load(model).learner
    return dict(zip(learner.classes_.tolist(), map(int, learner.class_counts_), strict=True))


def test_relabel_moves_samples(day: Path, model: Path) -> None:
    before, files = counts(model), sorted((day / "images" / "red").iterdir())[:3]
    said = good("relabel", model, *files, "--from", "red", "--to", "crimson")
    assert said == f"{model}: 3 images relabelled from red to crimson\n"
    assert counts(model) == {**before, "red": before["red"] - 3, "crimson": 3}
    good("relabel", model, *files, "--from", "crimson", "--to", "red")
    assert counts(model) == before


def test_unlearn_by_label_and_by_folder(day: Path, model: Path) -> None:
    before, files = counts(model), sorted((day / "images" / "red").iterdir())[:2]
    good("unlearn", model, *files, "--label", "red")
    assert counts(model)["red"] == before["red"] - 2
    good("learn", model, *files, "--label", "red")
    good("unlearn", model, day / "images" / "blue", "--label", "blue")
    assert set(counts(model)) == {"green", "red"}


def test_forget_and_rename_need_no_encoder(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("i2cansay.encoders.get_encoder", None)
    assert good("forget", model, "blue", "green") == f"{model}: forgot blue, green\n"
    assert good("rename", model, "red", "crimson") == f"{model}: renamed red to crimson\n"
    assert "samples" in good("info", model)
    monkeypatch.undo()
    assert list(counts(model)) == ["crimson"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["relabel", "{model}", "{day}/images/red", "--from", "violet", "--to", "red"], "not a known class"),
        (["relabel", "{model}", "{day}/none.png", "--from", "red", "--to", "blue"], "no file or folder"),
        (["relabel", "{model}", "{bad}", "--from", "red", "--to", "blue"], "cannot be read"),
        (["unlearn", "{model}", "{day}/images/red/*.png"], "add --label"),
        (["unlearn", "{model}", "{bad}", "--label", "red"], "cannot be read"),
        (["forget", "{model}", "blue", "violet"], "not a known class"),
        (["rename", "{model}", "violet", "pink"], "not a known class"),
        (["rename", "{model}", "red", "blue"], "already a class"),
        (["rename", "{bad}", "red", "blue"], "not a model file"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_changes_nothing(
    words: list[str], sentence: str, day: Path, model: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"no image")
    before = model.read_bytes()
    assert sentence in refused(*(word.format(model=model, day=day, bad=bad) for word in words))
    assert model.read_bytes() == before
