"""TensorFlow.js models: tensors come out as they went in, and files that lie are refused."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.encoders import get_encoder
from i2cansay.encoders.checkpoint import CheckpointError, Weights, files_of, read_checkpoint
from i2cansay.encoders.tfjs_file import files_of_tfjs, manifest_of, read_tfjs

TENSORS: Weights = {
    "conv/kernel": np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    "conv/bias": np.array([1.5, -2.0], np.float32),
    "step": np.array(7, np.int32),
}
Files = dict[str, bytes]


def listed(name: str, array: Any) -> dict[str, Any]:
    return {"name": name, "shape": list(array.shape), "dtype": array.dtype.name}


def model_files(shard_bytes: int = 40, tensors: Weights = TENSORS) -> Files:
    """A model whose bytes are cut into shards without regard to where a tensor ends."""
    data = b"".join(array.tobytes() for array in tensors.values())
    pieces = [data[start : start + shard_bytes] for start in range(0, len(data), shard_bytes)]
    shards = {f"shard{number}.bin": piece for number, piece in enumerate(pieces)}
    group = {"paths": list(shards), "weights": [listed(*item) for item in tensors.items()]}
    return {"model.json": json.dumps({"weightsManifest": [group]}).encode(), **shards}


def write_folder(folder: Path, files: Files) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, contents in files.items():
        (folder / name).write_bytes(contents)
    return folder


def write_tarball(path: Path, files: Files, folder: str = "package/net/") -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, contents in reversed(files.items()):  # the manifest last, as npm has it
            member = tarfile.TarInfo(folder + name)
            member.size = len(contents)
            archive.addfile(member, io.BytesIO(contents))
    return path


def with_manifest(change: Callable[[dict[str, Any]], object]) -> Files:
    """The files, with something changed in the one group of the manifest."""
    files = model_files()
    model = json.loads(files["model.json"])
    change(model["weightsManifest"][0])
    return {**files, "model.json": json.dumps(model).encode()}


@pytest.mark.parametrize("shard_bytes", [7, 40, 1000])
def test_tensors_come_out_as_they_went_in(shard_bytes: int, tmp_path: Path) -> None:
    files = model_files(shard_bytes)
    folder = write_folder(tmp_path / "package" / "net", files)
    tarball = write_tarball(tmp_path / "model.tgz", files)
    for path in (folder, folder / "model.json", tmp_path, tmp_path / "package", tarball):
        weights = read_checkpoint(path)
        assert list(weights) == list(TENSORS)
        for name, array in TENSORS.items():
            assert weights[name].dtype == array.dtype
            assert np.array_equal(weights[name], array)


def test_a_model_consists_of_its_manifest_and_its_shards(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {**model_files(), "README.md": b"about"})
    assert [path.name for path in files_of(folder)] == [
        "model.json",
        "shard0.bin",
        "shard1.bin",
        "shard2.bin",
    ]
    assert files_of(folder) == files_of_tfjs(folder / "model.json")


def test_an_encoder_notices_another_shard_under_the_same_manifest(
    random_resnet: Callable[..., Weights], tmp_path: Path, empty_cache: Path
) -> None:
    """The graph that was built before is found by a hash of all files, not of the manifest alone."""
    weights = {
        key: array for key, array in random_resnet(bottleneck=False).items() if array.dtype == np.float32
    }
    folder = write_folder(tmp_path / "net", model_files(2**16, weights))
    tarball = write_tarball(tmp_path / "net.tgz", model_files(2**16, weights))
    first = get_encoder("resnet", weights=folder).fingerprint
    assert get_encoder("resnet", weights=tarball).fingerprint == first
    weights["conv1.weight"] = weights["conv1.weight"] * np.float32(1.01)
    write_folder(folder, model_files(2**16, weights))
    assert get_encoder("resnet", weights=folder).fingerprint != first
    (folder / "shard3.bin").unlink()
    with pytest.raises(CheckpointError, match=r"shard3.bin is missing"):
        get_encoder("resnet", weights=folder)


def remove(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda group: group.pop(key)


def put(key: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda group: group["weights"][0].update({key: value})


def shards(*names: Any) -> Callable[[dict[str, Any]], object]:
    return lambda group: group.update(paths=list(names))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (put("shape", [2, 3, 5]), "bytes instead of"),
        (put("shape", [2, 3]), "most that can be right"),
        (put("shape", [2**40, 2**40]), "bytes instead of"),
        (put("shape", [-2, -3, 4]), "impossible shape"),
        (put("shape", [2.0, 3, 4]), "impossible shape"),
        (put("shape", [True, 3, 8]), "impossible shape"),
        (put("shape", "24"), "impossible shape"),
        (put("shape", [1] * 100 + [24]), "damaged"),
        (put("dtype", "float16"), "unsupported type"),
        (put("dtype", ["float32"]), "damaged"),
        (put("quantization", {"dtype": "uint8", "min": 0, "scale": 1}), "quantized"),
        (put("name", 3), "a name for each tensor"),
        (put("name", "step"), "twice"),
        (remove("weights"), "damaged"),
        (remove("paths"), "damaged"),
        (shards("shard0.bin", "shard1.bin"), "bytes instead of"),
        (shards("shard0.bin", "shard0.bin", "shard1.bin"), "a shard twice"),
        (shards("shard0.bin", "shard1.bin", "shard9.bin"), "shard9.bin is missing"),
        (shards("../secret.bin"), "plain file names"),
        (shards("/etc/passwd"), "plain file names"),
        (shards("net\\secret.bin"), "plain file names"),
        (shards("C:secret.bin"), "plain file names"),
        (shards(".."), "plain file names"),
        (shards("model.json"), "plain file names"),
        (shards(None), "plain file names"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_manifest_that_lies_is_refused(
    change: Callable[[dict[str, Any]], object], sentence: str, *, packed: bool, tmp_path: Path
) -> None:
    (tmp_path / "secret.bin").write_bytes(b"\0" * 112)
    files = with_manifest(change)
    path = (
        write_tarball(tmp_path / "model.tgz", files)
        if packed
        else write_folder(tmp_path / "a" / "net", files)
    )
    with pytest.raises(CheckpointError, match=sentence):
        read_checkpoint(path)


@pytest.mark.parametrize(
    "manifest",
    [b"", b"[]", b"{}", b'{"weightsManifest": 3}', b'{"weightsManifest": [3]}', b"[" * 100_000, b"\xff\xfe"],
)
def test_a_manifest_that_is_none_is_refused(manifest: bytes, tmp_path: Path) -> None:
    write_folder(tmp_path, {**model_files(), "model.json": manifest})
    for read in (read_checkpoint, files_of):
        with pytest.raises(CheckpointError):
            read(tmp_path)


def test_which_manifest_is_meant_must_be_clear(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_folder(tmp_path / name, model_files())
    with pytest.raises(CheckpointError, match="found 2; name the folder"):
        read_checkpoint(tmp_path)
    assert manifest_of(tmp_path / "one") == tmp_path / "one" / "model.json"
    (tmp_path / "empty").mkdir()
    with pytest.raises(CheckpointError, match=r"one model.json in the folder, found 0"):
        read_checkpoint(tmp_path / "empty")
    write_tarball(tmp_path / "none.tgz", {"readme.json": b"{}"})
    with pytest.raises(CheckpointError, match=r"one model.json in the archive, found 0"):
        read_checkpoint(tmp_path / "none.tgz")


def test_members_that_are_no_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(b"\0" * 112)
    files = model_files(1000)
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
        with tarfile.open(tmp_path / "links.tgz", "w:gz") as archive:
            manifest = tarfile.TarInfo("net/model.json")
            manifest.size = len(files["model.json"])
            archive.addfile(manifest, io.BytesIO(files["model.json"]))
            link = tarfile.TarInfo("net/shard0.bin")
            link.type, link.linkname = kind, str(tmp_path / "secret.bin")
            archive.addfile(link)
        with pytest.raises(CheckpointError, match=r"shard0.bin is missing"):
            read_checkpoint(tmp_path / "links.tgz")


def test_archives_that_are_cut_or_none_are_refused(tmp_path: Path) -> None:
    data = write_tarball(tmp_path / "model.tgz", model_files()).read_bytes()
    for length in (0, 5, 20, len(data) // 2, len(data) - 9):
        (tmp_path / "cut.tgz").write_bytes(data[:length])
        with pytest.raises(CheckpointError):
            read_tfjs(tmp_path / "cut.tgz")
    (tmp_path / "text.tgz").write_bytes(gzip.compress(b"a text, and no archive" * 100))
    with pytest.raises(CheckpointError, match="damaged"):
        read_checkpoint(tmp_path / "text.tgz")


def test_an_archive_that_grows_as_weights_never_do_is_refused(tmp_path: Path) -> None:
    files = {**model_files(), "zeros.bin": bytes(2**25)}
    with pytest.raises(CheckpointError, match="unpacks to more than 4 times"):
        read_checkpoint(write_tarball(tmp_path / "bomb.tgz", files))


def test_a_shard_longer_than_its_tensors_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {**model_files(1000), "shard0.bin": bytes(10_000)}
    folder = write_folder(tmp_path / "net", files)
    read: list[str] = []
    usual = Path.read_bytes

    def noted(path: Path) -> bytes:
        read.append(path.name)
        return usual(path)

    monkeypatch.setattr(Path, "read_bytes", noted)
    with pytest.raises(CheckpointError, match="has 10000 bytes, where 108 are"):
        read_checkpoint(folder)
    assert read == ["model.json"]
