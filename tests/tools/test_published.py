"""What is published is declared, and is replaced by records of one clean commit only."""

from dataclasses import replace
from pathlib import Path

import published
import pytest

from i2cansay.experiments import Record, load_records, pack_records
from i2cansay.experiments.declare.choice import Choice
from tests.experiments.claims.made_records import records_of

OLD, NEW = "0123456789ab", "ba9876543210"


def of_commit(commit: str | None, seeds: range) -> list[Record]:
    records = records_of("table4", lambda row, column: (500, 1), seeds, n_test=100)
    return [replace(record, commit=commit) for record in records]


def plays(folder: Path) -> list[published.Play]:
    choice = Choice(encoder="eyes")
    return [published.Play(folder / f"{name}.jsonl", "table4", choice) for name in ("first", "second")]


def test_every_published_record_of_a_table_is_of_a_declared_play() -> None:
    """A record that no play shows would never be played again."""
    declared = published.load_plays()
    records = published.published_records(declared)
    everything = [record for found in records.values() for record in found]
    shown = {record.key for play in declared for record in play.records(everything)}
    left = {file.name: len([r for r in found if r.key not in shown]) for file, found in records.items()}
    assert {name: n for name, n in left.items() if n} == {}


def test_records_are_put_in_place_of_those_of_the_same_cells(tmp_path: Path) -> None:
    old, new = of_commit(OLD, range(3)), of_commit(NEW, range(1))
    first, second = (play.file for play in plays(tmp_path))
    files = published.packed(plays(tmp_path), new, {first: old, second: []})
    assert len(files[first]) == len(old)
    assert not files[second], "the first file that shows a record has it"
    unseen = [replace(record, key="made with other defaults", parameters={"lr": 9}) for record in old[:1]]
    assert published.packed(plays(tmp_path), [], {first: old, second: unseen}) == {first: old, second: []}
    commits = {record.seed: record.commit for record in files[first]}
    assert commits == {0: NEW, 1: OLD, 2: OLD}


@pytest.mark.parametrize(
    ("commits", "said"),
    [((OLD, NEW), f"{OLD}, {NEW}"), ((f"{OLD}-dirty",), f"{OLD}-dirty"), ((None,), "no commit")],
)
def test_records_of_several_commits_or_of_changed_trees_are_refused(
    commits: tuple[str | None, ...], said: str
) -> None:
    records = [record for commit in commits for record in of_commit(commit, range(1))]
    with pytest.raises(ValueError, match=f"one clean commit, got those of {said}$"):
        published.only_commit(records)


def test_a_folder_of_another_commit_is_not_played_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack_records(of_commit(OLD, range(1)), tmp_path / "records.jsonl")
    monkeypatch.setattr(published, "commit", lambda: NEW)
    with pytest.raises(ValueError, match=f"has records of {OLD}, and this tree is {NEW}"):
        published.play_all(plays(tmp_path), tmp_path, jobs=1)
    monkeypatch.setattr(published, "commit", lambda: f"{OLD}-dirty")
    with pytest.raises(ValueError, match="this tree is 0123456789ab-dirty"):
        published.play_all(plays(tmp_path), tmp_path, jobs=1)


def test_packing_writes_the_files_and_says_what_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(published, "load_plays", lambda: plays(tmp_path))
    pack_records(of_commit(OLD, range(2)), tmp_path / "first.jsonl")
    pack_records(of_commit(NEW, range(1)), tmp_path / "played" / "records.jsonl")
    assert published.main(["--pack", str(tmp_path / "played")]) == 0
    kept = load_records(tmp_path / "first.jsonl")
    n_old = sum(record.commit == OLD for record in kept)
    assert 0 < n_old < len(kept)
    assert f"first.jsonl: {len(kept)} records, {n_old} of them of 1 older commits" in capsys.readouterr().out


def test_the_plan_counts_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(published, "load_plays", lambda: plays(tmp_path)[:1])
    pack_records(of_commit(OLD, range(20)), tmp_path / "first.jsonl")
    assert published.main(["--plan", "--jobs", "2"]) == 0
    nothing = capsys.readouterr().out
    assert published.main(["--plan", str(tmp_path), "--jobs", "2"]) == 0
    everything = capsys.readouterr().out
    assert "| table4, encoder eyes | 0 | 110 |" in nothing
    assert "| table4, encoder eyes | 110 | 0 | 0.00 |" in everything
