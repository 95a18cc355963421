"""Records made by hand."""

from dataclasses import replace

import numpy as np

from i2cansay.evaluate import Checkpoint, Outcome
from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.run.record import Record

CELL = Cell("cats", "eyes", "step:1", "naive")


def make_record(seed: int = 0, correct: tuple[int, ...] = (9, 7), learner: str = "naive") -> Record:
    cell = replace(CELL, learner=learner, seed=seed)
    return Record(
        key=cell.key("f"),
        cell=cell.identity(),
        parameters=cell.all_parameters(),
        features={"fingerprint": "f"},
        outcome=Outcome(
            stream={"name": "step"},
            classes=(0, 1),
            test_counts=(10, 10),
            new_classes=((1,), (0,)),
            checkpoints=(Checkpoint(0, 50, (0, 10), 0, 0), Checkpoint(1, 90, correct, 0, 0)),
            every_session=True,
            learning_seconds=0.25,
            prediction_seconds=0.5,
            state_bytes=4096,
        ),
        predictions=np.array([0, 1, 1, 0], dtype=np.uint16),
        seconds=1.5,
        versions={"numpy": "2"},
        commit=None,
    )
