"""TensorBoard reads what the tracker wrote."""

from pathlib import Path
from typing import Any

import pytest

from i2cansay.adapters.tensorboard_tracking import TensorBoardTracker
from i2cansay.evaluate import Measurement, accuracy_curve, last_accuracy
from tests.adapters.plays import played

events: Any = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
pytestmark = pytest.mark.adapters


def read(folder: Path) -> Any:
    found = events.EventAccumulator(str(folder))
    found.Reload()
    return found


def series(found: Any, name: str) -> list[tuple[int, float]]:
    return [(event.step, event.tensor_proto.float_val[0]) for event in found.Tensors(name)]


def test_every_checkpoint_is_a_point(tmp_path: Path) -> None:
    outcome = played(TensorBoardTracker(tmp_path))
    found = read(tmp_path)
    steps = [checkpoint.samples for checkpoint in outcome.checkpoints]
    written = series(found, "accuracy")
    assert [step for step, _ in written] == steps
    assert [value for _, value in written] == pytest.approx(accuracy_curve(outcome))
    ((step, last),) = series(found, "end/last")
    assert step == 120
    assert last == pytest.approx(last_accuracy(outcome))
    assert [value for _, value in series(found, "classes")] == [1, 2, 3, 4]
    description = found.SummaryMetadata("accuracy").summary_description
    assert "- learner: NearestClassMean" in description
    assert "- stream.seed: 3" in description


def test_a_play_that_fails_leaves_its_points(tmp_path: Path) -> None:
    class Stops(TensorBoardTracker):
        def checkpoint(self, measurement: Measurement, /) -> None:
            super().checkpoint(measurement)
            if measurement.session == 2:
                raise KeyboardInterrupt

    tracker = Stops(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        played(tracker)
    assert len(series(read(tmp_path), "accuracy")) == 3
    tracker.close()
    tracker.close()
