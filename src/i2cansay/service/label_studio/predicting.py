"""Predictions for tasks: what the model would choose, with a score, in the form in which Label Studio shows it."""

from __future__ import annotations

import logging
import time
from typing import Any

from i2cansay.service.errors import ServiceError, refused, too_large
from i2cansay.service.label_studio.answers import answer_of
from i2cansay.service.label_studio.connection import LabelStudio
from i2cansay.service.label_studio.fetching import NoConnection
from i2cansay.service.label_studio.labelling import Labelling
from i2cansay.service.limits import MEGABYTE
from i2cansay.service.model.image_size import MeasuredImage, measure_images
from i2cansay.service.model.requests import Question
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.model.snapshot import Prediction
from i2cansay.service.service import Service

log = logging.getLogger("i2cansay.service")
TOGETHER, TOGETHER_BYTES = 16, 32 * MEGABYTE
"""Images that are fetched before they are encoded together."""
TOP = 1000
PREDICT_SECONDS = 70.0
"""How long the tasks of one request may take, with the wait for a thread. Label Studio waits for 100 seconds."""


def version_of(model: ServedModel) -> str:
    """Return a name of the present state of a model; Label Studio asks for new predictions when it changes."""
    return f"{model.facts.name} {model.snapshot.version}"


class Predicting:
    """One model that predicts tasks of a Label Studio."""

    def __init__(self, service: Service, model: ServedModel, studio: LabelStudio) -> None:
        self._service = service
        self._model = model
        self._studio = studio
        self._deadline = time.monotonic() + PREDICT_SECONDS

    def results(self, body: dict[str, Any]) -> list[Any]:
        """Return a prediction for each task, in their order; an empty list where there is none for a task."""
        labelling = Labelling.parse(body.get("label_config"))
        tasks = body.get("tasks")
        if not isinstance(tasks, list) or not tasks:
            raise refused("expected tasks, a list of at least one")
        if len(tasks) > (most := self._service.limits.label_studio_tasks):
            raise too_large(f"one request may have {most} tasks, got {len(tasks)}; select fewer")
        found: list[Any] = [[] for _ in tasks]
        if self._model.snapshot.learner is None:  # it has learnt nothing yet
            return found
        waiting: dict[int, MeasuredImage] = {}
        for place, task in enumerate(tasks):
            self._left()
            if (image := self._image(task, labelling)) is not None:
                waiting[place] = image
            if len(waiting) >= TOGETHER or sum(len(each.data) for each in waiting.values()) > TOGETHER_BYTES:
                self._predict(waiting, labelling, found)
                waiting = {}
        self._predict(waiting, labelling, found)
        return found

    def _image(self, task: Any, labelling: Labelling) -> MeasuredImage | None:
        """Return the image of a task, None where it cannot be had: one task must not fail the others."""
        data = task.get("data") if isinstance(task, dict) else None
        try:
            image = self._studio.image(data.get(labelling.field) if isinstance(data, dict) else None)
            return measure_images([image], self._service.limits)[0]
        except ServiceError as error:
            if isinstance(error, NoConnection):  # it would not answer for the others either
                raise
            log.warning("the model %s: no prediction for a task: %s", self._model.facts.name, error.code)
            return None

    def _left(self) -> float:
        """Return the seconds that are left; raise ServiceError where there are none: nobody waits any longer."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            sentence = f"the tasks took longer than {PREDICT_SECONDS:g} seconds; select fewer"
            raise ServiceError(503, "timeout", sentence, retry_after=5.0)
        return left

    def _predict(self, images: dict[int, MeasuredImage], labelling: Labelling, found: list[Any]) -> None:
        if not images:
            return
        seconds = min(self._service.limits.seconds, self._left())
        queue = self._service.image_queue(self._model)
        try:
            X = answer_of(queue.encode(list(images.values())), seconds)
        except ServiceError as error:
            if error.code != "refused":
                raise
            if len(images) == 1:
                log.warning("the model %s: no prediction for a task: %s", self._model.facts.name, error.code)
                return
            for place, image in images.items():  # one of them cannot be decoded
                self._predict({place: image}, labelling, found)
            return
        top = max(1, min(TOP, self._service.limits.named // len(images)))
        version = version_of(self._model)
        answers = answer_of(self._model.ask(Question(X, top)), seconds)
        for place, answer in zip(images, answers, strict=True):
            found[place] = as_result(answer, labelling, version)


def as_result(answer: Prediction, labelling: Labelling, version: str) -> Any:
    """Return a prediction in the form of Label Studio: the likeliest class that can be chosen in the project."""
    for guess in answer.top:
        if not labelling.labels or guess.label in labelling.labels:
            chosen = {
                "from_name": labelling.choices,
                "to_name": labelling.image,
                "type": "choices",
                "value": {"choices": [guess.label]},
                "score": guess.probability,
            }
            return {"result": [chosen], "score": guess.probability, "model_version": version}
    return []
