"""A model as one file: export and import."""

from __future__ import annotations

import copy
import json
import math
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from i2cansay.core.types import State
from i2cansay.encoders.encoder import Encoder
from i2cansay.export.image_file import write_image_learner
from i2cansay.image_learner.identity import EncoderIdentity
from i2cansay.learners import LEARNERS
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.model_file import load_with_extra, save
from i2cansay.service.errors import conflict, not_found, refused
from i2cansay.service.label_text import check_label
from i2cansay.service.limits import Limits
from i2cansay.service.model.model_state import ModelState
from i2cansay.service.model.size import check_size
from i2cansay.service.model.snapshot import finite_scores
from i2cansay.service.storage.database import Changes
from i2cansay.service.storage.model_records import ClassRecord, LogEntry, ModelFacts

MEMORY = Path("/dev/shm")
UNPROVEN = "its file cannot show that every class has different samples"
"""Said of an imported model whose learner keeps no spread per class: a mean may be one sample, counted twice."""
# The relative spread that rounding leaves where all samples are the same.
NO_SPREAD = 1e-7
MOST_SEEN = 2**40
"""Samples of an imported model: so many that more can be added for ever."""


def export(state: ModelState) -> bytes:
    """Return a file for `i2cansay.load` or `ImageLearner.load`, without classes that are in memory only."""
    encoder = state.facts.encoder
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        path = Path(folder) / "model.i2cs"
        save(state.learner, path, extra=None if encoder is None else encoder.header())
        return path.read_bytes()


def export_onnx(state: ModelState, encoder: Encoder | None) -> bytes:
    """Return what a model decides as an ONNX file, its encoder in front; raise ServiceError where that cannot be."""
    identity = state.facts.encoder
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        path = Path(folder) / "model.onnx"
        try:
            if encoder is None or identity is None:
                state.learner.to_onnx(path)
            else:
                write_image_learner(
                    encoder, state.learner, path, with_encoder=True, identity=identity.header()
                )
        except ImportError as error:
            raise not_found(f"this service cannot write ONNX: {error}") from error
        except ValueError as error:
            raise conflict(f"this model cannot be exported as ONNX: {error}") from error
        return path.read_bytes()


def read_export(
    data: bytes, *, name: str, min_samples: int, limits: Limits
) -> tuple[ModelFacts, State, Changes]:
    """Return the contents of a file, ready to be written as a model; raise ServiceError where they are not valid.

    Anyone may have made the file. Loading refuses a state that the learner cannot have reached; this function
    checks what the service requires of lessons.
    """
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        path = Path(folder) / "model.i2cs"
        path.write_bytes(data)
        try:
            learner, extra = load_with_extra(path, allow=partial(_check_room, limits))
            encoder = EncoderIdentity.from_header(extra) if "encoder" in extra else None
        except (ValueError, OSError) as error:
            raise refused(str(error).replace(str(path), "the file")) from error
    if state := learner.state():
        _check_answers(learner)
        if int(state["progress"].max()) > MOST_SEEN:
            raise refused(f"the file claims to have seen more than {MOST_SEEN} samples; it was not learnt")
    now = time.time()
    state = _with_text_labels(state, limits)
    counts = _counts(state, min_samples)
    unproven = UNPROVEN if counts and not _check_spread(state, list(counts)) else ""
    facts = ModelFacts(
        name, _learner_name(learner), _parameters(learner), encoder, min_samples, now, unproven
    )
    facts.make()
    changes = Changes(
        classes={label: ClassRecord(label, count, now, now) for label, count in counts.items()},
        log=[LogEntry(now, "import", "", sum(counts.values()), 0, 0, "")],
    )
    return facts, state, changes


def _check_room(limits: Limits, learner: OnlineClassifier, width: int, classes: int) -> None:
    if width > limits.width or classes > limits.classes:
        raise refused(
            f"the file is of {classes} classes with features of width {width}; a model may have {limits.classes} "
            f"classes and features of width {limits.width}"
        )
    check_size(learner, width, classes, limits.state_bytes)


def _check_answers(learner: OnlineClassifier) -> None:
    """Try a learner: numbers that pass one by one may still not make a model that answers and learns."""
    width, label = learner.n_features_in_, learner.classes_[0]
    rows = np.outer([0.0, 1.0, -1.0, 1e3], np.ones(width)).astype(np.float32)
    try:
        finite_scores(learner, rows)
        with np.errstate(all="ignore"):
            taught = copy.deepcopy(learner).partial_fit(rows, [label] * len(rows))
        finite_scores(taught, rows)
    except Exception as error:  # a state that cannot have been learnt may raise anything
        raise refused(f"the file was not learnt: a model of it does not answer ({error})") from error


def _learner_name(learner: OnlineClassifier) -> str:
    path = f"{type(learner).__module__}:{type(learner).__qualname__}"
    return next(name for name, known in LEARNERS.items() if known == path)


def _parameters(learner: OnlineClassifier) -> dict[str, Any]:
    usual = type(learner)().get_params(deep=False)
    return {name: value for name, value in learner.get_params(deep=False).items() if value != usual[name]}


def _with_text_labels(state: State, limits: Limits) -> State:
    """Return the state with labels as text: the service turns numbers into their digits."""
    if not state:
        return state
    labels = [str(label) for label in json.loads(bytes(state["labels"]).decode())["labels"]]
    for label in labels:
        if check_label(label, limits) != label:
            raise refused(
                f"the label {label!r} is not as the service stores labels (composed, without space around them); "
                "rename the class, and export again"
            )
    text = json.dumps({"kind": "U", "labels": labels})
    return {**state, "labels": np.frombuffer(text.encode(), dtype=np.uint8)}


def _counts(state: State, min_samples: int) -> dict[str, int]:
    """Return how many samples each class has; raise ServiceError where one has too few."""
    if not state:
        return {}
    labels = json.loads(bytes(state["labels"]).decode())["labels"]
    if (part := _part_with(state, "count")) is None or len(state[f"{part}count"]) != len(labels):
        raise refused("the file does not say how many samples each class has, so it cannot be imported")
    # Weights may add up to a little less than a whole number; `ModelState.of` counts in the same way.
    kept = zip(labels, state[f"{part}count"].tolist(), strict=True)
    counts = {label: math.floor(count + 1e-6) for label, count in kept}
    if small := [label for label, count in counts.items() if count < min_samples]:
        raise refused(
            f"the class {small[0]!r} has fewer than {min_samples} samples, and its statistics would reveal "
            "them; teach it more, or forget it, and export again"
        )
    return counts


def _check_spread(state: State, labels: list[str]) -> bool:
    """Refuse a class without spread, whose mean is its one sample; return whether the learner keeps spreads."""
    if (part := _part_with(state, "m2")) is None:
        return False
    count, mean, squares = (state[f"{part}{name}"] for name in ("count", "mean", "m2"))
    spread, size = np.sqrt(squares.max(axis=1) / count), np.abs(mean).max(axis=1)
    if len(alike := np.flatnonzero(spread <= NO_SPREAD * size)):
        raise refused(
            f"the samples of the class {labels[alike[0]]!r} are all the same, and its mean reveals them; "
            "teach it others, or forget it, and export again"
        )
    return True


def _part_with(state: State, name: str) -> str | None:
    """Return the prefix of the first array of this name, as "moments." or ""; None where there is none."""
    return next((path.removesuffix(name) for path in state if path.rpartition(".")[2] == name), None)
