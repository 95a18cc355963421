"""`i2cansay predict` with images: a table, CSV or JSON; what cannot be read is told."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.shell import command, good, refused, write_folder

VERDICTS = {"sure", "unsure", "new"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and images to ask about."""
    place = tmp_path_factory.mktemp("place")
    write_folder(place / "day", 120)
    write_folder(place / "ask", 12, seed=3)
    good("learn", place / "m.i2cs", place / "day", "--encoder", "pixels@4")
    return place


def test_a_table_of_files_labels_probabilities_and_verdicts(place: Path) -> None:
    header, *lines = good("predict", place / "m.i2cs", place / "ask").splitlines()
    assert header.split() == ["file", "label", "probability", "verdict"]
    assert len(lines) == 12
    for line in lines:
        file, label, probability, verdict = line.split()
        assert Path(file).parent.name == label
        assert 0.5 < float(probability) <= 1
        assert verdict in VERDICTS


def test_csv_and_json_say_the_same(place: Path, tmp_path: Path) -> None:
    rows = list(
        csv.DictReader(good("predict", place / "m.i2cs", place / "ask", "--csv", "--top", 2).splitlines())
    )
    good("predict", place / "m.i2cs", place / "ask", "--json", "--top", 2, "--out", tmp_path / "out.jsonl")
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["file"] for row in rows] == [record["file"] for record in records]
    for row, record in zip(rows, records, strict=True):
        assert row["label_1"] == record["label"]
        assert row["label_2"] == record["top"][1]["label"]
        assert float(row["probability_2"]) == record["top"][1]["probability"]
        assert row["verdict"] == record["verdict"]


def test_what_a_person_should_look_at_comes_first(place: Path) -> None:
    said = good("predict", place / "m.i2cs", place / "ask", "--json", "--sort", "unsure")
    records = [json.loads(line) for line in said.splitlines()]
    rank = {"new": 0, "unsure": 1, "sure": 2}
    keys = [(rank[record["verdict"]], record["probability"]) for record in records]
    assert keys == sorted(keys)


def test_what_cannot_be_read_is_told(place: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"no image")
    result = command("predict", place / "m.i2cs", place / "ask", bad, "--json", "--sort", "unsure")
    assert result.returncode == 1
    assert result.stderr.startswith("1 of 13 images could not be read:\n")
    assert str(bad) in result.stderr
    first = json.loads(result.stdout.splitlines()[0])
    assert (first["file"], first["verdict"]) == (str(bad), "unreadable")
    assert "damaged" in first["error"]
    assert len(result.stdout.splitlines()) == 13


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{place}/none.i2cs", "{place}/ask"], "there is no model file"),
        (["{place}/m.i2cs", "{place}/none"], "there is no file or folder"),
        (["{place}/m.i2cs", "{place}/*.bmp"], "there is no file or folder"),
        (["{place}/m.i2cs", "{place}/ask", "--sort", "size"], "--sort is given or unsure"),
        (["{place}/m.i2cs", "{place}/ask", "--csv", "--json"], "got both"),
        (["{place}/day/red", "{place}/ask"], "is not a file"),
    ],
)
def test_a_wrong_call_is_one_sentence(place: Path, words: list[str], sentence: str) -> None:
    assert sentence in refused("predict", *(word.format(place=place) for word in words))
