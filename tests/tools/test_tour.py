"""The tour runs from top to bottom, and the page shows what its commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tour

from i2cansay.datasets import get_dataset

pytest.importorskip("PIL")
pytest.importorskip("fastapi")

TEXT = tour.PAGE.read_text(encoding="utf-8")
DIGITS = {"cifar10": "digits", "truck": "9", "cat": "3", "airplane": "0", "frog": "5"}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / ".cache"))


@pytest.mark.usefixtures("cache")
def test_the_tour_runs_with_digits_and_a_quick_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("i2cansay.image_learner.image_learner.default_encoder", lambda learner: "pixels@8")
    made = tour.Tour(DIGITS).page(TEXT)
    assert re.sub(r"```.*?```", "", made, flags=re.DOTALL) == re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL)
    assert commands(made) == commands(TEXT)
    for sentence in (
        "photos: 300 in train, 100 in test, 20 in new; 10 classes",
        "photos.i2cs: learnt 270 images, knows 9 classes",
        "photos.i2cs: 1 image relabelled from 0 to 3",
        "photos.i2cs: learnt 30 images, knows 10 classes",
        "1 model in models; open http://127.0.0.1:8000",
        "taught   300 samples, 10 classes",
    ):
        assert f"\n{sentence}" in made
    assert re.findall(r">>> trucks\(\)\n(\d+)", made) == ["30", "31", "30"], "taught, and taken back"
    assert made.count('{"file": "00') == 3, "every image that arrived is answered"
    accuracies = [float(value) for value in re.findall(r"accuracy (\S+)% of 100", made)]
    assert accuracies[1] > accuracies[0] + 5, "about 85 and 94: the tenth class has been taught in between"


@pytest.mark.data
@pytest.mark.slow
def test_the_page_is_what_the_tour_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        get_dataset("cifar10")
    except FileNotFoundError:
        pytest.skip("needs CIFAR-10")
    monkeypatch.chdir(tmp_path)
    assert tour.masked(tour.Tour().page(TEXT)) == tour.masked(TEXT)


def test_a_command_that_fails_ends_the_tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuntimeError, match="there is no model file nowhere"):
        tour.Tour().page("```console\n$ i2cansay predict nowhere image.png\n```\n")


def test_old_answers_are_replaced_and_can_be_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shell = "```console\n$ i2cansay --version | head -1\nold\nolder\n$ echo 1\n```\n"
    page = f"a\n{shell}```pycon\n>>> 1 + 1\n3\n```\nb\n"
    made = tour.Tour().page(page)
    assert re.fullmatch(
        r"a\n```console\n\$ i2cansay --version \| head -1\ni2cansay [\d.]+\n\$ echo 1\n1\n```\n"
        r"```pycon\n>>> 1 \+ 1\n2\n```\nb\n",
        made,
    )


def test_what_differs_between_processors_is_masked_and_nothing_else() -> None:
    page = "file   label  probability\na.png  cat         0.98\nb.png  dog    0.7\n$ ls 3\n"
    assert tour.masked(page) == ["file label probability", "a.png WORD #", "$ ls 3"]
    assert tour.masked("cat  10  .  1\ndog  .  8  .\n") == ["WORD #"]
    assert (
        tour.masked("learnt 270 images") == tour.masked("learnt 9 images") != tour.masked("taught 9 images")
    )
    assert tour.masked("$ learn 3") != tour.masked("$ learn 4")


def commands(page: str) -> list[str]:
    return re.findall(r"^(?:\$|>>>) .*$", page, re.MULTILINE)
