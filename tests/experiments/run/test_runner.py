import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from i2cansay.evaluate import last_accuracy
from i2cansay.experiments import Cell, Record, load_records, run_cells
from i2cansay.experiments.run.record_folder import pack_records
from i2cansay.experiments.run.run_progress import RunMoment
from i2cansay.experiments.run.runner import CellsFailed

RUN = """
import json, os, sys
from i2cansay.experiments.run import workers
from i2cansay.experiments import Cell, run_cells

play = workers.play_cell

def count(cell, features, bookmark):
    with open(sys.argv[1] + ".plays", "a") as file:
        file.write(f"{cell.seed} {os.getpid()}\\n")
    return play(cell, features)

workers.play_cell = count
if __name__ == "__main__":
    folder, jobs, cells = sys.argv[1], int(sys.argv[2]), [Cell(**cell) for cell in json.loads(sys.argv[3])]
    run_cells(cells, folder, jobs=jobs)
"""


def cells_of(source: tuple[str, str], n: int, **more: object) -> list[Cell]:
    return [Cell(*source, "step:1", "i2cansay", seed=seed, **more) for seed in range(n)]  # type: ignore[arg-type]


def start(tmp_path: Path, folder: Path, jobs: int, cells: list[Cell]) -> subprocess.Popen[bytes]:
    script = tmp_path / "run_these.py"
    script.write_text(RUN)
    listed = json.dumps([{**cell.__dict__, "parameters": dict(cell.parameters)} for cell in cells])
    command = [sys.executable, str(script), str(folder), str(jobs), listed]
    return subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})


def results(records: list[Record]) -> list[object]:
    return [
        (r.key, r.outcome.checkpoints, r.predictions.tolist()) for r in sorted(records, key=lambda r: r.key)
    ]


def test_cells_of_a_packed_file_are_finished(blobs: tuple[str, str], tmp_path: Path) -> None:
    first = run_cells(cells_of(blobs, 2), tmp_path / "r", jobs=1)
    pack_records(first, tmp_path / "packed" / "table.jsonl")
    second = run_cells(cells_of(blobs, 3), tmp_path / "packed", jobs=1)
    assert [r.to_json() for r in second[:2]] == [r.to_json() for r in first]
    assert [file.stem for file in (tmp_path / "packed").glob("*.json")] == [second[2].key]
    other = run_cells(cells_of(blobs, 1, parameters={"beta": 1.5}), tmp_path / "packed", jobs=1)
    assert other[0].key not in {record.key for record in second}
    again = run_cells(cells_of(blobs, 1), tmp_path / "packed", jobs=1, again=True)
    assert (tmp_path / "packed" / f"{again[0].key}.json").is_file()


def test_a_finished_cell_is_not_played_again(blobs: tuple[str, str], tmp_path: Path) -> None:
    moments: list[RunMoment] = []
    first = run_cells(cells_of(blobs, 2), tmp_path / "r", jobs=1)
    times = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "r").glob("*.json")}
    second = run_cells(cells_of(blobs, 3), tmp_path / "r", jobs=1, progress=moments.append)
    assert [r.to_json() for r in second[:2]] == [r.to_json() for r in first]
    assert all((tmp_path / "r" / name).stat().st_mtime_ns == at for name, at in times.items())
    assert (moments[-1].done, moments[-1].total, moments[-1].reused) == (1, 1, 2)


def test_records_come_in_the_order_of_the_cells_and_repeats_share_one(
    blobs: tuple[str, str], tmp_path: Path
) -> None:
    cells = cells_of(blobs, 3)
    records = run_cells([cells[2], cells[0], cells[2]], tmp_path, jobs=1)
    assert [record.seed for record in records] == [2, 0, 2]
    assert len(list(tmp_path.glob("*.json"))) == 2


def test_a_changed_parameter_makes_a_new_cell(blobs: tuple[str, str], tmp_path: Path) -> None:
    for beta in (2.0, 1.0, 2.0):
        run_cells(cells_of(blobs, 1, parameters={"beta": beta}), tmp_path / "r", jobs=1)
    assert len(list((tmp_path / "r").glob("*.json"))) == 2


def test_changed_features_make_a_new_cell(blobs: tuple[str, str], tmp_path: Path) -> None:
    run_cells(cells_of(blobs, 1), tmp_path / "r", jobs=1)
    file = tmp_path / "data" / "blobs_made_train.npz"
    with np.load(file) as arrays:
        X, y = arrays["X"], arrays["y"]
    np.savez(file, X=X + 1, y=y)
    run_cells(cells_of(blobs, 1), tmp_path / "r", jobs=1)
    assert len(list((tmp_path / "r").glob("*.json"))) == 2


