import io
from dataclasses import dataclass, replace

import pytest

from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.run.run_progress import RunMeter, RunMoment, clock, show_run
from tests.experiments.samples import CELL, make_record


@dataclass(frozen=True)
class Asked:
    cell: Cell


def test_time_left_comes_from_cells_of_the_same_kind() -> None:
    slow = [Asked(replace(CELL, seed=seed)) for seed in range(3)]
    fast = [Asked(replace(CELL, learner="ncm", seed=seed)) for seed in range(2)]
    meter = RunMeter([*slow, *fast], jobs=2, reused=4)
    assert meter.moment(None).seconds_left is None
    meter.finish(slow[0], replace(make_record(), seconds=10.0))
    assert meter.moment(None).seconds_left == pytest.approx(
        (2 + 2) * 10 / 2
    )  # an unknown kind counts as average
    meter.finish(fast[0], replace(make_record(), seconds=2.0))
    assert meter.moment(None).seconds_left == pytest.approx((2 * 10 + 1 * 2) / 2)
    assert (meter.moment(None).done, meter.moment(None).total, meter.moment(None).reused) == (2, 5, 4)


def test_a_failed_cell_counts_as_done_but_not_as_a_measure_of_time() -> None:
    tasks = [Asked(replace(CELL, seed=seed)) for seed in range(2)]
    meter = RunMeter(tasks, jobs=1, reused=0)
    meter.finish(tasks[0], None)
    assert meter.moment(None).done == 1
    assert meter.moment(None).seconds_left is None


def test_a_pipe_gets_few_lines_and_always_the_last() -> None:
    pipe = io.StringIO()
    with show_run("table1", file=pipe) as progress:
        for done in range(6):
            progress(RunMoment(done, 5, 0, 3.0, make_record()))
    lines = pipe.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("table1: 0 of 5 cells, 0:03 left; naive on cats, step:1, seed 0: 80.0%")
    assert lines[-1].startswith("table1: 5 of 5 cells")


def test_the_clock_has_hours_only_where_there_are_some() -> None:
    assert (clock(59.6), clock(3599), clock(3600)) == ("1:00", "59:59", "1:00:00")
