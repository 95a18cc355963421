"""Torch's two file formats: tensors come out as they went in, and nothing else gets through."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.encoders.checkpoint import CheckpointError, read_checkpoint
from i2cansay.encoders.efficientnet import packaged_weights
from i2cansay.encoders.torch_file import read_torch

Numbers = tuple[int, ...]


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def number(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def numbers(values: Numbers) -> bytes:
    return b"(" + b"".join(map(number, values)) + b"t"


def tensor(
    key: str, count: int, shape: Numbers, strides: Numbers, *, offset: int = 0, kind: str = "FloatStorage"
) -> bytes:
    """The pickle opcodes that torch.save writes for a tensor."""
    storage = (
        b"("
        + text("storage")
        + f"ctorch\n{kind}\n".encode()
        + text(key)
        + text("cpu")
        + number(count)
        + b"tQ"
    )
    hooks = b"ccollections\nOrderedDict\n)R"
    arguments = b"(" + storage + number(offset) + numbers(shape) + numbers(strides) + b"\x89" + hooks + b"t"
    return b"ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"R"


def dictionary(**entries: bytes) -> bytes:
    """A complete pickle of a dictionary."""
    items = b"".join(text(key) + value for key, value in entries.items())
    return b"\x80\x02}(" + items + b"u."


def torch_zip(path: Path, program: bytes, **storages: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", program)
        for key, data in storages.items():
            archive.writestr(f"archive/data/{key}", data)
    return path


FLOATS = np.arange(6, dtype="<f4")


def test_tensors_come_out_as_they_went_in(tmp_path: Path) -> None:
    program = dictionary(
        plain=tensor("0", 6, (2, 3), (3, 1)),
        transposed=tensor("0", 6, (3, 2), (1, 3)),
        part=tensor("0", 6, (2,), (1,), offset=4),
        scalar=tensor("0", 6, (), (), offset=5),
        empty=tensor("0", 6, (0, 4), (4, 1)),
    )
    weights = read_checkpoint(torch_zip(tmp_path / "model.pth", program, **{"0": FLOATS.tobytes()}))
    assert np.array_equal(weights["plain"], FLOATS.reshape(2, 3))
    assert np.array_equal(weights["transposed"], FLOATS.reshape(2, 3).T)
    assert np.array_equal(weights["part"], [4, 5])
    assert weights["scalar"] == 5
    assert weights["empty"].shape == (0, 4)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("DoubleStorage", "<f8"),
        ("HalfStorage", "<f2"),
        ("LongStorage", "<i8"),
        ("ByteStorage", "u1"),
        ("BoolStorage", "?"),
    ],
)
def test_types_are_kept(kind: str, dtype: str, tmp_path: Path) -> None:
    values = np.array([0, 1, 1, 0]).astype(dtype)
    program = dictionary(x=tensor("0", 4, (4,), (1,), kind=kind))
    weights = read_checkpoint(torch_zip(tmp_path / "model.pth", program, **{"0": values.tobytes()}))
    assert weights["x"].dtype == values.dtype
    assert np.array_equal(weights["x"], values)


def test_bfloat16_becomes_float32(tmp_path: Path) -> None:
    values = np.array([1.0, -2.5, 384.0], np.float32)
    upper_halves = (values.view("<u4") >> 16).astype("<u2")
    program = dictionary(x=tensor("0", 3, (3,), (1,), kind="BFloat16Storage"))
    weights = read_checkpoint(torch_zip(tmp_path / "model.pth", program, **{"0": upper_halves.tobytes()}))
    assert np.array_equal(weights["x"], values)


def test_wrappers_and_prefixes_are_taken_off(tmp_path: Path) -> None:
    inner = dictionary(**{"module.weight": tensor("0", 6, (6,), (1,))})[2:-1]
    program = dictionary(epoch=number(3), state_dict=inner)
    weights = read_checkpoint(torch_zip(tmp_path / "model.pth", program, **{"0": FLOATS.tobytes()}))
    assert list(weights) == ["weight"]


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("this must not be printed",)


@pytest.mark.parametrize(
    "program",
    [
        pickle.dumps({"x": Evil()}, protocol=2),
        pickle.dumps({"x": Evil()}, protocol=4),
        b"\x80\x02cbuiltins\neval\n(X\x0d\x00\x00\x00print('evil!')tR.",
        b"\x80\x02cos\nsystem\n(X\x02\x00\x00\x00lstR.",
        b"(S'ls'\nios\nsystem\n.",
        dictionary(x=b"ctorch.jit\nload\n"),
    ],
)
def test_programs_are_refused(program: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(
        CheckpointError, match=r"only tensors are accepted|which no dictionary of tensors needs"
    ):
        read_checkpoint(torch_zip(tmp_path / "evil.pth", program))
    (tmp_path / "legacy.pth").write_bytes(program)
    with pytest.raises(CheckpointError):
        read_checkpoint(tmp_path / "legacy.pth")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (tensor("0", 6, (7,), (1,)), "beyond its storage"),
        (tensor("0", 6, (2,), (1,), offset=5), "beyond its storage"),
        (tensor("0", 6, (2,), (1,), offset=-1), "impossible"),
        (tensor("0", 6, (2,), (-1,)), "impossible"),
        (tensor("0", 6, (10_000, 10_000), (0, 0)), "beyond its storage"),
        (tensor("0", 6, (2, 3), (1,)), "impossible"),
        (tensor("0", 600, (2,), (1,)), "bytes instead of"),
        (tensor("1", 6, (6,), (1,)), "does not have"),
        (b"(" + text("storage") + b"tQ", "unknown way"),
        (b"r" + struct.pack("<I", 2**31 - 1) + b"N", "damaged|memo"),
    ],
)
def test_tensors_that_lie_about_their_storage_are_refused(
    entry: bytes, sentence: str, tmp_path: Path
) -> None:
    path = torch_zip(tmp_path / "model.pth", dictionary(x=entry), **{"0": FLOATS.tobytes()})
    with pytest.raises(CheckpointError, match=sentence):
        read_checkpoint(path)


def test_a_storage_cannot_be_rewritten(tmp_path: Path) -> None:
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + number(6) + b"tQ"
    entry = storage + b"}" + text("count") + number(10**6) + b"sb"
    with pytest.raises(CheckpointError, match="rewrite"):
        read_checkpoint(torch_zip(tmp_path / "model.pth", dictionary(x=entry), **{"0": FLOATS.tobytes()}))


def test_compressed_archives_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "model.pth", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", dictionary(x=tensor("0", 6, (6,), (1,))))
        archive.writestr("archive/data/0", FLOATS.tobytes())
    with pytest.raises(CheckpointError, match="compressed"):
        read_checkpoint(tmp_path / "model.pth")


def test_the_packaged_file_has_the_older_format() -> None:
    weights = read_checkpoint(packaged_weights())
    assert weights["_conv_stem.weight"].shape == (32, 3, 3, 3)
    assert weights["_fc.weight"].shape == (1000, 1280)
    assert all(np.isfinite(array).all() for array in weights.values())


def test_an_older_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    data = packaged_weights().read_bytes()
    for length in (0, 10, 100, 5_000, len(data) // 2, len(data) - 1):
        (tmp_path / "cut.pth").write_bytes(data[:length])
        with pytest.raises(CheckpointError):
            read_checkpoint(tmp_path / "cut.pth")


def test_damaged_older_files_are_refused_or_read(tmp_path: Path) -> None:
    """Whatever happens to the pickles at the front, the outcome is weights or a CheckpointError."""
    data = packaged_weights().read_bytes()[:40_000]
    rng = np.random.default_rng(0)
    for _ in range(150):
        changed = bytearray(data)
        for at in rng.integers(0, 36_000, 3):
            changed[at] = int(rng.integers(0, 256))
        (tmp_path / "damaged.pth").write_bytes(changed)
        with pytest.raises(CheckpointError):  # the storages are cut off in every case
            read_checkpoint(tmp_path / "damaged.pth")


@pytest.mark.torch
@pytest.mark.parametrize("zipped", [True, False])
def test_what_torch_saves_is_read(zipped: bool, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    base = torch.randn(4, 6)
    saved = {
        "base": base,
        "view": base[1:3, ::2],
        "parameter": torch.nn.Parameter(torch.randn(3)),
        "half": torch.randn(5).half(),
        "brain": torch.randn(5).bfloat16(),
        "count": torch.tensor(7),
    }
    stream = io.BytesIO()
    torch.save(saved, stream, _use_new_zipfile_serialization=zipped)
    (tmp_path / "model.pth").write_bytes(stream.getvalue())
    weights = read_checkpoint(tmp_path / "model.pth")
    assert list(weights) == list(saved)
    for name, value in saved.items():
        assert np.array_equal(
            weights[name], value.detach().float().numpy() if name == "brain" else value.detach().numpy()
        )


def test_views_that_would_fill_the_memory_are_refused(tmp_path: Path) -> None:
    """A small file could otherwise ask for a hundred thousand copies of its one storage."""
    data = np.arange(12, dtype="<f4").tobytes()
    for n_views, allowed in ((2, True), (4, True), (5, False), (500, False)):
        program = dictionary(**{f"x{i}": tensor("0", 12, (3, 4), (4, 1)) for i in range(n_views)})
        path = torch_zip(tmp_path / "views.pth", program, **{"0": data})
        if allowed:
            assert len(read_checkpoint(path)) == n_views
        else:
            with pytest.raises(CheckpointError, match=f"{48 * n_views} bytes, of which only 48 are in"):
                read_checkpoint(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (tensor("1", 4, (2, 2), (2, 1)), "views of storage '1', which the file does not have"),
        (tensor("0", 4, (2, 2), (-2, 1)), "impossible shape"),
        (tensor("0", 4, (2, -2), (2, 1)), "impossible shape"),
        (tensor("0", 4, (2, 2, 2), (2, 1)), "impossible shape"),
        (tensor("0", 4, (2**31 - 1,) * 3, (0, 0, 0)), "reaches beyond its storage"),
        (tensor("0", 4, (2, 2), (2, 1), offset=-1), "impossible shape"),
        (tensor("0", 5, (2, 2), (2, 1)), "has 16 bytes instead of 20"),
    ],
)
def test_a_malformed_tensor_is_refused_with_a_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "file.pth"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("file/data.pkl", b"\x80\x02}" + text("a") + content + b"s.")
        archive.writestr("file/data/0", np.arange(4, dtype="<f4").tobytes())
    with pytest.raises(CheckpointError, match=sentence):
        read_torch(path)


def test_a_dictionary_that_wraps_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.pth"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("file/data.pkl", b"\x80\x02}q\0" + text("model") + b"h\0s.")
    with pytest.raises(CheckpointError, match="nested more than"):
        read_torch(path)


@pytest.mark.parametrize("seed", range(3))
def test_a_mutated_file_is_read_or_refused_with_a_sentence(tmp_path: Path, seed: int) -> None:
    rng, path = np.random.default_rng(seed), tmp_path / "file.pth"
    pickled = b"\x80\x02}" + text("a") + tensor("0", 4, (2, 2), (2, 1)) + b"s."
    outcomes: set[type] = set()
    for _ in range(300):
        changed = bytearray(pickled)
        for at in rng.integers(0, len(changed), size=rng.integers(1, 4)):
            changed[at] = rng.integers(256)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("file/data.pkl", bytes(changed))
            archive.writestr("file/data/0", np.arange(4, dtype="<f4").tobytes())
        if rng.random() < 0.3:  # and the archive around it
            data = bytearray(path.read_bytes())
            data[rng.integers(len(data))] ^= 1 << rng.integers(8)
            path.write_bytes(bytes(data[: rng.integers(len(data) // 2, len(data) + 1)]))
        try:
            outcomes.add(type(read_torch(path)))
        except CheckpointError as error:
            outcomes.add(type(error))
    assert outcomes == {dict, CheckpointError}