def test_a_corrupt_record_is_reported_and_redone(blobs: tuple[str, str], tmp_path: Path) -> None:
    (record,) = run_cells(cells_of(blobs, 1), tmp_path / "r", jobs=1)
    (file,) = (tmp_path / "r").glob("*.json")
    file.write_text(file.read_text().replace('"state_bytes":', '"state_bytes":1'))
    said: list[str] = []
    (again,) = run_cells(cells_of(blobs, 1), tmp_path / "r", jobs=1, report=said.append)
    assert "is damaged and will be made again" in said[0]
    assert results([again]) == results([record])
    assert results(load_records(tmp_path / "r")) == results([record])


def test_again_plays_what_is_finished(blobs: tuple[str, str], tmp_path: Path) -> None:
    moments: list[RunMoment] = []
    run_cells(cells_of(blobs, 1), tmp_path, jobs=1)
    run_cells(cells_of(blobs, 1), tmp_path, jobs=1, again=True, progress=moments.append)
    assert moments[-1].total == 1


def test_processes_give_what_one_process_gives(blobs: tuple[str, str], tmp_path: Path) -> None:
    cells = cells_of(blobs, 3)
    alone = run_cells(cells, tmp_path / "alone", jobs=1)
    together = run_cells(cells, tmp_path / "together", jobs=2)
    assert results(together) == results(alone)


def test_one_failing_cell_costs_no_other(blobs: tuple[str, str], tmp_path: Path) -> None:
    good, bad = cells_of(blobs, 1), cells_of(blobs, 1, parameters={"lr": -1.0})
    with pytest.raises(CellsFailed, match=r"1 of the cells failed; the first, i2cansay on blobs.*lr must be"):
        run_cells([*bad, *good], tmp_path, jobs=1)
    assert len(load_records(tmp_path)) == 1


def test_every_learner_sees_the_same_order_and_low_data(blobs: tuple[str, str], tmp_path: Path) -> None:
    cells = [Cell(*blobs, "step:2", name, fraction=0.5, seed=3) for name in ("i2cansay", "naive", "ncm")]
    records = run_cells(cells, tmp_path, jobs=1)
    assert len({str(record.outcome.stream) for record in records}) == 1
    assert len({record.outcome.new_classes for record in records}) == 1
    assert records[0].outcome.checkpoints[-1].samples == 120


def test_the_stand_in_takes_the_first_classes(blobs: tuple[str, str], tmp_path: Path) -> None:
    (record,) = run_cells(cells_of(blobs, 1, n_classes=3), tmp_path, jobs=1)
    assert record.outcome.classes == (0, 1, 2)
    assert last_accuracy(record.outcome) > 0.8


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is of POSIX")
def test_a_killed_run_continues_and_leaves_no_worker(blobs: tuple[str, str], tmp_path: Path) -> None:
    cells, folder = cells_of(blobs, 12, batch_size=1), tmp_path / "r"
    run = start(tmp_path, folder, 2, cells)
    deadline = time.monotonic() + 300
    while not list(folder.glob("*.json")):
        assert time.monotonic() < deadline, "no record appeared"
        time.sleep(0.02)
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    workers = children.read_text().split() if children.exists() else []
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < deadline, "a worker outlived the run"
        time.sleep(0.02)
    finished = {file.name: file.stat().st_mtime_ns for file in folder.glob("*.json")}
    assert 0 < len(finished) < 12, "the run was to be killed in the middle"
    load_records(folder)  # raises if one of them were half written
    records = run_cells(cells, folder, jobs=1)
    assert len(records) == 12
    assert all((folder / name).stat().st_mtime_ns == at for name, at in finished.items())
    assert results(records) == results(run_cells(cells, tmp_path / "undisturbed", jobs=1))


@pytest.mark.skipif(sys.platform == "win32", reason="counts processes as POSIX shows them")
def test_two_runs_on_one_folder_share_the_work(blobs: tuple[str, str], tmp_path: Path) -> None:
    cells, folder = cells_of(blobs, 8, batch_size=1), tmp_path / "r"
    runs = [start(tmp_path, folder, 1, cells) for _ in range(2)]
    assert [run.wait(timeout=300) for run in runs] == [0, 0]
    assert results(load_records(folder)) == results(run_cells(cells, tmp_path / "alone", jobs=1))
    plays = [line.split() for line in Path(f"{folder}.plays").read_text().splitlines()]
    assert sorted(int(seed) for seed, _ in plays) == list(range(8)), "each cell once, by one of the two"
