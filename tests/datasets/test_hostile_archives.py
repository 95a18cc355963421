"""Archives that were made to write where they should not, or more than there is: they reach the unpacking."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from i2cansay.datasets import archive
from i2cansay.datasets.archive import read_members
from i2cansay.datasets.download import fetch
from tests.datasets.test_download import define

Entry = tuple[tarfile.TarInfo, bytes]


def entry(name: str, content: bytes = b"", *, kind: bytes = tarfile.REGTYPE, to: str = "") -> Entry:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, to, len(content)
    return info, content


GOOD = entry("toy.bin", b"12345")
HOSTILE = {
    "absolute": [entry("/tmp/i2cansay-outside", b"x")],
    "above": [entry("../outside", b"x")],
    "above, further in": [entry("a/../../outside", b"x")],
    "symbolic link out": [entry("link", kind=tarfile.SYMTYPE, to="../outside")],
    "symbolic link to an absolute path": [entry("link", kind=tarfile.SYMTYPE, to="/etc/passwd")],
    "file through a link": [entry("a", kind=tarfile.SYMTYPE, to=".."), entry("a/outside", b"x")],
    "hard link out": [entry("link", kind=tarfile.LNKTYPE, to="../outside")],
    "hard link to an absolute path": [entry("link", kind=tarfile.LNKTYPE, to="/etc/passwd")],
    "device": [entry("null", kind=tarfile.CHRTYPE)],
    "block device": [entry("disk", kind=tarfile.BLKTYPE)],
    "pipe": [entry("pipe", kind=tarfile.FIFOTYPE)],
}


def write_tar(path: Path, entries: list[Entry], mode: str = "w:gz") -> Path:
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, mode) as packed:  # type: ignore[call-overload]
        for info, content in entries:
            packed.addfile(info, io.BytesIO(content))
    return path


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def refuse(packed: Path, to: Path, sentence: str) -> None:
    outside = everything(to.parent)
    with pytest.raises(ValueError, match=sentence):
        fetch(define(packed, unpack=True), to, announce=lambda said: None)
    written = everything(to.parent) - outside
    assert {name for name in written if not name.startswith(to.name)} == set()
    assert not {"toy.bin", "link", "null", "a"} & {path.name for path in to.rglob("*")}
    assert not Path("/tmp/i2cansay-outside").exists()


@pytest.mark.parametrize("kind", sorted(HOSTILE))
@pytest.mark.parametrize("first", [True, False])
def test_a_hostile_tar_leaves_nothing(tmp_path: Path, kind: str, first: bool) -> None:
    entries = [*HOSTILE[kind], GOOD] if first else [GOOD, *HOSTILE[kind]]
    packed = write_tar(tmp_path / "official" / "toy.tar.gz", entries)
    refuse(packed, tmp_path / "to", "is refused|cannot be unpacked")


@pytest.mark.parametrize(
    "name", ["/tmp/i2cansay-outside", "../outside", "a/../../outside", "..\\outside", "C:\\x"]
)
def test_a_hostile_zip_leaves_nothing(tmp_path: Path, name: str) -> None:
    packed = tmp_path / "official" / "toy.zip"
    packed.parent.mkdir()
    with zipfile.ZipFile(packed, "w") as writing:
        writing.writestr("toy.bin", b"12345")
        writing.writestr(name, b"x")
    refuse(packed, tmp_path / "to", "would be written outside its folder")


def test_a_size_that_lies_is_refused(tmp_path: Path) -> None:
    packed = write_tar(tmp_path / "official" / "toy.tar", [GOOD], "w")
    data = bytearray(packed.read_bytes())
    data[124:136] = b"77777777777\0"  # eight gigabytes, of which there are five bytes
    checksum = sum(data[:148]) + 8 * 32 + sum(data[156:512])
    data[148:156] = b"%06o\0 " % checksum
    packed.write_bytes(bytes(data))
    refuse(packed, tmp_path / "to", "cannot be unpacked|is refused")
    with pytest.raises(ValueError, match="would take 8589934591 bytes of memory"):
        read_members(packed, ["toy.bin"])


def test_a_sparse_member_is_refused(tmp_path: Path) -> None:
    info, content = entry("toy.bin", b"")
    info.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.name": "toy.bin",
        "GNU.sparse.size": str(2**44),
        "GNU.sparse.map": f"{2**44},0",
    }
    packed = tmp_path / "official" / "toy.tar"
    packed.parent.mkdir()
    with tarfile.open(packed, "w", format=tarfile.PAX_FORMAT) as writing:
        writing.addfile(info, io.BytesIO(content))
    refuse(packed, tmp_path / "to", "is refused")
    with pytest.raises(ValueError, match="is refused"):
        read_members(packed, ["toy.bin"])


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_MEMBERS", 50)
    packed = write_tar(tmp_path / "official" / "toy.tar.gz", [entry(f"{n}.bin", b"x") for n in range(51)])
    refuse(packed, tmp_path / "to", "would unpack to more than")
    assert list((tmp_path / "to").rglob("*.bin")) == []


def test_links_that_stay_inside_are_unpacked(tmp_path: Path) -> None:
    entries = [GOOD, entry("same.bin", kind=tarfile.SYMTYPE, to="toy.bin")]
    packed = write_tar(tmp_path / "official" / "toy.tar.gz", entries)
    fetch(define(packed, unpack=True), tmp_path / "to", announce=lambda said: None)
    assert (tmp_path / "to" / "same.bin").read_bytes() == b"12345"
