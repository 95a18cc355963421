"""Names, labels and lists that nobody plans for: told at once, or handled, and never half done."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import unicodedata
import warnings
from pathlib import Path

import pytest

from i2cansay.cli import main
from i2cansay.learners import learner_class
from tests.cli.shell import good, refused, write_folder

COMPOSED = unicodedata.normalize("NFC", "Kühler")
DECOMPOSED = unicodedata.normalize("NFD", "Kühler")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder of images by class, and a model of them."""
    write_folder(tmp_path / "day", 24)
    good("learn", tmp_path / "m.i2cs", tmp_path / "day", "--encoder", "pixels@4")
    return tmp_path


def classes(model: Path) -> list[str]:
    return [entry["label"] for entry in json.loads(good("info", model, "--json"))["classes"]]


@pytest.mark.parametrize("label", ["", "  "])
def test_a_label_is_not_blank(place: Path, label: str) -> None:
    before = (place / "m.i2cs").read_bytes()
    image = next((place / "day" / "red").iterdir())
    for words in (
        ("learn", place / "m.i2cs", image, "--label", label),
        ("relabel", place / "m.i2cs", image, "--from", "red", "--to", label),
        ("rename", place / "m.i2cs", "red", label),
    ):
        assert "at least one character" in refused(*words)
    assert (place / "m.i2cs").read_bytes() == before


def test_a_label_is_the_same_however_its_accents_are_written(place: Path) -> None:
    (place / "more").mkdir()
    shutil.copytree(place / "day" / "red", place / "more" / DECOMPOSED)
    good("learn", place / "m.i2cs", place / "more")
    good("learn", place / "m.i2cs", place / "day" / "red", "--label", COMPOSED)
    assert classes(place / "m.i2cs") == [COMPOSED, "blue", "green", "red"]
    good("forget", place / "m.i2cs", DECOMPOSED)
    assert COMPOSED not in classes(place / "m.i2cs")


def test_relabelling_to_the_same_label_is_refused(place: Path) -> None:
    image = next((place / "day" / "red").iterdir())
    assert "nothing would change" in refused(
        "relabel", place / "m.i2cs", image, "--from", "red", "--to", "red"
    )


def test_a_list_with_missing_images_is_refused_before_the_encoder_is_opened(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "list.csv").write_text("path,label\nday/gone.png,red\n")
    with monkeypatch.context() as patch:
        patch.setattr("i2cansay.cli.model.open_image_model", lambda *_, **__: pytest.fail("opened"))
        assert "gone.png" in refused("learn", place / "m.i2cs", place / "list.csv")
    assert "gone.png" in refused("test", place / "m.i2cs", place / "list.csv")


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux")
def test_a_name_that_the_terminal_cannot_show_does_not_fail_the_command(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = place / "odd"
    for colour, taught_as in (("red", "a"), ("blue", "b")):
        (odd / taught_as).mkdir(parents=True)
        for number, image in enumerate(sorted((place / "day" / colour).iterdir())):
            shutil.copy(image, odd / taught_as / os.fsdecode(b"%d\xff.png" % number))
    model, printed = place / "odd.i2cs", io.BytesIO()
    terminal = io.TextIOWrapper(printed, encoding="ascii")
    for words in (
        ["learn", str(model), str(odd), "--encoder", "pixels@4"],
        ["predict", str(model), str(odd)],
        ["predict", str(model), str(odd), "--csv", "--out", str(place / "out.csv")],
    ):
        with monkeypatch.context() as patch:
            patch.setattr("sys.argv", ["i2cansay", *words])
            patch.setattr("sys.stdout", terminal)
            with pytest.raises(SystemExit) as stopped:
                main()
        assert stopped.value.code == 0
    terminal.flush()
    assert rb"0\udcff.png" in printed.getvalue()
    assert b"0\xff.png" in (place / "out.csv").read_bytes()


def test_labels_are_text_in_the_picture(place: Path) -> None:
    for colour, label in (("red", "$^$"), ("blue", "日本")):
        shutil.copytree(place / "day" / colour, place / "odd" / label)
    good("learn", place / "odd.i2cs", place / "odd", "--encoder", "pixels@4")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good("test", place / "odd.i2cs", place / "odd", "--plot", place / "c.png")
    assert (place / "c.png").read_bytes().startswith(b"\x89PNG")


def test_watch_does_not_move_what_it_moved(place: Path) -> None:
    words = ("watch", place / "day", "--model", place / "m.i2cs", "--once", "--recursive", "--move-to")
    assert "--recursive" in refused(*words, place / "day")


def test_a_model_is_not_merged_with_itself(place: Path) -> None:
    model = place / "m.i2cs"
    assert "given twice" in refused("merge", model, model, "-o", place / "both.i2cs")


def test_more_images_than_were_taught_are_not_taken_out(place: Path) -> None:
    said = refused(
        "unlearn", place / "m.i2cs", place / "day" / "red", place / "day" / "blue", "--label", "red"
    )
    assert "it was taught 8" in said


def test_a_wrong_learner_is_told_the_three_choices() -> None:
    with pytest.raises(ValueError, match=r"\bbest\b.*\bpaper\b.*\bsmall\b"):
        learner_class("bset")


def test_predict_suggests_the_folder_that_was_meant(place: Path) -> None:
    assert f"did you mean {place / 'day'}?" in refused("predict", place / "m.i2cs", place / "days")
    assert "there is no folder" in refused(
        "predict", place / "m.i2cs", place / "day", "--out", place / "nowhere" / "x.csv"
    )
