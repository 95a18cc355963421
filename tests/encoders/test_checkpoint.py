"""The other formats of weights, and what is said about files that are none."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from i2cansay.encoders.checkpoint import CheckpointError, read_checkpoint

ARRAYS = {"weight": np.arange(6, dtype=np.float16).reshape(2, 3), "count": np.array([3, 4])}


def test_npz_and_safetensors_give_the_same(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **ARRAYS)  # type: ignore[arg-type]
    save_file(ARRAYS, tmp_path / "a.safetensors")
    for name in ("a.npz", "a.safetensors"):
        weights = read_checkpoint(tmp_path / name)
        assert sorted(weights) == ["count", "weight"]
        for key, array in ARRAYS.items():
            assert weights[key].dtype == array.dtype
            assert np.array_equal(weights[key], array)


def test_bfloat16_in_safetensors(tmp_path: Path) -> None:
    values = np.array([1.5, -3.0], np.float32)
    header = json.dumps({"x": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}).encode()
    data = (values.view("<u4") >> 16).astype("<u2").tobytes()
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data)
    assert np.array_equal(read_checkpoint(tmp_path / "a.safetensors")["x"], values)


def test_objects_in_npz_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.array([{"an": "object"}], dtype=object))
    with pytest.raises(CheckpointError, match="damaged or not a checkpoint"):
        read_checkpoint(tmp_path / "a.npz")


@pytest.mark.parametrize("suffix", [".pth", ".safetensors", ".npz"])
@pytest.mark.parametrize("data", [b"", b"\0" * 100, b"PK\x03\x04 not really", b"\xff" * 8])
def test_nonsense_is_refused(suffix: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"nonsense{suffix}"
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match="nonsense"):
        read_checkpoint(path)


def test_missing_and_unknown_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no checkpoint at"):
        read_checkpoint(tmp_path / "missing.pth")
    with pytest.raises(ValueError, match=r"ending in .*safetensors"):
        read_checkpoint(tmp_path / "model.h5")


def test_a_projection_head_beside_the_backbone_is_left_out(tmp_path: Path) -> None:
    keys = ("module.backbone.norm.weight", "module.backbone.cls_token", "module.head.mlp.0.weight")
    np.savez(tmp_path / "dino.npz", **dict.fromkeys(keys, np.ones(2)))  # type: ignore[arg-type]
    assert sorted(read_checkpoint(tmp_path / "dino.npz")) == ["cls_token", "norm.weight"]
    np.savez(tmp_path / "two.npz", **dict.fromkeys(("backbone.a", "neck.b"), np.ones(2)))  # type: ignore[arg-type]
    assert sorted(read_checkpoint(tmp_path / "two.npz")) == ["backbone.a", "neck.b"]
