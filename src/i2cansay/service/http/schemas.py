"""Schemas of requests and answers, for validation and for the OpenAPI description."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from i2cansay.service.storage.model_records import NAME

Label = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        examples=["scratch"],
        description="Visible characters only. NFC is applied, and space around it is dropped.",
    ),
]
NewLabel = Annotated[Label, Field(json_schema_extra={"pattern": r"[\p{L}\p{N}\p{P}\p{S}]"})]
# One wrong value is enough to refuse a body: pydantic would describe each of a hundred thousand.
Row = Annotated[list[float], Field(fail_fast=True, json_schema_extra={"minItems": 1})]
EXAMPLE_IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="


class StrictBody(BaseModel):
    """A body without unknown fields: a misspelt field would otherwise be ignored in silence."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewModel(StrictBody):
    """A new model."""

    name: Annotated[
        str,
        Field(max_length=63, examples=["line-3"], json_schema_extra={"pattern": f"^(?:{NAME.pattern})$"}),
    ]
    learner: Annotated[
        str,
        Field(
            max_length=100,
            examples=["best"],
            description='best, small or paper, or a name of the table of learners; "" for the usual one.',
        ),
    ] = ""
    parameters: Annotated[
        dict[str, str | float | int | bool | None],
        Field(description="Of the learner, where not its defaults."),
    ] = {}
    encoder: Annotated[
        str | None,
        Field(
            max_length=200,
            description='The encoder; "" for the usual one of the learner, null for a model of features.',
        ),
    ] = ""
    min_samples: Annotated[
        int, Field(ge=2, le=1000, description="A class of fewer samples is kept in memory and not written.")
    ] = 2

    @field_validator("parameters")
    @classmethod
    def _finite(cls, value: dict[str, Any]) -> dict[str, Any]:
        if any(isinstance(each, float) and not math.isfinite(each) for each in value.values()):
            raise ValueError("numbers must be finite")
        return value


class SamplesBody(StrictBody):
    """Images or features."""

    images: Annotated[
        list[str] | None,
        Field(description="Images, each as base64.", min_length=1, fail_fast=True),
    ] = None
    features: Annotated[
        list[Row] | None,
        Field(description="Rows of features.", min_length=1, fail_fast=True),
    ] = None
    features_base64: Annotated[
        str | None,
        Field(description="Rows of features, little-endian float32, one after the other, as base64."),
    ] = None
    width: Annotated[int | None, Field(ge=1, description="Of a row of `features_base64`.")] = None


class LearnBody(SamplesBody):
    """Samples with labels."""

    labels: Annotated[list[NewLabel] | None, Field(description="One per sample.", fail_fast=True)] = None
    label: Annotated[NewLabel | None, Field(description="One for all samples.")] = None


class PredictBody(SamplesBody):
    """Samples to predict."""

    top: Annotated[int, Field(ge=1, le=1000, description="How many classes to name.")] = 5
    error: Annotated[
        float, Field(gt=0, lt=1, description="The share of answers called sure that may be wrong.")
    ] = 0.05
    new_error: Annotated[
        float, Field(gt=0, lt=1, description="The share of samples of known classes that may be called new.")
    ] = 0.05


class TestBody(LearnBody):
    """Samples with labels, to be predicted and not learnt."""

    error: Annotated[
        float, Field(gt=0, lt=1, description="The share of answers called sure that may be wrong.")
    ] = 0.05
    new_error: Annotated[
        float, Field(gt=0, lt=1, description="The share of samples of known classes that may be called new.")
    ] = 0.05


class LabelBody(StrictBody):
    """A class."""

    label: Label


class RenameBody(StrictBody):
    """A class and its new label."""

    label: Label
    new_label: NewLabel


Only = Annotated[
    Label | None, Field(description="Only the samples of this class, of a lesson of several; else all.")
]


class UndoBody(StrictBody):
    """A lesson to take back."""

    lesson: Annotated[str, Field(max_length=100, examples=["257ab10b54a1cc62"])]
    only: Only = None


class MoveBody(StrictBody):
    """The class of a lesson."""

    label: NewLabel
    only: Only = None


class ErrorAnswer(BaseModel):
    """Why a request was refused."""

    code: Annotated[str, Field(examples=["refused"])]
    detail: Annotated[str, Field(examples=["expected 2 labels, got 3"])]


class EncoderAnswer(BaseModel):
    """An encoder."""

    name: str
    size: int
    fingerprint: str


class ModelAnswer(BaseModel):
    """A model."""

    name: str
    learner: str
    parameters: dict[str, Any]
    encoder: EncoderAnswer | None
    min_samples: int
    created: Annotated[float, Field(description="Seconds since 1970.")]
    classes: int
    samples: int
    version: Annotated[int, Field(description="Grows with every commit.")]
    revision: Annotated[
        str, Field(description="Another one after every change, those in memory too; the ETag of a model.")
    ]
    can_undo: bool
    read_only: str
    unproven: Annotated[str, Field(description="What an imported file could not prove, else empty.")] = ""


