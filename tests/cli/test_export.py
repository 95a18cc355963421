"""`i2cansay export`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.shell import good, refused, write_folder
from tests.export.test_browser_folder import npm_package
from tests.export.test_learner_file import answers


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """A model of images."""
    write_folder(tmp_path / "taught", 12)
    good("learn", tmp_path / "model.i2cs", tmp_path / "taught", "--encoder", "pixels")
    return tmp_path / "model.i2cs"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A model of features."""
    np.savez(tmp_path / "train.npz", X=np.eye(4).repeat(3, axis=0), y=np.arange(4).repeat(3))
    good("learn", tmp_path / "table.i2cs", tmp_path / "train.npz")
    return tmp_path / "table.i2cs"


def test_a_model_of_images(images: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.onnx"
    assert good("export", images, "-o", out, "--with-encoder").startswith(f"{out}: 0.")
    red = np.zeros((1, 8, 8, 3), np.uint8)
    red[..., 0] = 255
    assert answers(out, red, "pixels")["label"].tolist() == ["red"]
    good("export", images, "-o", out)
    assert answers(out, red.reshape(1, -1).astype(np.float32) / 255)["label"].tolist() == ["red"]


def test_a_model_of_features(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.onnx"
    good("export", table, "-o", out, "--error", "0.1")
    assert answers(out, np.eye(4, dtype=np.float32))["label"].tolist() == [0, 1, 2, 3]


def test_a_page(images: Path, tmp_path: Path) -> None:
    page, package = tmp_path / "page", npm_package(tmp_path / "package.tgz")
    said = good("export", images, "--browser", page)
    assert f"python -m http.server --directory {page}" in said
    assert f"It needs ONNX Runtime in {page / 'runtime'}. Run `npm pack" in said
    said = good("export", images, "--browser", page, "--runtime", package)
    assert "npm" not in said
    assert (page / "index.html").is_file()


def test_what_is_refused(images: Path, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.onnx"
    before = sorted(tmp_path.rglob("*"))
    assert "expected a file to write" in refused("export", images)
    assert "--runtime goes with --browser" in refused("export", images, "-o", out, "--runtime", images)
    assert "has no encoder" in refused("export", table, "-o", out, "--with-encoder")
    assert "has no encoder" in refused("export", table, "--browser", tmp_path / "page")
    assert "there is no folder" in refused("export", images, "-o", tmp_path / "nowhere" / "model.onnx")
    assert "there is no package" in refused(
        "export", images, "--browser", tmp_path / "page", "--runtime", tmp_path / "nothing.tgz"
    )
    assert "is not a package of npm" in refused(
        "export", images, "--browser", tmp_path / "page", "--runtime", images
    )
    assert "there is no model file" in refused("export", tmp_path / "nothing.i2cs", "-o", out)
    assert "error must be a share" in refused("export", images, "-o", out, "--error", "0")
    assert sorted(tmp_path.rglob("*")) == before
