import json
from dataclasses import replace

import numpy as np
import pytest

from i2cansay.experiments.run.record import Record, kept_rows
from tests.experiments.samples import make_record


def test_json_and_back_is_the_same_record() -> None:
    record = make_record()
    again = Record.from_json(record.to_json())
    assert again.predictions.tolist() == [0, 1, 1, 0]
    assert again.to_json() == record.to_json()
    assert replace(again, predictions=record.predictions) == record


def test_a_record_is_one_line() -> None:
    assert "\n" not in make_record().to_json()


@pytest.mark.parametrize("position", [0, 0.3, 0.6, 0.9])
def test_a_truncated_record_is_refused(position: float) -> None:
    text = make_record().to_json()
    with pytest.raises(ValueError, match="not a record"):
        Record.from_json(text[: int(position * len(text))])


def test_every_changed_digit_is_noticed() -> None:
    text = make_record().to_json()
    for index in [i for i, letter in enumerate(text) if letter.isdigit()]:
        changed = text[:index] + str((int(text[index]) + 1) % 10) + text[index + 1 :]
        with pytest.raises(ValueError):
            Record.from_json(changed)


def test_a_newer_format_is_named() -> None:
    values = {**json.loads(make_record().to_json()), "format": 99}
    with pytest.raises(ValueError, match="format 99"):
        Record.from_json(json.dumps(values))


@pytest.mark.parametrize("text", ["", "null", "[]", "3", "{}"])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Record.from_json(text)


def test_kept_rows_reach_from_the_first_to_the_last() -> None:
    rows = kept_rows(10_000)
    assert (rows[0], rows[-1], len(rows)) == (0, 9_999, 1000)
    assert np.diff(rows).max() - np.diff(rows).min() <= 1
