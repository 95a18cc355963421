"""A model as one file to carry away, and back."""

from __future__ import annotations

import json
import math
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from i2cansay.core.types import State
from i2cansay.image_learner.identity import EncoderIdentity
from i2cansay.learners import LEARNERS
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.model_file import load_with_extra, save
from i2cansay.service.database import Changes
from i2cansay.service.errors import refused
from i2cansay.service.limits import Limits
from i2cansay.service.records import ClassRecord, LogEntry, ModelFacts
from i2cansay.service.session import Session
from i2cansay.service.size import check_size

MEMORY = Path("/dev/shm")


def export(session: Session) -> bytes:
    """Return the file that `i2cansay.load`, or `ImageLearner.load`, opens; without classes that still wait."""
    encoder = session.facts.encoder
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        path = Path(folder) / "model.i2cs"
        save(session.learner, path, extra=None if encoder is None else encoder.header())
        return path.read_bytes()


def read_export(
    data: bytes, *, name: str, min_samples: int, limits: Limits
) -> tuple[ModelFacts, State, Changes]:
    """Return what a file holds, ready to be written as a model of the service; ServiceError where it cannot."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        path = Path(folder) / "model.i2cs"
        path.write_bytes(data)
        try:
            learner, extra = load_with_extra(path)
            encoder = EncoderIdentity.from_header(extra) if extra else None
        except (ValueError, OSError) as error:
            raise refused(str(error).replace(str(path), "the file")) from error
    now = time.time()
    facts = ModelFacts(name, _learner_name(learner), _parameters(learner), encoder, min_samples, now)
    check_size(facts.learner, facts.parameters, 1, 1, limits.state_bytes)
    facts.make()
    state = _with_text_labels(learner.state())
    counts = _counts(state)
    if small := [label for label, count in counts.items() if count < min_samples]:
        raise refused(
            f"the class {small[0]!r} has fewer than {min_samples} samples, so that its statistics would give them "
            "away; teach it more, or forget it, and export again"
        )
    long = [label for label in counts if not 0 < len(label) <= limits.label_length]
    if len(counts) > limits.classes or long:
        raise refused(
            f"a model may have {limits.classes} classes, with labels of {limits.label_length} characters"
        )
    changes = Changes(
        classes={label: ClassRecord(label, count, now, now) for label, count in counts.items()},
        log=[LogEntry(now, "import", "", sum(counts.values()), 0, 0, "")],
    )
    return facts, state, changes


def _learner_name(learner: OnlineClassifier) -> str:
    path = f"{type(learner).__module__}:{type(learner).__qualname__}"
    return next(name for name, known in LEARNERS.items() if known == path)


def _parameters(learner: OnlineClassifier) -> dict[str, Any]:
    usual = type(learner)().get_params(deep=False)
    return {name: value for name, value in learner.get_params(deep=False).items() if value != usual[name]}


def _with_text_labels(state: State) -> State:
    """Labels are text in the service; a model taught with numbers gets their digits."""
    if not state:
        return state
    stored = json.loads(bytes(state["labels"]).decode())
    text = json.dumps({"kind": "U", "labels": [str(label) for label in stored["labels"]]})
    return {**state, "labels": np.frombuffer(text.encode(), dtype=np.uint8)}


def _counts(state: State) -> dict[str, int]:
    if not state:
        return {}
    labels = json.loads(bytes(state["labels"]).decode())["labels"]
    found = [array for name, array in state.items() if name.rpartition(".")[2] == "count"]
    if not found or found[0].shape != (len(labels),):
        raise refused("the file does not say how many samples each class has, so it cannot be taken in")
    # Weights may add up to a little less than a whole number; `Session.of` counts in the same way.
    return {label: math.floor(count + 1e-6) for label, count in zip(labels, found[0], strict=True)}
