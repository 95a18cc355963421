"""The folder with a page, without a browser; tests/browser has it in one."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from i2cansay.export.browser_folder import PAGE, RUNTIME, page_facts, read_runtime
from i2cansay.export.learner_file import learner_model
from tests.export import taught as features
from tests.export.test_image_file import taught


def npm_package(path: Path, names: tuple[str, ...] = RUNTIME) -> Path:
    """Write an archive as `npm pack` does."""
    with tarfile.open(path, "w:gz") as archive:
        for name in (*names, "ort.js"):
            content = f"content of {name}".encode()
            entry = tarfile.TarInfo(f"package/dist/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def test_the_folder_has_page_model_and_runtime(tmp_path: Path) -> None:
    model, folder = taught("pixels", "paper"), tmp_path / "page"
    assert not model.to_page(folder, title="Colours")
    assert {path.name for path in folder.iterdir()} == {*PAGE, "model.onnx", "model.json"}
    about = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    assert about["labels"] == ["blue", "green", "red"]
    assert (about["title"], about["size"], about["error"]) == ("Colours", 8, 0.05)
    assert "npm pack onnxruntime-web@1.30" in about["how_to_get_runtime"]
    assert model.to_page(folder, runtime=npm_package(tmp_path / "onnxruntime-web-1.30.0.tgz"))
    assert (folder / "runtime" / RUNTIME[0]).read_text() == f"content of {RUNTIME[0]}"
    assert model.to_page(folder), "what is there stays"


def test_the_page_names_files_that_are_there() -> None:
    import i2cansay.export.browser_folder as module

    here = Path(module.__file__).parent / "page"
    assert {path.name for path in here.iterdir()} == set(PAGE)
    script = (here / "page.js").read_text(encoding="utf-8")
    assert all(name in script for name in (*RUNTIME, "./model.onnx", "./model.json", "./resample.js"))
    assert "http" not in (here / "index.html").read_text(encoding="utf-8").replace("http-equiv", "")


def test_the_runtime_is_found_in_an_archive_or_a_folder(tmp_path: Path) -> None:
    package = npm_package(tmp_path / "package.tgz")
    with tarfile.open(package) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    expected = {name: f"content of {name}".encode() for name in RUNTIME}
    unpacked = tmp_path / "unpacked"
    for place in (package, unpacked, unpacked / "package", unpacked / "package" / "dist"):
        assert read_runtime(place) == expected


def test_a_wrong_runtime_or_folder_leaves_nothing_behind(tmp_path: Path) -> None:
    model, folder = taught("pixels", "paper"), tmp_path / "page"
    text = tmp_path / "notes.txt"
    text.write_text("no archive")
    other = npm_package(tmp_path / "other.tgz", names=())
    for wrong, message in (
        (tmp_path / "nowhere.tgz", "there is no .*npm pack"),
        (text, "is not a package of npm"),
        (other, "is it onnxruntime-web"),
        (tmp_path, "is it onnxruntime-web"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            model.to_page(folder, runtime=wrong)
    assert not folder.exists()
    with pytest.raises(NotADirectoryError, match="is a file"):
        model.to_page(text)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        model.to_page(tmp_path / "nowhere" / "page")


def test_a_model_without_its_encoder_has_no_page() -> None:
    with pytest.raises(ValueError, match="needs the encoder in front"):
        page_facts(learner_model(features.taught("i2cansay", {}, n=40)))
