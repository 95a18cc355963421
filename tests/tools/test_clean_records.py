from pathlib import Path

import pytest
from clean_records import FOLDERS, main, unclean


def write(folder: Path, *lines: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "table.jsonl").write_text("".join(f"{line}\n" for line in lines))


def test_records_of_clean_commits_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, '{"commit": "8b2609c1a2b3"}')
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("line", ['{"commit": "8b2609c1a2b3-dirty"}', '{"commit": null}', "{}"])
def test_records_that_nobody_can_play_again_are_named(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, '{"commit": "8b2609c1a2b3"}', line, line)
    assert main([str(tmp_path)]) == 1
    assert "table.jsonl: 2 records of" in capsys.readouterr().err


@pytest.mark.skipif(not all(folder.is_dir() for folder in FOLDERS), reason="no records here")
def test_what_is_published_is_clean() -> None:
    assert list(unclean(FOLDERS)) == []
