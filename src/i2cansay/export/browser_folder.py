"""A folder that classifies images in a browser: a page, the model, and ONNX Runtime where its package is given."""

from __future__ import annotations

import json
import tarfile
from importlib.resources import files
from pathlib import Path
from typing import Any

from i2cansay.disk.atomic import write_bytes_atomically
from i2cansay.encoders.graph_joining import PIXELS
from i2cansay.export.learner_file import write_model

PAGE = ("index.html", "page.js", "resample.js")
VERSION = "1.30"
RUNTIME = ("ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm")
HOW_TO_GET = (
    f"Run `npm pack onnxruntime-web@{VERSION}`, and give the file that it fetches to `i2cansay export` as "
    f"--runtime; or put dist/{RUNTIME[0]} and dist/{RUNTIME[1]} of it there."
)


def write_browser_folder(model: Any, folder: Path, *, title: str, runtime: Path | None = None) -> bool:
    """Write page and model to a folder; return whether ONNX Runtime is in it, too.

    Parameters
    ----------
    model : ModelProto
        What `export.image_file.image_model` returns.
    folder : Path
        Made where it is not there; files of the same names are replaced.
    title : str
        What the page is called.
    runtime : Path, optional
        The package onnxruntime-web, as `npm pack` fetches it (.tgz) or unpacked.
    """
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"expected a folder to write the page to, but {folder} is a file")
    if not folder.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {folder.parent} to make {folder.name} in")
    found = {} if runtime is None else read_runtime(runtime)
    about = page_facts(model) | {"title": title, "how_to_get_runtime": HOW_TO_GET}
    folder.mkdir(exist_ok=True)
    write_model(model, folder / "model.onnx")
    write_bytes_atomically(folder / "model.json", json.dumps(about, ensure_ascii=False, indent=1).encode())
    here = files("i2cansay.export").joinpath("page")
    for name in PAGE:
        write_bytes_atomically(folder / name, here.joinpath(name).read_bytes())
    for name, content in found.items():
        write_bytes_atomically(folder / "runtime" / name, content)
    return all((folder / "runtime" / name).is_file() for name in RUNTIME)


def page_facts(model: Any) -> dict[str, Any]:
    """Return what the page needs to know of a model, which a browser's runtime does not read from its metadata."""
    about = {entry.key: entry.value for entry in model.metadata_props}
    if model.graph.input[0].name != PIXELS:
        raise ValueError("the page shows images to the model, so it needs the encoder in front of it")
    looks = json.loads(about["preprocessing"])
    return {
        "labels": json.loads(about["labels"]),
        **{name: looks[name] for name in ("size", "resize", "interpolation")},
        **{name: float(about[name]) for name in ("error", "new_error")},
        **{name: about[name] for name in ("encoder", "learner", "checksum", "i2cansay")},
    }


def read_runtime(package: Path) -> dict[str, bytes]:
    """Return the two files of onnxruntime-web that the page loads, out of its package or a folder of it."""
    if not package.exists():
        raise FileNotFoundError(f"there is no {package}. {HOW_TO_GET}")
    if package.is_dir():
        places = (package, package / "dist", package / "package" / "dist")
        folder = next((place for place in places if (place / RUNTIME[0]).is_file()), package)
        missing = [name for name in RUNTIME if not (folder / name).is_file()]
        found = {} if missing else {name: (folder / name).read_bytes() for name in RUNTIME}
    else:
        found = _from_archive(package)
    if len(found) < len(RUNTIME):
        raise ValueError(f"{package} has no {' and '.join(RUNTIME)}; is it onnxruntime-web? {HOW_TO_GET}")
    return found


def _from_archive(package: Path) -> dict[str, bytes]:
    try:
        with tarfile.open(package) as archive:
            members = {name: f"package/dist/{name}" for name in RUNTIME}
            there = set(archive.getnames())
            return {
                name: content.read()
                for name, member in members.items()
                if member in there and (content := archive.extractfile(member)) is not None
            }
    except tarfile.TarError as error:
        raise ValueError(f"{package} is not a package of npm: {error}. {HOW_TO_GET}") from error
