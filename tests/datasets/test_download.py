import hashlib
import io
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from i2cansay.datasets.arrays import ArraySplit
from i2cansay.datasets.definition import Definition, Download, Found
from i2cansay.datasets.download import adopt, fetch


def layout(folder: Path) -> Found | None:
    file = folder if folder.is_file() else folder / "toy.bin"
    if not file.is_file() or file.suffix != ".bin":
        return None
    values = np.frombuffer(file.read_bytes(), np.uint8)
    return Found(
        "toy", {"train": ArraySplit(lambda: (values.reshape(-1, 1, 1), np.zeros(len(values), np.int64)))}
    )


def define(official: Path, *, unpack: bool = False, md5: str | None = None) -> Definition:
    download = Download(
        url=official.as_uri(),
        file=official.name,
        size=official.stat().st_size if official.exists() else None,
        md5=md5 or hashlib.md5(official.read_bytes()).hexdigest(),
        unpack=unpack,
    )
    return Definition(
        name="toy",
        title="toy",
        layouts=(layout,),
        source="https://example.org/toy",
        files="Needed: toy.bin.",
        class_names=("a",),
        downloads=(download,),
    )


@pytest.fixture
def official(tmp_path: Path) -> Path:
    file = tmp_path / "official" / "toy.bin"
    file.parent.mkdir()
    file.write_bytes(b"12345")
    return file


def test_fetch_says_the_size_first_and_opens_the_data_set(official: Path, tmp_path: Path) -> None:
    said: list[str] = []
    dataset = fetch(define(official), tmp_path / "to", announce=said.append)
    assert dataset.n("train") == 5
    assert "(0.0 MB)" in said[0]
    assert official.as_uri() in said[0]
    assert [path.name for path in (tmp_path / "to").iterdir()] == ["toy.bin"]


def test_a_complete_file_is_not_fetched_again(official: Path, tmp_path: Path) -> None:
    definition = define(official)
    fetch(definition, tmp_path / "to", announce=lambda sentence: None)
    official.unlink()
    said: list[str] = []
    assert fetch(definition, tmp_path / "to", announce=said.append).n("train") == 5
    assert "already" in said[0]


def test_a_wrong_hash_leaves_nothing_behind(official: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected the MD5 0000"):
        fetch(define(official, md5="0000"), tmp_path / "to", announce=lambda sentence: None)
    assert list((tmp_path / "to").iterdir()) == []


def test_without_network_it_says_what_to_fetch_and_where_to_put_it(official: Path, tmp_path: Path) -> None:
    definition = define(official)
    official.unlink()
    with pytest.raises(OSError, match=r"toy\.bin could not be fetched .* put it into .*to"):
        fetch(definition, tmp_path / "to", announce=lambda sentence: None)


def test_what_has_no_download_names_its_source(official: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"https://example\.org/toy"):
        fetch(replace(define(official), downloads=()), tmp_path, announce=lambda sentence: None)


@pytest.mark.parametrize("kind", ["zip", "tgz"])
def test_archives_that_must_be_unpacked_are(kind: str, tmp_path: Path) -> None:
    packed = tmp_path / f"toy.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("toy.bin", b"123")
    else:
        with tarfile.open(packed, "w:gz") as tar:
            entry = tarfile.TarInfo("toy.bin")
            entry.size = 3
            tar.addfile(entry, io.BytesIO(b"123"))
    definition = define(packed, unpack=True)
    assert fetch(definition, tmp_path / "to", announce=lambda sentence: None).n("train") == 3
    assert adopt(definition, packed, tmp_path / "by hand").n("train") == 3


def test_a_hostile_archive_cannot_leave_the_folder(tmp_path: Path) -> None:
    packed = tmp_path / "toy.tgz"
    with tarfile.open(packed, "w:gz") as tar:
        entry = tarfile.TarInfo("../escaped")
        tar.addfile(entry, io.BytesIO())
    with pytest.raises(ValueError, match="would be written outside"):
        fetch(define(packed, unpack=True), tmp_path / "to", announce=lambda sentence: None)
    assert not (tmp_path / "escaped").exists()


def test_an_archive_fetched_by_hand_is_checked_and_copied(official: Path, tmp_path: Path) -> None:
    assert adopt(define(official), official, tmp_path / "to").n("train") == 5
    assert (tmp_path / "to" / "toy.bin").read_bytes() == b"12345"
    with pytest.raises(ValueError, match="MD5"):
        adopt(define(official, md5="0000"), official, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_another_layout_fetched_by_hand_must_open(official: Path, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no images")
    with pytest.raises(FileNotFoundError, match=r"Needed: toy\.bin"):
        adopt(define(official), text, tmp_path / "to")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        adopt(define(official), tmp_path / "nowhere", tmp_path / "to")


def test_without_network_what_must_be_unpacked_is_taken_in_by_a_command(tmp_path: Path) -> None:
    packed = tmp_path / "toy.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("toy.bin", b"123")
    definition = define(packed, unpack=True)
    packed.rename(tmp_path / "elsewhere.zip")
    with pytest.raises(OSError, match=r"i2cansay data get toy --from toy\.zip --to .*to$"):
        fetch(definition, tmp_path / "to", announce=lambda sentence: None)
