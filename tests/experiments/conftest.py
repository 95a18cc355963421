"""Let tests say `from tests.experiments.samples import ...`, however pytest was started."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))


@pytest.fixture
def blobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Put features of four easy classes where they are found by name; return that name and its encoder's."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "data"
    folder.mkdir()
    for split, n in (("train", 240), ("test", 80)):
        y = np.arange(n) % 4
        X = 3 * np.eye(6)[y] + rng.normal(size=(n, 6))
        np.savez(folder / f"blobs_made_{split}.npz", X=X.astype(np.float32), y=y)
    monkeypatch.setenv("I2CANSAY_DATA", str(folder))
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    return "blobs", "made"
