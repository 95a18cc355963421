import json
from dataclasses import replace
from pathlib import Path

import pytest

from i2cansay.experiments.declare.cell import hash_of
from i2cansay.experiments.run.record_folder import RecordFolder, load_records, pack_records
from tests.experiments.samples import CELL, make_record


def test_what_was_put_is_got(tmp_path: Path) -> None:
    folder, record = RecordFolder(tmp_path), make_record()
    folder.put(record)
    got = folder.get(CELL, "f")
    assert got is not None
    assert got.to_json() == record.to_json()


def test_a_missing_record_is_none(tmp_path: Path) -> None:
    assert RecordFolder(tmp_path).get(CELL, "f") is None


def test_a_corrupt_record_is_reported_and_counts_as_missing(tmp_path: Path) -> None:
    folder, record, said = RecordFolder(tmp_path), make_record(), list[str]()
    folder.put(record)
    file = folder.file_of(record.key)
    file.write_text(file.read_text()[:-40])
    assert folder.get(CELL, "f", report=said.append) is None
    assert len(said) == 1
    assert "is damaged and will be made again" in said[0]


def test_a_record_under_another_name_is_not_believed(tmp_path: Path) -> None:
    folder, said = RecordFolder(tmp_path), list[str]()
    first, second = make_record(seed=0), make_record(seed=1)
    folder.put(first)
    folder.file_of(first.key).rename(folder.file_of(second.key))
    assert folder.get(replace(CELL, seed=1), "f", report=said.append) is None
    assert "another cell" in said[0]


def test_load_reads_files_and_lines_and_each_cell_once(tmp_path: Path) -> None:
    records = [make_record(seed=seed) for seed in range(3)]
    RecordFolder(tmp_path / "running").put(records[0])
    pack_records(records, tmp_path / "packed.jsonl")
    assert sorted(record.seed for record in load_records(tmp_path)) == [0, 1, 2]


def test_load_leaves_corrupt_records_out_and_says_so(tmp_path: Path) -> None:
    pack_records([make_record(seed=seed) for seed in range(3)], tmp_path / "packed.jsonl")
    lines = (tmp_path / "packed.jsonl").read_text().splitlines()
    lines[1] = lines[1].replace('"seconds":1.5', '"seconds":0.1')
    (tmp_path / "packed.jsonl").write_text("\n".join(lines))
    said: list[str] = []
    assert sorted(record.seed for record in load_records(tmp_path, report=said.append)) == [0, 2]
    assert "packed.jsonl, line 2 is damaged" in said[0]
    with pytest.raises(ValueError, match="line 2 is damaged"):
        load_records(tmp_path)


def test_a_file_of_another_kind_is_named_once(tmp_path: Path) -> None:
    RecordFolder(tmp_path).put(make_record())
    (tmp_path / "study.jsonl").write_text('{"table": "widths"}\n' * 300)
    said: list[str] = []
    assert len(load_records(tmp_path, report=said.append)) == 1
    assert said == [f"{tmp_path / 'study.jsonl'} holds no record in 300 lines and is left out"]


def test_packing_does_not_depend_on_the_order(tmp_path: Path) -> None:
    records = [make_record(seed=seed) for seed in range(4)]
    pack_records(records, tmp_path / "a")
    pack_records(records[::-1], tmp_path / "b")
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()


def test_no_records_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make some with `i2cansay reproduce`"):
        load_records(tmp_path / "nowhere")


def test_a_record_made_with_other_defaults_is_not_believed(tmp_path: Path) -> None:
    folder, record, said = RecordFolder(tmp_path), make_record(), list[str]()
    folder.put(replace(record, parameters={**record.parameters, "lr": 9.0}))
    assert folder.get(CELL, "f", report=said.append) is None
    assert "made with other defaults of naive" in said[0]


def test_a_parameter_that_came_later_does_not_matter(tmp_path: Path) -> None:
    folder, record = RecordFolder(tmp_path), make_record()
    older = {name: value for name, value in record.parameters.items() if name != "momentum"}
    folder.put(replace(record, parameters=older))
    assert folder.get(CELL, "f") is not None


def test_packing_hands_on_what_was_written_and_not_what_this_version_would_write(tmp_path: Path) -> None:
    RecordFolder(tmp_path).put(make_record())
    (file,) = tmp_path.glob("*.json")
    values = json.loads(file.read_text())
    values["outcome"]["of_another_version"] = 1
    values.pop("checksum")
    file.write_text(json.dumps({**values, "checksum": hash_of(values)}))
    pack_records(load_records(tmp_path), tmp_path / "packed" / "all.jsonl")
    assert (tmp_path / "packed" / "all.jsonl").read_text().strip() == file.read_text()
