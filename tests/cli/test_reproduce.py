from pathlib import Path
from unittest.mock import patch

import pytest
from typer.testing import CliRunner, Result

from i2cansay.cli import app
from i2cansay.engines import LocalEngine
from i2cansay.learners import LEARNERS

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("I2CANSAY_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def test_reproduce_report_and_verify_on_digits(tmp_path: Path) -> None:
    done = run("reproduce", "table4", "--dataset", "digits", "--seeds", "2", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "Table 4: components; on digits, which is not the paper's" in done.output
    assert len(list((tmp_path / "i2cansay-records").glob("*.json"))) == 14

    shown = run("report", "i2cansay-records")
    assert shown.exit_code == 0, shown.output
    assert "ICAN + ISAY" in shown.output

    written = run("report", "i2cansay-records", "--html", "r.html", "--markdown", "r.md", "--pack", "packed")
    assert written.exit_code == 0, written.output
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "packed" / "table4.jsonl").is_file()

    checked = run("verify", "packed")
    assert checked.exit_code == 0, checked.output
    assert "14 records of digits: the paper claims nothing about this data set" in checked.output
    assert "i2cansay reproduce table4" in checked.output


def test_rows_that_are_not_built_do_not_change_the_exit_code() -> None:
    rows = ("--rows", "cope", "--rows", "naive")
    with patch.dict(LEARNERS):  # puts back the order too, which tables of learners follow
        del LEARNERS["cope"]
        done = run("reproduce", "table1", "--dataset", "digits", *rows, "--seeds", "1", "--jobs", "1")
    assert done.exit_code == 0, done.output
    (line,) = [line for line in done.output.splitlines() if line.strip().startswith("CoPE")]
    assert line.count("not built yet") == 4


def test_all_leaves_out_tables_without_the_row() -> None:
    words = ("--dataset", "digits", "--rows", "ican_isay", "--seeds", "1", "--jobs", "1")
    done = run("reproduce", "all", *words)
    assert done.exit_code == 0, done.output
    assert "Table 4: components" in done.output
    assert "Table 5" not in done.output
    assert "table5 is left out: it has no row ican_isay" in done.output
    assert "dimensions is left out" in done.output


def test_a_report_takes_fraction_and_seeds_from_the_records(tmp_path: Path) -> None:
    run("reproduce", "table4", "--dataset", "digits", "--fraction", "0.5", "--seeds", "2", "--jobs", "1")
    shown = run("report", "i2cansay-records", "--html", "r.html", "--markdown", "r.md")
    assert shown.exit_code == 0, shown.output
    command = "i2cansay reproduce table4 --dataset digits --encoder pixels --fraction 0.5 --seeds 2"
    for file in ("r.html", "r.md"):
        text = (tmp_path / file).read_text()
        assert command in text
        assert "50% of the training data" in text
        assert "Last accuracy, %" in text
    fewer = run("report", "i2cansay-records", "--seeds", "1", "--markdown", "r.md")
    assert fewer.exit_code == 0, fewer.output
    assert "--fraction 0.5 --seeds 1" in (tmp_path / "r.md").read_text()
    none = run("report", "i2cansay-records", "--fraction", "0.25")
    assert isinstance(none.exception, ValueError)
    assert "they fill none of the declared tables with --fraction 0.25" in str(none.exception)


def test_data_names_the_folder_of_the_data_set(tmp_path: Path) -> None:
    for split in ("train", "test"):
        for level in range(5):
            folder = tmp_path / "own" / split / f"grey{level}"
            folder.mkdir(parents=True)
            for number in range(4):
                Image.new("RGB", (8, 8), (50 * level + number,) * 3).save(folder / f"{number}.png")
    words = (
        "--dataset",
        "image_folder",
        "--encoder",
        "pixels",
        "--rows",
        "ican",
        "--seeds",
        "1",
        "--jobs",
        "1",
    )
    missing = run("reproduce", "table4", *words)
    assert isinstance(missing.exception, ValueError)
    assert "--data FOLDER" in str(missing.exception)
    done = run("reproduce", "table4", *words, "--data", str(tmp_path / "own"))
    assert done.exit_code == 0, done.output
    assert "on image_folder" in done.output
    played = run("demo", *words[:4], "--data", str(tmp_path / "own"), "--plot", "p.png", "--stream", "step:1")
    assert played.exit_code == 0, played.output
    assert "image_folder (20 train, 20 test)" in played.output


def test_a_second_run_plays_nothing(tmp_path: Path) -> None:
    words = (
        "reproduce",
        "table6",
        "--dataset",
        "digits",
        "--rows",
        "i2cansay",
        "--seeds",
        "1",
        "--jobs",
        "1",
    )
    run(*words)
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "i2cansay-records").glob("*.json")}
    assert run(*words).exit_code == 0
    assert before == {
        file: file.stat().st_mtime_ns for file in (tmp_path / "i2cansay-records").glob("*.json")
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("reproduce", "table9"), "there is no table 'table9'"),
        (("reproduce", "table4", "--rows", "gpt"), "table4 has no row gpt"),
        (("reproduce", "table4", "--backbone", "vgg"), "table4 has no backbone 'vgg'"),
        (("reproduce", "table4", "--encoder", "pixels"), "cifar100 was not found"),
        (
            ("reproduce", "table4", "--fraction", "0"),
            "a share of the training data, got 0;",
        ),
        (
            ("reproduce", "table4", "--fraction", "1.5"),
            "above 0 and at most 1, a share of the training data, got 1.5",
        ),
        (
            ("reproduce", "table2", "--dataset", "core50", "--encoder", "pixels"),
            "--stand-in plays its columns",
        ),
        (("reproduce", "all", "--rows", "gpt"), "no table has a row gpt"),
        (("verify", ".", "--allow", "best-beta:nonsense"), "there is no claim best-beta:nonsense"),
        (("report", "nowhere"), "there are no records at nowhere"),
        (("verify", "nowhere"), "there are no records at nowhere"),
        (("verify", ".", "--allow", "gravity"), "there is no claim gravity"),
        (("verify", "."), "there is no usable record in ."),
        (("report", "."), "there is no usable record in ."),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], message: str) -> None:
    result = run(*words)
    assert isinstance(result.exception, (ValueError, OSError))
    assert message in str(result.exception)
    assert not result.stdout, "nothing is printed before the input is checked"


