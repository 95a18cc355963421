"""`i2cansay test`: the tables, the picture and the page agree with what was asked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.cli.shell import command, good, refused, write_folder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of two colours, and a folder to test it with that has a third and one wrong label."""
    place = tmp_path_factory.mktemp("place")
    write_folder(place / "day", 120)
    shutil.rmtree(place / "day" / "red")
    write_folder(place / "held", 40, seed=3, wrong=(0,))
    good("learn", place / "m.i2cs", place / "day", "--encoder", "pixels@4")
    return place


def test_json_counts_every_image_once(place: Path) -> None:
    record = json.loads(good("test", place / "m.i2cs", place / "held", "--json", "--mistakes", "100"))
    counts = np.array(record["confusion"]["counts"])
    assert record["confusion"]["labels"] == ["blue", "green", "red"]
    assert record["samples"] == counts.sum() == 40
    assert record["accuracy"] == pytest.approx(np.trace(counts) / 40)
    assert counts[:, 2].sum() == 0  # red was never taught, so nothing is taken for it
    assert len(record["mistakes"]) == 40 - np.trace(counts)
    probabilities = [mistake["probability"] for mistake in record["mistakes"]]
    assert probabilities == sorted(probabilities, reverse=True)
    by_class = {entry["label"]: entry for entry in record["classes"]}
    assert (by_class["red"]["recall"], by_class["red"]["precision"]) == (0.0, None)
    assert record["error"] == 0.05


def test_the_terminal_shows_all_of_it(place: Path) -> None:
    said = good("test", place / "m.i2cs", place / "held", "--mistakes", "3")
    for words in (
        "accuracy ",
        "right when named",
        "taken for",
        "worst mistakes",
        "calibration error",
        "promised",
    ):
        assert words in said
    assert said.count(".png") == 3
    assert "never taught" in said


def test_a_page_and_a_picture(place: Path, tmp_path: Path) -> None:
    good(
        "test", place / "m.i2cs", place / "held", "--html", tmp_path / "t.html", "--plot", tmp_path / "c.png"
    )
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "t.html").read_text()
    assert page.count('<img alt="" src="data:image/jpeg;base64,') == 10
    assert "http" not in page.replace("http-equiv", "")
    assert "red" in page


def test_what_cannot_be_drawn_is_told_before_anything_is_encoded(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("i2cansay.image_learner.ImageLearner.load", None)
    assert "expected a picture" in refused(
        "test", place / "m.i2cs", place / "held", "--plot", tmp_path / "c.docx"
    )
    assert "no folder" in refused(
        "test", place / "m.i2cs", place / "held", "--html", tmp_path / "no" / "t.html"
    )


def test_bad_images_stop_or_are_left_out(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "held", tmp_path / "held")
    (tmp_path / "held" / "blue" / "bad.png").write_bytes(b"")
    assert "bad.png" in refused("test", place / "m.i2cs", tmp_path / "held")
    result = command("test", place / "m.i2cs", tmp_path / "held", "--skip-bad", "--json")
    assert result.returncode == 0
    assert (json.loads(result.stdout)["samples"], json.loads(result.stdout)["unreadable"]) == (40, 1)
    assert "bad.png" in result.stderr


def test_features_are_tested_as_well(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text("label,x\n" + "".join(f"low,{i}\nhigh,{50 + i}\n" for i in range(20)))
    good("learn", tmp_path / "m.i2cs", table)
    said = good("test", tmp_path / "m.i2cs", table, "--html", tmp_path / "t.html")
    assert "accuracy 100.0% of 40 samples" in said
    assert (tmp_path / "t.html").exists()
