"""Evaluation: the one loop that drives a stream through a learner, and metrics of the outcome."""

from i2cansay.evaluate.learner_protocol import Learner
from i2cansay.evaluate.log_files import CsvLog, JsonLinesLog
from i2cansay.evaluate.metrics import (
    accuracy_curve,
    accuracy_per_class,
    average_accuracy,
    forgetting,
    last_accuracy,
    prequential_accuracy,
    summarise,
)
from i2cansay.evaluate.outcome import Checkpoint, Outcome
from i2cansay.evaluate.play import play
from i2cansay.evaluate.progress import Moment, Progress, show_progress
from i2cansay.evaluate.tracking import Measurement, RunFacts, Tracker

__all__ = [
    "Checkpoint",
    "CsvLog",
    "JsonLinesLog",
    "Learner",
    "Measurement",
    "Moment",
    "Outcome",
    "Progress",
    "RunFacts",
    "Tracker",
    "accuracy_curve",
    "accuracy_per_class",
    "average_accuracy",
    "forgetting",
    "last_accuracy",
    "play",
    "prequential_accuracy",
    "show_progress",
    "summarise",
]