def test_a_corrupt_record_makes_the_exit_code_1(tmp_path: Path) -> None:
    run("reproduce", "table4", "--dataset", "digits", "--rows", "ican", "--seeds", "1", "--jobs", "1")
    (file,) = (tmp_path / "i2cansay-records").glob("*.json")
    good = file.read_text()
    (tmp_path / "i2cansay-records" / "other.json").write_text(good.replace('"seconds":', '"seconds":1'))
    assert run("report", "i2cansay-records").exit_code == 1
    assert run("verify", "i2cansay-records").exit_code == 1


def test_a_plan_plays_nothing_and_then_knows_the_times(tmp_path: Path) -> None:
    words = ("reproduce", "table4", "--dataset", "digits", "--seeds", "2", "--jobs", "1")
    before = run(*words, "--plan")
    assert before.exit_code == 0, before.output
    assert "14 cells to play have no earlier record" in before.output
    assert not (tmp_path / "i2cansay-records").exists()

    assert run(*words).exit_code == 0
    after = run(*words[:-3], "3", *words[-2:], "--plan")
    (total,) = [line.split() for line in after.output.splitlines() if line.strip().startswith("all rows")]
    assert total[2:4] == ["14", "7"]
    assert "about 0.00 hours of wall-clock time with 1 process," in after.output

    elsewhere = run(*words, "--plan", "--records", "none", "--times", "i2cansay-records")
    assert "no earlier record" not in elsewhere.output


def test_a_plan_counts_the_processors_of_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cluster(LocalEngine):
        workers = 7

    asked: list[str | None] = []

    def opened(name: str, address: str | None = None) -> LocalEngine:
        asked.append(address)
        return Cluster()

    monkeypatch.setattr("i2cansay.engines.open_engine", opened)
    monkeypatch.setattr("i2cansay.engines.ray_cluster.find_ray", lambda: None)
    words = ("reproduce", "table4", "--dataset", "digits", "--plan", "--engine", "ray", "--address", "h:6379")
    done = run(*words)
    assert done.exit_code == 0, done.output
    assert "with 7 processes" in done.output
    assert set(asked) == {"h:6379"}


def test_times_belong_to_a_plan() -> None:
    done = run("reproduce", "table4", "--dataset", "digits", "--times", ".")
    assert isinstance(done.exception, ValueError)
    assert "--times is for --plan" in str(done.exception)
