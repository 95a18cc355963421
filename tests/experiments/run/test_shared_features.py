from pathlib import Path

import numpy as np
import pytest

from i2cansay.experiments.run.shared_features import share_features


def test_npz_features_are_mapped_as_float32_once(blobs: tuple[str, str], tmp_path: Path) -> None:
    shared = share_features(*blobs)
    X, y = shared.open("train")
    with np.load(tmp_path / "data" / "blobs_made_train.npz") as arrays:
        assert np.array_equal(X, arrays["X"])
        assert np.array_equal(y, arrays["y"])
    assert X.dtype == np.float32
    assert not X.flags.writeable
    made = {path: path.stat().st_mtime_ns for path in shared.folder.iterdir()}
    again = share_features(*blobs)
    assert again == shared
    assert made == {path: path.stat().st_mtime_ns for path in shared.folder.iterdir()}


def test_the_short_name_of_an_encoder_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for split in ("train", "test"):
        np.savez(tmp_path / f"birds_efflite0_{split}.npz", F=np.eye(3, dtype=np.float16), y=[0, 1, 2])
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path))
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    assert share_features("birds", "efficientnet-lite0").identity["train"] == [3, 3]


def test_labels_must_be_whole_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for split in ("train", "test"):
        np.savez(tmp_path / f"birds_eyes_{split}.npz", X=np.eye(2), y=["owl", "jay"])
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path))
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ValueError, match="expected whole-number labels"):
        share_features("birds", "eyes")


def test_images_are_encoded_and_progress_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL")
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path))
    monkeypatch.delenv("I2CANSAY_DATA", raising=False)
    told: list[tuple[str, int, int]] = []
    shared = share_features("digits", "pixels", progress=lambda *news: told.append(news))
    assert shared.open("test")[0].shape == (445, 192)
    assert ("digits train", 1352, 1352) in told
    assert ("digits test", 445, 445) in told
    assert {"dataset_fingerprint", "encoder_fingerprint"} <= set(shared.identity)


def test_what_is_nowhere_says_where_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path))
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="cifar100 was not found"):
        share_features("cifar100", "pixels")


def test_blocks_of_stages_are_in_the_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path))
    monkeypatch.delenv("I2CANSAY_DATA", raising=False)
    wide = share_features("digits", "efficientnet-lite0+stages@32")
    assert wide.blocks == (1280, 1152, 1152, 672)
    assert wide.identity["blocks"] == [1280, 1152, 1152, 672]
    told: list[tuple[str, int, int]] = []
    last = share_features("digits", "efficientnet-lite0@32", progress=lambda *news: told.append(news))
    assert not told, "nothing is encoded again"
    assert last.blocks == (1280,)
    assert "blocks" not in last.identity
    assert last.fingerprint != wide.fingerprint
    assert np.array_equal(last.open("test")[0], wide.open("test")[0][:, :1280])
