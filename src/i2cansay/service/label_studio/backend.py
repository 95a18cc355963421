"""A Label Studio and the models that learn from it: who works on its requests, and how many at once."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from i2cansay.service.errors import conflict
from i2cansay.service.label_studio.connection import LabelStudio
from i2cansay.service.label_studio.labelling import Labelling
from i2cansay.service.label_studio.learning import Learning, Outcome
from i2cansay.service.label_studio.predicting import Predicting, version_of
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.service import Service


class Backend:
    """The models of a service as ML back ends of one Label Studio, or of none.

    Requests wait for Label Studio and for encoders, so they are worked on in threads, of which there are a few:
    predictions of many tasks have their own, so that they do not hold up lessons.
    """

    def __init__(self, service: Service, studio: LabelStudio | None) -> None:
        self._service = service
        self._studio = studio
        at_once = service.limits.label_studio_at_once
        self._learning = ThreadPoolExecutor(at_once, thread_name_prefix="i2cansay-annotations")
        self._predicting = ThreadPoolExecutor(at_once, thread_name_prefix="i2cansay-tasks")

    def _connected(self, name: str) -> tuple[ServedModel, LabelStudio]:
        model = self._service.model(name)
        if self._studio is None:
            raise conflict(
                "this service knows no Label Studio; start it with --label-studio ADDRESS and "
                "--label-studio-token FILE"
            )
        self._service.image_queue(model)  # a model of features cannot use images
        return model, self._studio

    def describe(self, name: str) -> dict[str, str]:
        """Say that a model is there; raise ServiceError where it cannot work for Label Studio."""
        self._connected(name)
        return {"status": "UP", "model_class": "i2cansay"}

    def setup(self, name: str, config: object) -> str:
        """Check the labelling configuration of a project; return the version of the model."""
        model, _ = self._connected(name)
        Labelling.parse(config)
        return version_of(model)

    def predict(self, name: str, body: dict[str, Any]) -> Future[list[Any]]:
        """Predict tasks."""
        model, studio = self._connected(name)
        return self._predicting.submit(Predicting(self._service, model, studio).results, body)

    def learn(self, name: str, event: dict[str, Any], who: str) -> Future[list[Outcome]]:
        """Learn what an event tells."""
        model, studio = self._connected(name)
        return self._learning.submit(Learning(self._service, model, studio, who).handle, event)

    def close(self) -> None:
        """Finish what was begun."""
        self._learning.shutdown(cancel_futures=True)
        self._predicting.shutdown(cancel_futures=True)
