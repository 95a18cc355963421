"""The arrays of a transformer are those that its encoder computes with, wherever they come from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from i2cansay.encoders.added import add_encoder
from i2cansay.encoders.checkpoint import Weights
from i2cansay.encoders.transformer_arrays import is_transformer, transformer_arrays


def saved(weights: Weights, path: Path) -> Path:
    np.savez(path, **weights)  # type: ignore[arg-type]
    return path


@pytest.mark.usefixtures("empty_cache")
@pytest.mark.parametrize("name", ["vit", "my-vit"])
def test_those_of_an_added_transformer(
    name: str, random_vit: Callable[..., Weights], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("I2CANSAY_DATA", raising=False)
    weights = random_vit()
    (tmp_path / "vit.toml").write_text("size = 32\nmean = [0.1, 0.2, 0.3]\n")
    add_encoder(name, saved(weights, tmp_path / "vit.npz"))
    found = transformer_arrays(f"{name}+pixels")
    assert is_transformer(f"{name}+pixels@16")
    assert found.mean == (0.1, 0.2, 0.3)
    assert set(found.arrays) == {key for key in weights if not key.startswith("head")}
    for key, array in found.arrays.items():
        np.testing.assert_array_equal(array, weights[key])
    assert transformer_arrays(f"{name}@16").arrays["pos_embed"].shape == (1, 1 + 2 * 2, 128)


@pytest.mark.usefixtures("empty_cache")
def test_an_added_network_of_another_kind_is_none(
    random_resnet: Callable[..., Weights], tmp_path: Path
) -> None:
    add_encoder("residual", saved(random_resnet(bottleneck=False), tmp_path / "resnet.npz"))
    assert not is_transformer("residual")
    with pytest.raises(
        ValueError, match="vision transformer such as deit_tiny or dino_vits8, got 'residual'"
    ):
        transformer_arrays("residual")


@pytest.mark.usefixtures("empty_cache")
def test_without_its_weights_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path))
    assert is_transformer("deit_tiny@96")
    with pytest.raises(FileNotFoundError, match="encoder add deit_tiny --weights FILE"):
        transformer_arrays("deit_tiny@96")
