"""Learning at every annotation: what Label Studio tells of its annotations, brought into a model."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from i2cansay.core.types import Float32
from i2cansay.service.errors import ServiceError, refused, too_large
from i2cansay.service.label_studio.annotation import id_of, stamp_of, what_it_says
from i2cansay.service.label_studio.answers import answer_of
from i2cansay.service.label_studio.connection import LabelStudio
from i2cansay.service.label_studio.labelling import Labelling
from i2cansay.service.model.annotations import IMAGE_NEEDED
from i2cansay.service.model.image_size import measure_images
from i2cansay.service.model.requests import Annotate, AnnotationResult
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.service import Service
from i2cansay.service.storage.annotation_records import DELETED, AnnotationRecord
from i2cansay.service.storage.receipts import NOT_HELD

log = logging.getLogger("i2cansay.service")
CATCH_UP_SECONDS = 60.0
"""How long a model catches up with a project in one request. Label Studio waits for 100 seconds."""


@dataclass(frozen=True)
class Outcome:
    """What became of an annotation.

    Attributes
    ----------
    id : int
        Of the annotation.
    outcome : str
        As in `AnnotationResult`, or "failed", or "left" where time was up.
    durable : bool
        Whether it is on the disk.
    why : str
        Why nothing was learnt, or why it failed.
    error : ServiceError or None
        What made it fail.
    """

    id: int
    outcome: str
    durable: bool = True
    why: str = ""
    error: ServiceError | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what is answered."""
        return {"id": self.id, "outcome": self.outcome, "durable": self.durable, "why": self.why}


