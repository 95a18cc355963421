"""The TOML file beside a graph or a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from i2cansay.encoders.description import describe, preprocessing_beside
from i2cansay.encoders.preprocessing import Preprocessing


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"size": "big"}, "size must be a whole number, got 'big'"),
        ({"size": True}, "size must be a whole number, got True"),
        ({"resize": 2.5}, "resize must be a whole number"),
        ({"pool": "max"}, "pool in none"),
        ({"pool": 3}, "pool must be a text"),
        ({"layout": "hwc"}, "layout in nchw"),
        ({"layout": ["nchw"]}, "layout must be a text"),
        ({"mean": [1, 2]}, "three means"),
        ({"mean": 3}, "mean must be three numbers, got 3"),
        ({"mean": "abc"}, "mean must be three numbers"),
        ({"std": ["a", "b", "c"]}, "std must be three numbers"),
        ({"mean": [float("nan"), 0.0, 0.0]}, "three means"),
        ({"std": [float("inf"), 1.0, 1.0]}, "three positive stds"),
        ({"colour": True}, "unknown key 'colour'"),
        ({"stages": "y"}, r"stages must be an array of tables \[\[stages\]\]"),
        ({"stages": ["y"]}, r"a table \[\[stages\]\] has output"),
        ({"stages": [{"pool": "mean"}]}, "has output"),
        ({"stages": [{"output": "y", "size": 3}]}, "has output"),
        ({"stages": [{"output": 3}]}, "must be texts, got 3"),
        ({"stages": [{"output": "y", "pool": "max"}]}, "pool in none"),
        ({"stages": [{"output": "y", "scale": True}]}, "must be a number, got True"),
        ({"stages": [{"output": "y", "scale": -1}]}, "scale above 0"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        describe(settings)


def test_settings_come_back() -> None:
    description = describe({"size": 10, "layout": "nhwc", "output": "y", "pool": "mean"})
    assert describe(description.settings()) == description


def test_stages_come_back() -> None:
    tables = [{"output": "y", "pool": "mean", "scale": 0.5}, {"output": "z"}]
    description = describe({"size": 10, "stages": tables})
    assert [stage.name for stage in description.stages] == ["y.mean", "z"]
    assert describe(description.settings()) == description


def test_a_checkpoint_without_a_file_beside_it_is_seen_as_usual(tmp_path: Path) -> None:
    usual = Preprocessing(size=100, resize=120, interpolation="nearest")
    assert preprocessing_beside(tmp_path / "weights.pth", usual) is usual


def test_what_the_file_leaves_out_stays_as_usual(tmp_path: Path) -> None:
    usual = Preprocessing(size=100, resize=120, interpolation="nearest")
    beside = tmp_path / "weights.toml"
    beside.write_text("size = 50\nmean = [0, 0.5, 1]\n")
    assert preprocessing_beside(tmp_path / "weights.pth", usual) == Preprocessing(
        size=50, resize=60, interpolation="nearest", mean=(0.0, 0.5, 1.0)
    )
    beside.write_text("size = 50\nresize = 50\n")
    assert preprocessing_beside(tmp_path / "weights.pth", usual).resize == 50


@pytest.mark.parametrize("text", ["size = [", "sizes = 3", 'pool = "mean"', "size = 500\nresize = 20"])
def test_a_wrong_file_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "weights.toml").write_text(text)
    with pytest.raises(ValueError, match=r"weights.toml, beside the checkpoint: "):
        preprocessing_beside(tmp_path / "weights.pth", Preprocessing())
