from pathlib import Path

import pytest

from i2cansay.datasets.search_path import folders_of


def test_a_named_folder_overrides_the_search_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path / "ignored"))
    assert folders_of("toy", tmp_path) == (tmp_path / "toy", tmp_path)
