"""Mutated SQLite and WAL files: each is named as damaged, or holds a version that was committed; nothing else.

Bits are flipped, files cut, pages swapped, zeroed and replaced by those of an older version, in the file of a model
and in the WAL that a crash leaves beside it. A process of its own opens each as the service does, and asks doctor. A
WAL that is cut or broken gives the version before it, whole: that is what a WAL is for. The service empties the WAL
before it answers, so that answers do not rest on it.

    python benchmarks/attacks/mutated_databases.py --files 2000
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from i2cansay.service.diagnosis import examine
from i2cansay.service.limits import Limits
from i2cansay.service.model.requests import Learn
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.service_metrics import ServiceMetrics
from i2cansay.service.storage.database import Damaged, Database
from i2cansay.service.storage.model_records import ModelFacts

NAME, PAGE, WIDTH = "tested", 4096, 300
KINDS = ("flip", "flip many", "cut", "swap", "splice", "zero", "noise", "longer")
PATIENCE = 60.0
"""Seconds after which a file counts as one that hangs its reader."""


@dataclass(frozen=True)
class Files:
    """The bytes of a model's file and of its WAL, which is empty where there is none."""

    database: bytes
    wal: bytes = b""

    def write(self, path: Path) -> None:
        """Put them in place of those that are there."""
        for part, data in (("", self.database), ("-wal", self.wal), ("-shm", b"")):
            place = path.with_name(path.name + part)
            place.unlink(missing_ok=True)
            if data:
                place.write_bytes(data)


@dataclass(frozen=True)
class Material:
    """Files of one model to be mutated, older ones first, and the versions that were committed."""

    files: tuple[Files, ...]
    versions: frozenset[str]


