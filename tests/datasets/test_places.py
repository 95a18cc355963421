import os
from pathlib import Path

import pytest

from i2cansay.datasets.places import cache_folder, data_folders, folders_of


def test_search_path_is_split_like_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    monkeypatch.setenv("I2CANSAY_DATA", os.pathsep.join([str(first), "", str(second)]))
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    assert data_folders() == (first, second, tmp_path / "cache" / "data")


def test_a_named_folder_overrides_the_search_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path / "ignored"))
    assert folders_of("toy", tmp_path) == (tmp_path / "toy", tmp_path)


def test_cache_is_absolute_and_ours_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("I2CANSAY_CACHE", raising=False)
    assert cache_folder().name == "i2cansay"
    assert cache_folder().is_absolute()
