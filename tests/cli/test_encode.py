import re
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from i2cansay.cli.encode import Meter, encode
from i2cansay.datasets import get_dataset
from i2cansay.features import FeatureStore
from i2cansay.streams import low_data
from tests.cli.shell import refused

pytest.importorskip("PIL")

app = typer.Typer()
app.command()(encode)


def run(folder: Path, *arguments: str) -> str:
    options = ["digits", "--encoder", "pixels", "--size", "4", "--out", str(folder)]
    result = CliRunner().invoke(app, [*options, *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def stores(output: str) -> list[FeatureStore]:
    return [FeatureStore.open(line.rsplit(" ", 1)[1]) for line in output.splitlines()]


def test_both_splits_are_encoded_and_reported(tmp_path: Path) -> None:
    output = run(tmp_path)
    train, test = stores(output)
    assert (len(train), len(test)) == (1352, 445)
    assert re.search(r"digits train: 1352 rows in \d+\.\d s, \d+ images/s, \d+\.\d MB, ", output)


def test_a_second_run_has_nothing_to_do(tmp_path: Path) -> None:
    run(tmp_path, "--split", "test")
    assert "445 rows, all encoded before" in run(tmp_path, "--split", "test")


def test_limit_fraction_and_dtype_are_passed_on(tmp_path: Path) -> None:
    (limited,) = stores(run(tmp_path, "--split", "test", "--limit", "7"))
    assert len(limited) == 7
    (drawn,) = stores(
        run(tmp_path, "--split", "train", "--fraction", "0.1", "--seed", "1", "--dtype", "float32")
    )
    assert drawn.features.dtype == np.float32
    assert np.array_equal(drawn.rows, low_data(get_dataset("digits").labels("train"), 0.1, 1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mnist"], "expected one of digits"),
        (["digits", "--split", "dev"], "has the splits train, test; got 'dev'"),
        (["digits", "--dtype", "int8"], "float16 or float32"),
        (["cifar10", "--data", "nowhere"], "there is no folder nowhere"),
    ],
)
def test_bad_input_raises_a_sentence(tmp_path: Path, arguments: list[str], message: str) -> None:
    command = [*arguments, "--encoder", "pixels", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, command)
    assert isinstance(result.exception, (ValueError, OSError))
    assert message in str(result.exception)


def test_rate_counts_only_this_run() -> None:
    clock = iter([10.0, 10.0, 14.0]).__next__
    meter = Meter(clock)
    meter.update(600, 1000)
    assert meter.note() == "starting"
    meter.update(600, 1000)
    meter.update(1000, 1000)
    assert meter.rate == 100
    assert meter.summary(1000) == "1000 rows, 400 of them encoded now in 4.0 s, 100 images/s"


def test_shards_are_encoded_one_by_one_and_copied_into_one(tmp_path: Path) -> None:
    words = ("--split", "test", "--limit", "100")
    shards = [stores(run(tmp_path, *words, "--shard", f"{number}/3"))[0] for number in (1, 2, 3)]
    assert [shard.path.name[: -len("-0123456789ab")] for shard in shards] == [
        f"digits-test-pixels-float16-first100-shard{number}of3" for number in (1, 2, 3)
    ]
    output = run(tmp_path, *words)
    assert "100 rows, all encoded before" in output
    (whole,) = stores(output)
    assert np.array_equal(whole.features, np.concatenate([shard.features for shard in shards]))


@pytest.mark.parametrize("shard", ["3", "0/2", "3/2", "2/x"])
def test_a_shard_that_is_none_is_told_at_once(tmp_path: Path, shard: str) -> None:
    sentence = refused("encode", "nothing", "--shard", shard, "--out", tmp_path)
    assert f"expected a shard as I/N, from 1/N to N/N, as 2/8; got '{shard}'" in sentence