def fingerprint(model: ServedModel) -> str:
    """Return a digest of all that a model has on its disk."""
    state = model.state()
    digest = hashlib.sha256()
    for name, array in sorted(state.learner.state().items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    rest = [sorted(map(repr, state.classes.values())), repr(model.log(0, 1000)), state.notes()]
    digest.update(json.dumps([state.version, rest, repr(state.facts)]).encode())
    return digest.hexdigest()


def make(folder: Path) -> Material:
    """Teach a model; keep its files as they were between lessons, with the WAL emptied and without."""
    path = folder / f"{NAME}.sqlite"
    Database.create(path, ModelFacts(NAME, "i2cansay", {}, None, 2, 0.0))
    files: list[Files] = []
    versions: set[str] = set()
    rng = np.random.default_rng(0)
    for lesson in range(6):
        model = ServedModel(path, Limits(), ServiceMetrics())
        versions.add(fingerprint(model))
        sweep, model._database.sweep = model._database.sweep, lambda: True  # type: ignore[method-assign]
        labels = tuple(f"class {number}" for number in range(2 + lesson)) * 2
        X = rng.normal(size=(len(labels), WIDTH)).astype(np.float32)
        model.teach(Learn(X, labels, key=b"%d" % lesson)).result()
        versions.add(fingerprint(model))
        # As after a crash between the commit and the emptying of the WAL, and as after it.
        files.append(Files(path.read_bytes(), path.with_name(f"{path.name}-wal").read_bytes()))
        sweep()
        files.append(Files(path.read_bytes()))
        model.close()
    return Material(tuple(files), frozenset(versions))


def mutate(data: bytes, older: bytes, kind: str, rng: np.random.Generator) -> bytes:
    """Return bytes with one kind of damage."""
    if not data:
        return data
    harmed = bytearray(data)
    start = int(rng.integers(len(data)))
    if kind.startswith("flip"):
        for place in rng.integers(len(data), size=1 if kind == "flip" else 30):
            harmed[place] ^= 1 << int(rng.integers(8))
    elif kind == "cut":
        del harmed[start:]
    elif kind in ("zero", "noise"):
        length = min(int(rng.integers(1, 2 * PAGE)), len(data) - start)
        harmed[start : start + length] = bytes(length) if kind == "zero" else rng.bytes(length)
    elif kind == "longer":
        harmed += rng.bytes(int(rng.integers(1, 3 * PAGE)))
    else:
        ours, theirs = (int(rng.integers(len(data) // PAGE or 1)) * PAGE for _ in range(2))
        source = older if kind == "splice" else data
        if kind == "splice":
            theirs = ours
        harmed[ours : ours + PAGE] = source[theirs : theirs + PAGE]
        if kind == "swap":
            harmed[theirs : theirs + PAGE] = data[ours : ours + PAGE]
    return bytes(harmed)


def case(material: Material, number: int, seed: int) -> tuple[str, Files]:
    """Return the number-th mutated files, and what was done to them."""
    rng = np.random.default_rng([seed, number])
    kind = KINDS[number % len(KINDS)]
    chosen = int(rng.integers(4, len(material.files)))
    files = material.files[chosen]
    older = material.files[chosen - 2]
    if files.wal and rng.random() < 0.7:
        return f"WAL, {kind}", Files(files.database, mutate(files.wal, older.wal, kind, rng))
    return f"file, {kind}", Files(mutate(files.database, older.database, kind, rng), files.wal)


def verdict(folder: Path, files: Files, versions: frozenset[str]) -> str:
    """Return what comes of files: "named as damaged", "a committed version", or what is wrong."""
    path = folder / "models" / f"{NAME}.sqlite"
    path.parent.mkdir(exist_ok=True)
    files.write(path)
    finding = next(finding for finding in examine(folder) if finding.name == path.name)
    try:
        model = ServedModel(path, Limits(), ServiceMetrics())
    except Damaged as error:
        if finding.well:
            return f"WRONG: doctor finds it well, the service says {error}"
        return "named as damaged" if str(error) else "WRONG: no sentence"
    try:
        found = fingerprint(model)
    finally:
        model.close()
    if not finding.well:
        return f"WRONG: the service opens it, doctor says {finding.sentence}"
    return "a committed version" if found in versions else "WRONG: a version that never was"


def peak_bytes() -> int:
    """Return the most memory this process ever had in use."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _work(pipe: Connection, material: Material, seed: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        for files in material.files[4:]:
            assert verdict(Path(name), files, material.versions) == "a committed version"
        usual = peak_bytes()
        while (number := pipe.recv()) is not None:
            done, files = case(material, number, seed)
            try:
                told = verdict(Path(name), files, material.versions)
            except Exception as error:
                told = f"WRONG: {type(error).__name__}: {error}"
            pipe.send((done, told, peak_bytes() / usual))


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        material = make(Path(name))
    outcomes: Counter[tuple[str, str]] = Counter()
    most, slowest, worker = 0.0, 0.0, None
    context = multiprocessing.get_context("spawn")
    for number in range(options.files):
        if worker is None:
            pipe, end = context.Pipe()
            worker = context.Process(target=_work, args=(end, material, options.seed), daemon=True)
            worker.start()
            end.close()
            waited = PATIENCE  # it starts
        began = time.monotonic()
        pipe.send(number)
        try:
            if not pipe.poll(PATIENCE + waited):
                raise TimeoutError
            done, told, grown = pipe.recv()
            most = max(most, grown)
        except (EOFError, TimeoutError) as error:
            done, told = case(material, number, options.seed)[0], f"WRONG: {type(error).__name__}"
            worker.kill()
            worker = None
        if not waited:
            slowest = max(slowest, time.monotonic() - began)
        waited = 0.0
        outcomes[done, told] += 1
        if told.startswith("WRONG"):
            print(f"number {number}: {done}: {told}", flush=True)
    for (done, told), count in sorted(outcomes.items()):
        print(f"{count:5d}  {done:18s}  {told}")
    wrong = sum(count for (_, told), count in outcomes.items() if told.startswith("WRONG"))
    damaged = sum(count for (_, told), count in outcomes.items() if told == "named as damaged")
    print(
        f"{options.files} files: {damaged} named as damaged, {options.files - damaged - wrong} a committed version, "
        f"{wrong} wrong; peak memory {most:.2f} times the usual, the slowest took {slowest:.2f} s"
    )
    return int(wrong > 0 or most > 2)


if __name__ == "__main__":
    sys.exit(main())
