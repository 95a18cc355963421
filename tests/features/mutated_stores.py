"""Feature stores that were changed, with and without checksums that are right again.

Each must be refused with a sentence (ValueError) or give finite features with labels that have a name; anything else
is a failure, printed and counted.
"""

from __future__ import annotations

import json
import tempfile
import time
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from i2cansay.features import FeatureStore, encode_dataset
from tests.features.synthetic import FakeEncoder, make_dataset
from tests.learners.mutated_models import FLOATS, NUMBERS, VALUES, flipped, peak_megabytes, pick

Files = dict[str, bytes]
CHUNK = 8


def damaged(files: Files, rng: np.random.Generator) -> None:
    """Change the bytes of one file, as a disk may."""
    name = pick(sorted(files), rng)
    files[name] = flipped(files[name], rng)


def other_text(files: Files, rng: np.random.Generator) -> None:
    """Put another value into the header or the journal."""
    name = pick(["header.json", "journal.json"], rng)
    content: dict[str, Any] = json.loads(files[name])
    content[pick(sorted(content), rng)] = pick([*VALUES, ["a", "b"], {"fraction": "x"}, [1e400]], rng)
    files[name] = json.dumps(content).encode()


def other_numbers(files: Files, rng: np.random.Generator) -> None:
    """Put other numbers into an array."""
    name = pick(["features.npy", "labels.npy", "rows.npy"], rng)
    start = files[name].index(b"\n") + 1
    with np.errstate(all="ignore"):
        kind = np.float16 if name == "features.npy" else np.int64
        numbers = np.frombuffer(files[name][start:], kind).copy()
        value = np.asarray(pick(FLOATS if kind is np.float16 else NUMBERS, rng)).astype(kind)
    numbers[int(rng.integers(len(numbers)))] = value
    files[name] = files[name][:start] + numbers.tobytes()


def other_shape(files: Files, rng: np.random.Generator) -> None:
    """Let an array promise another type or shape, in as many bytes."""
    name = pick(["features.npy", "labels.npy", "rows.npy"], rng)
    old, new = pick(
        [
            (b"100", b"999"),
            (b"100", b"-10"),
            (b"<i8", b"<f8"),
            (b"<f2", b"<i2"),
            (b"False", b"True "),
            (b"<i8", b"|O8"),
        ],
        rng,
    )
    files[name] = files[name].replace(old, new, 1)


def with_checksums(files: Files) -> None:
    """Make every checksum right again, as far as the files can still be read."""
    try:
        data = {
            name: files[name][files[name].index(b"\n") + 1 :]
            for name in ("features.npy", "labels.npy", "rows.npy")
        }
        header, journal = json.loads(files["header.json"]), json.loads(files["journal.json"])
        header["labels_checksum"] = zlib.crc32(data["labels.npy"] + data["rows.npy"])
        files["header.json"] = json.dumps(header).encode()
        size = CHUNK * 2 * 5
        features = data["features.npy"]
        journal["checksums"] = [zlib.crc32(features[at : at + size]) for at in range(0, len(features), size)]
        journal["header_checksum"] = zlib.crc32(files["header.json"])
        files["journal.json"] = json.dumps(journal).encode()
    except (ValueError, TypeError, KeyError, RecursionError):
        return


def attack(count: int, seed: int) -> dict[str, Any]:
    """Open `count` changed stores and return what came of it."""
    rng, outcomes = np.random.default_rng(seed), Counter[str]()
    printed: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        path = encode_dataset(
            make_dataset(), FakeEncoder(), "train", folder=Path(folder), chunk_rows=CHUNK
        ).path
        whole = {file.name: file.read_bytes() for file in path.iterdir() if file.suffix in (".json", ".npy")}
        np.isfinite(FeatureStore.open(path).features).all()
        before, begun = peak_megabytes(), time.perf_counter()
        for number in range(count):
            files = dict(whole)
            if rng.random() < 0.3:
                damaged(files, rng)
            else:
                for _ in range(int(rng.integers(1, 3))):
                    pick((other_text, other_numbers, other_numbers, other_shape), rng)(files, rng)
                with_checksums(files)
            for name, content in files.items():
                (path / name).write_bytes(content)
            outcome = ask(path)
            outcomes[outcome if outcome in ("refused", "opened") else "FAILED"] += 1
            if outcome not in ("refused", "opened", *printed):
                printed.add(outcome)
                print(f"store {number}: {outcome}", flush=True)
    return {
        **dict(outcomes),
        "seconds": round(time.perf_counter() - begun, 1),
        "memory before, MB": before,
        "peak memory, MB": peak_megabytes(),
    }


def ask(path: Path) -> str:
    """Return "refused", "opened", or what went wrong."""
    try:
        store = FeatureStore.open(path)
    except ValueError as error:
        return "refused" if len(str(error)) > 20 else f"the sentence {error}"
    except Exception as error:
        return f"opening raised {type(error).__name__}: {str(error)[:150]}"
    try:
        fine = np.isfinite(store.features).all() and all(store.class_names[label] for label in store.labels)
        fine = fine and len(store.features) == len(store) == len(store.rows) and bool(store.header.store_name)
    except Exception as error:
        return f"reading raised {type(error).__name__}: {str(error)[:150]}"
    return "opened" if fine else "its content makes no sense"
