"""What Label Studio sends and gets. It sends more than is named here, which is not read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

CONFIG = (
    '<View><Image name="image" value="$image"/>'
    '<Choices name="choice" toName="image"><Choice value="rust"/></Choices></View>'
)
TASK = {"id": 5, "data": {"image": "/data/upload/1/part-113.png"}}
ANNOTATION = {
    "id": 17,
    "task": 5,
    "updated_at": "2026-01-31T09:30:00.250000Z",
    "was_cancelled": False,
    "result": [
        {"from_name": "choice", "to_name": "image", "type": "choices", "value": {"choices": ["rust"]}}
    ],
}


class SetupBody(BaseModel):
    """A project that is being connected. Its `hostname` and `access_token` are not used."""

    label_schema: Annotated[
        str, Field(alias="schema", description="The labelling configuration.", examples=[CONFIG])
    ]


class TasksBody(BaseModel):
    """Tasks to predict."""

    tasks: Annotated[list[dict[str, Any]], Field(min_length=1, examples=[[TASK]])]
    label_config: Annotated[str, Field(examples=[CONFIG])]


class EventBody(BaseModel):
    """What has happened in Label Studio."""

    action: Annotated[str, Field(examples=["ANNOTATION_CREATED"])]
    project: Annotated[dict[str, Any] | None, Field(examples=[{"id": 1, "label_config": CONFIG}])] = None
    annotation: Annotated[
        dict[str, Any] | list[dict[str, Any]] | None,
        Field(
            description="For ANNOTATION_CREATED, ANNOTATION_UPDATED, ANNOTATIONS_CREATED.",
            examples=[ANNOTATION],
        ),
    ] = None
    task: Annotated[
        dict[str, Any] | list[dict[str, Any]] | None,
        Field(description="Those of the annotations.", examples=[TASK]),
    ] = None
    annotations: Annotated[
        list[dict[str, Any]] | None, Field(description="Ids, for ANNOTATIONS_DELETED.")
    ] = None
    tasks: Annotated[list[dict[str, Any]] | None, Field(description="Ids, for TASKS_DELETED.")] = None


class BackendHealth(BaseModel):
    """A model that can work for Label Studio."""

    status: Literal["UP"]
    model_class: str


class SetupAnswer(BaseModel):
    """A project that can be connected."""

    model_version: Annotated[str, Field(description="Another one after every lesson.", examples=["first 12"])]


class TaskResult(BaseModel):
    """The prediction for a task."""

    result: list[dict[str, Any]]
    score: Annotated[float, Field(description="The probability of the label.")]
    model_version: str


class TaskResults(BaseModel):
    """A prediction for each task, in their order; an empty list where there is none."""

    results: list[TaskResult | list[TaskResult]]


class AnnotationOutcome(BaseModel):
    """What became of an annotation."""

    id: int
    outcome: Literal["learnt", "moved", "taken_back", "unchanged", "older", "failed", "left"]
    durable: Annotated[bool, Field(description="Whether it is safe on the disk.")]
    why: Annotated[str, Field(description="Why nothing was learnt, or why it failed; else empty.")]


class EventAnswer(BaseModel):
    """What became of the annotations of an event; empty for events about other things."""

    annotations: list[AnnotationOutcome]