class ChoiceAnswer(BaseModel):
    """What a new model can be."""

    name: Annotated[str, Field(description="What goes into `learner`.", examples=["small"])]
    words: str
    encoder: Annotated[str, Field(description="The encoder it is given where none is named.")]
    usual: Annotated[bool, Field(description="Whether it is what a model is made of where nobody chooses.")]


class ChoicesAnswer(BaseModel):
    """All choices for a new model."""

    choices: list[ChoiceAnswer]


class DamagedAnswer(BaseModel):
    """A model that cannot be opened."""

    name: str
    problem: str


class ModelsAnswer(BaseModel):
    """All models."""

    models: list[ModelAnswer]
    damaged: list[DamagedAnswer]


class LessonAnswer(BaseModel):
    """The result of a lesson."""

    lesson: Annotated[str, Field(description="Names the lesson for undo.")]
    learnt: int
    repeated: Annotated[
        int, Field(description="Samples that an earlier request with the same key has already brought.")
    ]
    durable: Annotated[bool, Field(description="Whether all samples are safe on the disk.")]
    durable_samples: list[bool]
    counts: Annotated[dict[str, int], Field(description="Present number of samples of the taught classes.")]
    scored: Annotated[int, Field(description="Samples of known classes, predicted before they were learnt.")]
    correct: int
    taken_back: Annotated[
        int,
        Field(description="Repeated samples that undo or forget has taken out of the model."),
    ]


class UndoableLessonAnswer(BaseModel):
    """A lesson that can still be taken back or moved, since its features are in memory."""

    id: str
    at: Annotated[float, Field(description="When it was taught, in seconds since 1970.")]
    who: Annotated[
        str,
        Field(
            description="The name of the token that taught or moved it. Those of others are seen by admin alone."
        ),
    ]
    own: Annotated[bool, Field(description="Whether it was the token that asks.")]
    series: Annotated[str, Field(description="As sent: lessons of one series were taught together.")]
    labels: Annotated[dict[str, int], Field(description="How many of its samples each class has now.")]
    n: int
    until: Annotated[float, Field(description="When it can no longer be taken back.")]
    reason: Annotated[
        str | None,
        Field(
            description="Why it cannot be taken back now. Where nothing is foreseen, undo has the last word."
        ),
    ]
    reasons: Annotated[
        dict[str, str], Field(description="The same for each class of it, taken back on its own.")
    ]


class UndoableLessonsAnswer(BaseModel):
    """The lessons that can still be taken back, the newest first."""

    lessons: list[UndoableLessonAnswer]
    older: Annotated[str, Field(description="Why older lessons cannot be taken back.")]


class ClassProbabilityAnswer(BaseModel):
    """A class and its probability."""

    label: str
    probability: float


class PredictionAnswer(BaseModel):
    """The answer for one sample."""

    label: str
    probability: float
    verdict: Annotated[
        Literal["sure", "unsure", "new"],
        Field(
            description="sure: of such answers a share of at most `error` is wrong, as far as the model has been "
            "tested; new: stranger than all but a share `new_error` of samples of known classes."
        ),
    ]
    set_size: Annotated[
        int, Field(description="How many classes are possible; but for `error` the right one is among them.")
    ]
    novelty: Annotated[
        float | None,
        Field(
            description="Larger is stranger, among the answers of one version; null where it is not known."
        ),
    ]
    set: Annotated[list[str], Field(description="The likeliest of the possible classes, at most `top`.")]
    top: list[ClassProbabilityAnswer]


class PredictionsAnswer(BaseModel):
    """The answers, in the order of the samples."""

    predictions: list[PredictionAnswer]
    version: int
    tested: Annotated[
        int,
        Field(
            description="On how many samples verdicts rest, predicted before they were learnt; those of long ago "
            "count less. Below 19 nothing is sure at 5%."
        ),
    ]


class ClassAnswer(BaseModel):
    """A class."""

    label: str
    count: int
    durable: bool
    first: float
    last: float


class ClassesAnswer(BaseModel):
    """All classes, sorted by label."""

    classes: list[ClassAnswer]


class RevisionAnswer(BaseModel):
    """The result of a change: how many samples the classes have now, or had when they were forgotten."""

    counts: dict[str, int]
    not_durable: Annotated[
        list[str],
        Field(description="Classes that are now too small to be written, and are in memory only."),
    ]


class LogLine(BaseModel):
    """A line of the audit log."""

    id: int
    at: float
    action: str
    label: str
    count: int
    scored: int
    correct: int
    who: str


class LogAnswer(BaseModel):
    """Lines of the audit log, the oldest first."""

    log: list[LogLine]


class Health(BaseModel):
    """The state of the service."""

    status: str
    damaged: list[str] = []
