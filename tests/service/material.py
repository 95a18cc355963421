"""Images and features for the tests of the service."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from i2cansay.core.types import Float32
from i2cansay.service.limits import Limits
from i2cansay.service.model.requests import Learn, LessonResult
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.service_metrics import ServiceMetrics
from i2cansay.service.storage.database import Database
from i2cansay.service.storage.model_records import ModelFacts

WIDTH = 40
CLOSED_FORM: dict[str, Any] = {
    "learner": "i2cansay_shared",
    "parameters": {"analogies": False, "lift": 0, "blocks": [25, 15]},
}
SHARED: dict[str, dict[str, Any]] = {
    "best": CLOSED_FORM,
    "small": {**CLOSED_FORM, "parameters": {**CLOSED_FORM["parameters"], "width": 20}},
}
"""The choices of the shared mode for features of this width, of two blocks, as `new_model` takes them."""
COLOURS = {"red": (200, 40, 40), "green": (40, 180, 60), "blue": (40, 60, 210)}


def make_image(colour: str, rng: np.random.Generator, *, kind: str = "PNG", side: int = 24) -> bytes:
    """Return an image of one colour, with noise."""
    pixels = np.clip(np.array(COLOURS[colour]) + rng.normal(scale=25, size=(side, side, 3)), 0, 255)
    file = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(file, kind)
    return file.getvalue()


def rows(labels: Sequence[str], rng: np.random.Generator, width: int = WIDTH) -> Float32:
    """Return a row of features for each label, around a place of its own."""
    centres = [np.random.default_rng(list(label.encode())).normal(size=width) for label in labels]
    made: Float32 = (np.array(centres) + rng.normal(scale=0.3, size=(len(labels), width))).astype(np.float32)
    return made


def new_model(
    folder: Path,
    *,
    min_samples: int = 2,
    learner: str = "i2cansay",
    parameters: dict[str, Any] | None = None,
    limits: Limits | None = None,
) -> ServedModel:
    """Make a model of features in a folder and open it."""
    path = folder / "tested.sqlite"
    Database.create(path, ModelFacts("tested", learner, parameters or {}, None, min_samples, 0.0))
    return ServedModel(path, limits or Limits(), ServiceMetrics())


def teach(
    model: ServedModel, labels: Sequence[str], rng: np.random.Generator, key: bytes | None = None
) -> LessonResult:
    """Teach rows of these labels."""
    answer = model.teach(Learn(rows(labels, rng), tuple(labels), key)).result()
    assert isinstance(answer, LessonResult)
    return answer
