from pathlib import Path

import pytest

from i2cansay.features.journal import Journal


def test_written_and_read_back(tmp_path: Path) -> None:
    journal = Journal(batch_rows=4, chunk_rows=8).advanced(8, 1).advanced(3, 2)
    journal.write(tmp_path / "journal.json")
    assert Journal.read(tmp_path / "journal.json") == journal
    assert journal.committed == 11


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"batch_rows": 4, "chunk_rows": 8, "committed": 9, "checksums": [1]}',
        '{"batch_rows": 4, "chunk_rows": 0, "committed": 0, "checksums": []}',
        '{"batch_rows": 4, "chunk_rows": 8, "committed": "x", "checksums": []}',
    ],
)
def test_a_journal_that_contradicts_itself_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "journal.json").write_text(text)
    with pytest.raises(ValueError, match=r"journal\.json"):
        Journal.read(tmp_path / "journal.json")