class Learning:
    """One model that learns from the annotations of a Label Studio."""

    def __init__(self, service: Service, model: ServedModel, studio: LabelStudio, who: str) -> None:
        self._service = service
        self._model = model
        self._studio = studio
        self._who = who

    def handle(self, event: dict[str, Any]) -> list[Outcome]:
        """Bring what an event of Label Studio tells into the model; events about other things are ignored."""
        action = event.get("action")
        if action in ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_CREATED"):
            return self._annotated(event)
        if action == "ANNOTATIONS_DELETED":
            gone = [id_of(each, "annotation") for each in self._listed(event, "annotations")]
            return [self._delete(number) for number in gone]
        if action == "TASKS_DELETED":
            tasks = [id_of(each, "task") for each in self._listed(event, "tasks")]
            gone = [record.id for task in tasks for record in self._model.annotations("task", task)]
            return [self._delete(number) for number in gone]
        if action == "START_TRAINING":
            return self.catch_up(id_of(event.get("project"), "project"))
        return []

    def _annotated(self, event: dict[str, Any]) -> list[Outcome]:
        project = event.get("project")
        labelling = Labelling.parse(project.get("label_config") if isinstance(project, dict) else None)
        tasks = {id_of(task, "task"): task for task in self._listed(event, "task")}
        found = []
        for annotation in self._listed(event, "annotation"):
            task = tasks.get(id_of(annotation.get("task"), "task of an annotation"), {})
            found.append(self._apply(annotation, task, id_of(project, "project"), labelling))
        return found

    def _listed(self, event: dict[str, Any], name: str) -> list[dict[str, Any]]:
        """Return what an event lists under a name: one object, or several."""
        found = event.get(name)
        several: list[Any] = found if isinstance(found, list) else [found]
        if not several or not all(isinstance(each, dict) for each in several):
            raise refused(
                f"expected {name} in the event, with their content; does the webhook send its payload?"
            )
        if len(several) > (most := self._service.limits.label_studio_tasks):
            raise too_large(
                f"one event may be about {most} annotations or tasks, this one is about {len(several)}; let the "
                "model catch up with Start Training"
            )
        return several

    # -- one annotation -------------------------------------------------------------------------------------

    def _apply(
        self, annotation: dict[str, Any], task: dict[str, Any], project: int, labelling: Labelling
    ) -> Outcome:
        """Bring the present state of one annotation into the model."""
        number = id_of(annotation, "annotation")
        said = what_it_says(annotation, labelling, self._service.limits)
        task_id = id_of(annotation.get("task"), "task of an annotation")
        record = AnnotationRecord(number, project, task_id, stamp_of(annotation), said.label)
        data = task.get("data")
        reference = data.get(labelling.field) if isinstance(data, dict) else None
        try:
            return self._tell(record, lambda: self._features(reference), said.why_not)
        except ServiceError as error:
            return self._failed(number, error)

    def _delete(self, number: int) -> Outcome:
        """Take an annotation back that is no more."""
        try:
            return self._tell(
                AnnotationRecord(number, 0, 0, DELETED), lambda: self._fetched_again(number), ""
            )
        except ServiceError as error:
            return self._failed(number, error)

    def _tell(self, record: AnnotationRecord, image: Callable[[], Float32], why: str) -> Outcome:
        """Tell the model of an annotation; the image is fetched only where the model needs it."""
        known = self._model.annotations("id", record.id)
        news = bool(record.label) and not any(each.label == record.label or each.is_deleted for each in known)
        try:
            result = self._teach(record, image() if news else None)
        except ServiceError as error:
            if error.code != IMAGE_NEEDED:
                raise
            result = self._teach(record, image())
        return Outcome(record.id, result.outcome, result.durable, why)

    def _teach(self, record: AnnotationRecord, X: Float32 | None) -> AnnotationResult:
        asked = self._model.teach(Annotate(record, X, self._who))
        answer = answer_of(asked, self._service.limits.seconds)
        assert isinstance(answer, AnnotationResult)
        return answer

    def _features(self, reference: object) -> Float32:
        image = self._studio.image(reference)
        queue = self._service.image_queue(self._model)
        limits = self._service.limits
        return answer_of(queue.encode(measure_images([image], limits)), limits.seconds)

    def _fetched_again(self, number: int) -> Float32:
        """Return the features of the image of an annotation that Label Studio does not describe any more."""
        (record,) = self._model.annotations("id", number)
        data = self._studio.task(record.task).get("data")
        field = self._studio.labelling(record.project).field
        return self._features(data.get(field) if isinstance(data, dict) else None)

    def _failed(self, number: int, error: ServiceError) -> Outcome:
        # Not the sentence: it may name a label, and the log of the process has nothing of the content of models.
        log.warning("the model %s: annotation %d: %s", self._model.facts.name, number, error.code)
        return Outcome(number, "failed", False, error.sentence, error)

    # -- a whole project ------------------------------------------------------------------------------------

    def catch_up(self, project: int) -> list[Outcome]:
        """Bring all annotations of a project into the model, those that it missed; stop when time is up."""
        deadline = time.monotonic() + CATCH_UP_SECONDS
        outcomes: list[Outcome] = []
        for number, change in self._missed(project):
            if time.monotonic() > deadline:
                return [*outcomes, Outcome(number, "left", False, "time was up; start training once more")]
            outcomes.append(change())
        return outcomes

    def _missed(self, project: int) -> Iterator[tuple[int, Callable[[], Outcome]]]:
        """Yield the ids of annotations that the model does not have as they are now, and what brings them in."""
        labelling = self._studio.labelling(project)
        known = {record.id: record for record in self._model.annotations("project", project)}
        seen: set[int] = set()
        for task, annotation in self._annotations(project):
            number = id_of(annotation, "annotation")
            seen.add(number)
            if not self._is_known(annotation, known.get(number), labelling):
                yield number, partial(self._apply, annotation, task, project, labelling)
        for number in [each.id for each in known.values() if not each.is_deleted and each.id not in seen]:
            # Pages shift while somebody works on the project: one that was not seen may be there.
            if not self._studio.has(number):
                yield number, partial(self._delete, number)

    def _annotations(self, project: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        for task in self._studio.tasks(project):
            found = task.get("annotations")
            for annotation in found if isinstance(found, list) else ():
                if isinstance(annotation, dict):
                    yield task, {**annotation, "task": id_of(task, "task")}

    def _is_known(
        self, annotation: dict[str, Any], record: AnnotationRecord | None, labelling: Labelling
    ) -> bool:
        """Tell whether the model has seen what an annotation says now, and has not lost it since."""
        if record is None or record.stamp != stamp_of(annotation):
            return False
        # The configuration may offer a label now that it did not offer then.
        if record.label != what_it_says(annotation, labelling, self._service.limits).label:
            return False
        return record.place != NOT_HELD or not record.label
