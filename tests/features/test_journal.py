import json
from pathlib import Path

import pytest

from i2cansay.features.journal import Journal


def test_written_and_read_back(tmp_path: Path) -> None:
    journal = Journal(batch_rows=4, chunk_rows=8).advanced(8, 1).advanced(3, 2)
    journal.write(tmp_path / "journal.json")
    assert Journal.read(tmp_path / "journal.json") == journal
    assert journal.committed == 11


def test_a_checksum_of_the_header_is_kept_and_may_be_absent(tmp_path: Path) -> None:
    path = tmp_path / "journal.json"
    journal = Journal(4, 8, header_checksum=123).advanced(8, 1)
    journal.write(path)
    assert Journal.read(path) == journal
    values = json.loads(path.read_text())
    del values["header_checksum"]
    path.write_text(json.dumps(values))
    assert Journal.read(path) == Journal(4, 8, 8, (1,))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"batch_rows": 4, "chunk_rows": 8, "committed": 9, "checksums": [1]}',
        '{"batch_rows": 4, "chunk_rows": 0, "committed": 0, "checksums": []}',
        '{"batch_rows": 4, "chunk_rows": 8, "committed": "x", "checksums": []}',
        '{"batch_rows": 4, "chunk_rows": 8, "committed": 0, "checksums": [], "header_checksum": "x"}',
    ],
)
def test_a_journal_that_contradicts_itself_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "journal.json").write_text(text)
    with pytest.raises(ValueError, match=r"journal\.json"):
        Journal.read(tmp_path / "journal.json")
