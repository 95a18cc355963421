"""Where data and caches are looked for."""

import os
from pathlib import Path

import pytest

from i2cansay.disk.places import cache_folder, data_folders


def test_search_path_is_split_like_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    monkeypatch.setenv("I2CANSAY_DATA", os.pathsep.join([str(first), "", str(second)]))
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    assert data_folders() == (first, second, tmp_path / "cache" / "data")


def test_cache_is_absolute_and_ours_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("I2CANSAY_CACHE", raising=False)
    assert cache_folder().name == "i2cansay"
    assert cache_folder().is_absolute()


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_without_it_the_platform_does(platform: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("I2CANSAY_CACHE", raising=False)
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache_folder().is_relative_to(tmp_path)
    assert cache_folder().name == "i2cansay"
