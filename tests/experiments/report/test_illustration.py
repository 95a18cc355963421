from pathlib import Path

import numpy as np
import pytest

from i2cansay.experiments.report.illustration import (
    ILLUSTRATIONS,
    illustrate,
    load_illustrations,
    save_illustration,
)
from i2cansay.experiments.report.page_charts import panel_figure


@pytest.fixture
def foxes_and_lamps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put features where foxes are steady in dimension 2 only, and lamps in dimension 0 only."""
    rng = np.random.default_rng(0)
    y = np.repeat([34, 40], 200)
    X = rng.normal(size=(400, 4))
    X[:200, 2] *= 0.1
    X[200:, 0] *= 0.1
    for split in ("train", "test"):
        np.savez(tmp_path / f"cifar100_eyes_{split}.npz", X=X.astype(np.float32), y=y)
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path))
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))


def test_the_chosen_dimensions_are_where_one_class_is_steady(foxes_and_lamps: None) -> None:
    drawn = illustrate("dimensions", encoder="eyes")
    assert [panel.title for panel in drawn.panels] == [
        "dimension 2: steady for fox",
        "dimension 0: steady for lamp",
    ]
    assert "eyes in place of dino_vits8" in drawn.title
    for panel in drawn.panels:
        assert all(sum(line) == pytest.approx(100, abs=0.1) for line in panel.lines.values())


def test_classes_peak_one_after_the_other() -> None:
    (panel,) = illustrate("gaussian-stream").panels
    peaks = [int(np.argmax(line)) for line in panel.lines.values()]
    assert peaks == sorted(peaks)


def test_what_was_saved_is_loaded_and_damage_is_reported(tmp_path: Path) -> None:
    drawn = illustrate("gaussian-stream")
    file, said = save_illustration(drawn, tmp_path), list[str]()
    assert load_illustrations([tmp_path], said.append) == [drawn]
    file.write_text(file.read_text().replace("swells", "shrinks"))
    assert load_illustrations([tmp_path], said.append) == []
    assert "checksum" in said[0]


def test_a_panel_is_drawn_with_all_its_lines() -> None:
    (panel,) = illustrate("gaussian-stream").panels
    assert panel_figure(panel).count("-curve") == 10
    assert set(ILLUSTRATIONS) == {"gaussian-stream", "dimensions"}
