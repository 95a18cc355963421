"""Files that are not what was written: whatever they make their readers raise, one model is set aside."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from i2cansay.service.diagnosis import back_up, examine
from i2cansay.service.limits import Limits
from i2cansay.service.model.requests import Learn
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.service import Service
from i2cansay.service.service_metrics import ServiceMetrics
from i2cansay.service.storage.blocks import sealed
from i2cansay.service.storage.database import Changes, Damaged, Database
from i2cansay.service.storage.model_records import ModelFacts
from tests.service.material import rows, teach
from tests.service.storage.test_disk import taught_folder

TABLES = ("blocks", "classes", "receipts", "log", "facts", "manifest")


def set_aside(folder: Path) -> str:
    """Start a service on a folder with one ill model; return what it says, once doctor and backup have agreed."""
    service = Service(folder, encoder="pixels")
    try:
        assert list(service.models) == ["good"]
        assert teach(service.models["good"], ["a"], np.random.default_rng(0)).learnt == 1
        sentence = service.damaged["ill"]
    finally:
        service.close()
    findings = {finding.name: finding for finding in examine(folder)}
    assert findings["good.sqlite"].well
    assert (findings["ill.sqlite"].well, bool(findings["ill.sqlite"].sentence)) == (False, True)
    assert [path.name for path in back_up(folder, folder / "copies")] == ["good.sqlite"]
    return sentence


def test_a_flipped_byte_in_the_schema_harms_one_model(tmp_path: Path) -> None:
    folder, path = taught_folder(tmp_path)
    whole = path.read_bytes()
    for word in (b"CREATE TABLE classes", b"tableblocks", b"tablelog"):
        position = whole.index(word) + len(word) - 1
        path.write_bytes(whole[:position] + b"\xff" + whole[position + 1 :])  # no UTF-8
        assert set_aside(folder)


@pytest.mark.parametrize(
    "error",
    [
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        OverflowError("Python int too large to convert to SQLite INTEGER"),
        MemoryError(),
        RecursionError("maximum recursion depth exceeded"),
        json.JSONDecodeError("Expecting value", "", 0),
        sqlite3.DatabaseError("database disk image is malformed"),
        sqlite3.InterfaceError("bad parameter or other API misuse"),
        AttributeError("'int' object has no attribute 'keys'"),
        PermissionError(13, "Permission denied"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_file_makes_its_reader_raise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    folder, _ = taught_folder(tmp_path)
    real = Database.facts

    def facts(database: Database) -> ModelFacts:
        found = real(database)
        if found.name == "ill":
            raise error
        return found

    monkeypatch.setattr(Database, "facts", facts)
    sentence = set_aside(folder)
    assert sentence.startswith(("is damaged: ", "cannot be read: "))
    assert sentence.endswith(str(error) or "MemoryError")


def forge(path: Path, text: str) -> None:
    """Put another manifest into a file, with its digest."""
    connection = sqlite3.connect(path)
    connection.execute("UPDATE manifest SET text = ?, seal = ?", (text, sealed(text)))
    connection.commit()
    connection.close()


def manifest_of(path: Path) -> dict[str, dict[str, list[object]]]:
    connection = sqlite3.connect(path)
    ((text,),) = connection.execute("SELECT text FROM manifest")
    connection.close()
    found: dict[str, dict[str, list[object]]] = json.loads(text)
    return found


SHAPES = ([10**12], [10**12, 0], [2**62, 4], [-1], [1e300], ["a"], [None])


def test_forged_manifests(tmp_path: Path) -> None:
    folder, path = taught_folder(tmp_path)
    manifest = manifest_of(path)
    forged = ["[" * 100_000, "{}", "null", '{"version": 1e999}', "1" * 5000]
    for shape in SHAPES:
        arrays = {**manifest["arrays"], "moments.mean": ["<f8", shape]}
        forged.append(json.dumps({**manifest, "arrays": arrays}))
    for text in forged:
        forge(path, text)
        assert set_aside(folder)


def test_absurd_sizes_are_not_allocated(tmp_path: Path) -> None:
    folder, path = taught_folder(tmp_path)
    manifest = manifest_of(path)
    shapes = (("<f8", [10**12, 0]), ("|u1", [10**10]), ("<f8", [0, 10**12]))
    for kind, shape in shapes:
        forge(path, json.dumps({**manifest, "arrays": {name: [kind, shape] for name in manifest["arrays"]}}))
        tracemalloc.start()
        try:
            assert [finding.well for finding in examine(folder)] == [True, False, True]
            assert tracemalloc.get_traced_memory()[1] < 50e6
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(("number", "word"), [(1, "older"), (99, "newer"), (0, "cannot be read")])
def test_another_format_is_told_from_damage(tmp_path: Path, number: int, word: str) -> None:
    folder, path = taught_folder(tmp_path)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {number}")
    if number == 0:
        connection.execute("DROP TABLE facts")
    connection.commit()
    connection.close()
    assert word in set_aside(folder)


# -- one version ------------------------------------------------------------------------------------------------


def version(folder: Path, lessons: int) -> Path:
    """Return the file of a model that was taught some lessons, the same ones each time."""
    folder.mkdir()
    path = folder / "tested.sqlite"
    Database.create(path, ModelFacts("tested", "i2cansay", {}, None, 2, created=float(lessons)))
    model = ServedModel(path, Limits(), ServiceMetrics())
    rng = np.random.default_rng(0)
    for number in range(lessons):
        labels = ("a", "a", "b", "b")
        model.teach(Learn(rows(labels, rng), labels, key=b"key %d" % number)).result()
    model.close()
    return path


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("versions")
    return version(folder / "older", 1), version(folder / "newer", 2)


MIXTURES = [tables for size in range(1, len(TABLES)) for tables in combinations(TABLES, size)]


@pytest.mark.parametrize("tables", MIXTURES, ids="+".join)
def test_a_file_is_of_one_version(
    tmp_path: Path, versions: tuple[Path, Path], tables: tuple[str, ...]
) -> None:
    older, newer = versions
    path = tmp_path / "tested.sqlite"
    path.write_bytes(newer.read_bytes())
    connection = sqlite3.connect(path)
    connection.execute("ATTACH ? AS older", (str(older),))
    for table in tables:
        connection.execute(f"DELETE FROM main.{table}")
        connection.execute(f"INSERT INTO main.{table} SELECT * FROM older.{table}")
    connection.commit()
    connection.close()
    with pytest.raises(Damaged, match="not of the same version"):
        ServedModel(path, Limits(), ServiceMetrics())


def test_single_blocks_of_an_older_version(tmp_path: Path, versions: tuple[Path, Path]) -> None:
    older, newer = versions
    read = sqlite3.connect(older)
    blocks = read.execute("SELECT * FROM blocks").fetchall()
    read.close()
    harmed = 0
    for block in blocks:
        path = tmp_path / "tested.sqlite"
        path.write_bytes(newer.read_bytes())
        connection = sqlite3.connect(path)
        if block in connection.execute("SELECT * FROM blocks").fetchall():
            connection.close()
            continue
        connection.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?)", block)
        connection.commit()
        connection.close()
        with pytest.raises(Damaged):
            ServedModel(path, Limits(), ServiceMetrics())
        harmed += 1
    assert harmed > 3


@pytest.mark.parametrize("table", ["classes", "receipts", "log", "blocks"])
def test_a_missing_row_is_noticed(tmp_path: Path, versions: tuple[Path, Path], table: str) -> None:
    path = tmp_path / "tested.sqlite"
    path.write_bytes(versions[1].read_bytes())
    connection = sqlite3.connect(path)
    connection.execute(f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})")
    connection.commit()
    connection.close()
    with pytest.raises(Damaged, match=f"its {table} and its manifest"):
        ServedModel(path, Limits(), ServiceMetrics())


def test_counts_are_those_of_the_learner(tmp_path: Path, versions: tuple[Path, Path]) -> None:
    path = tmp_path / "tested.sqlite"
    path.write_bytes(versions[1].read_bytes())
    database = Database(path)
    contents = database.read()
    contents.state["moments.count"][0] += 1
    changed = {**contents.state, "moments.count": contents.state["moments.count"].copy()}
    database._written = {}
    database.commit(contents.version + 1, changed, contents.notes, Changes())
    database.close()
    with pytest.raises(Damaged, match="4 samples in the table and 5 in the learner"):
        ServedModel(path, Limits(), ServiceMetrics())


def test_a_forged_learner_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "tested.sqlite"
    Database.create(path, ModelFacts("tested", "ranpac", {"n_projections": 10**6}, None, 2, 0.0))
    with pytest.raises(Damaged, match="would keep"):
        ServedModel(path, Limits(), ServiceMetrics())
