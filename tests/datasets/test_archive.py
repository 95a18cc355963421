import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from i2cansay.datasets.archive import find_archive, read_members


def pack(path: Path, contents: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in contents.items():
            entry = tarfile.TarInfo(f"inner/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def test_members_come_in_the_order_asked_for_packed_or_not(tmp_path: Path) -> None:
    contents = {"a": b"1", "b": b"22", "c": b"333"}
    packed = pack(tmp_path / "x.tgz", contents)
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    assert read_members(packed, ["c", "a"]) == read_members(tmp_path, ["c", "a"]) == [b"333", b"1"]


def test_unpacked_is_preferred_and_needs_all_members(tmp_path: Path) -> None:
    packed = pack(tmp_path / "x.tgz", {"a": b"1", "b": b"2"})
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a").write_bytes(b"1")

    def find(folder: Path) -> Path | None:
        return find_archive(folder, unpacked="inner", packed="x*.tgz", members=["a", "b"])

    assert find(tmp_path) == packed
    (tmp_path / "inner" / "b").write_bytes(b"2")
    assert find(tmp_path) == tmp_path / "inner"
    assert find(tmp_path / "inner") == tmp_path / "inner"
    assert find(packed) == packed
    assert find(tmp_path / "nowhere") is None


def test_a_cut_archive_is_refused_with_its_name(tmp_path: Path) -> None:
    packed = pack(tmp_path / "x.tgz", {"a": bytes(range(256)) * 100})
    packed.write_bytes(packed.read_bytes()[:-60])
    with pytest.raises(ValueError, match=r"x\.tgz is damaged or incomplete"):
        read_members(packed, ["a"])


def test_a_missing_member_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not hold b"):
        read_members(pack(tmp_path / "x.tgz", {"a": b"1"}), ["a", "b"])


def test_something_else_is_not_an_archive(tmp_path: Path) -> None:
    (tmp_path / "x.tgz").write_bytes(b"not a tar file")
    with pytest.raises(ValueError, match="damaged"):
        read_members(tmp_path / "x.tgz", ["a"])


@pytest.mark.parametrize("position", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_flipped_bit_anywhere_is_noticed(tmp_path: Path, position: float) -> None:
    # Noise does not compress, so most of the file is stored bytes, where a flip breaks nothing but the content.
    noise = np.random.default_rng(0).bytes(50_000)
    packed = pack(tmp_path / "x.tgz", {"a": noise, "b": noise[::-1]})
    content = bytearray(packed.read_bytes())
    content[int(position * len(content))] ^= 4
    packed.write_bytes(content)
    for members in (["a"], ["a", "b"]):
        with pytest.raises(ValueError, match=r"x\.tgz is damaged or incomplete"):
            read_members(packed, members)
