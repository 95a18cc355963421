"""Routes of one model: learn, predict, undo, and its classes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from i2cansay.core.types import Float32
from i2cansay.service.access.permissions import needs
from i2cansay.service.errors import too_large
from i2cansay.service.http.api import KEY, LEARN_FORM, PREDICT_FORM, SERIES, body_of, key_of, series_of, wait
from i2cansay.service.http.bodies import ParsedBody, to_learn, to_predict
from i2cansay.service.http.direct_routes import direct
from i2cansay.service.http.json_answer import JsonAnswer
from i2cansay.service.http.schemas import (
    ClassesAnswer,
    LabelBody,
    LearnBody,
    LessonAnswer,
    MoveBody,
    PredictBody,
    PredictionsAnswer,
    RenameBody,
    RevisionAnswer,
    UndoableLessonsAnswer,
    UndoBody,
)
from i2cansay.service.label_text import check_label, normalized_label
from i2cansay.service.model.image_size import measure_images
from i2cansay.service.model.requests import (
    Forget,
    Learn,
    LessonResult,
    Move,
    Question,
    Rename,
    RevisionResult,
    Undo,
)
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.model.size import check_width
from i2cansay.service.model.transaction import LESSON_ROWS, LESSON_SECONDS, LESSONS
from i2cansay.service.service import Service
from i2cansay.service.storage.receipts import key_digest, lesson_digest

OLDER = (
    "Images and their features are not stored, so older lessons cannot be taken back: features stay in memory for "
    f"{LESSON_SECONDS / 60:.0f} minutes, those of the last {LESSONS} lessons, a folder "
    f"being one, {LESSON_ROWS} images at most, and not beyond a restart."
)
LessonId = Annotated[str, Path(max_length=100, examples=["257ab10b54a1cc62"])]


def add_lesson_routes(router: APIRouter, service: Service) -> None:
    """Add the routes."""
    limits = service.limits

    @router.post(
        "/models/{name}/learn",
        dependencies=[needs("teach")],
        response_model=LessonAnswer,
        openapi_extra={**body_of(LearnBody, LEARN_FORM, {"label": "scratch"}), "parameters": [KEY, SERIES]},
    )
    @direct
    async def learn(name: str, request: Request) -> Response:
        """Learn labelled samples, all or none. The answer comes once they are on the disk."""
        model, key, series = service.model(name), key_of(request), series_of(request)
        parsed = await to_learn(request, limits)
        X = await features_of(service, model, parsed, request)
        who, digest, content = request.state.who, None, b""
        if key:
            digest = key_digest(key, who)
            content = await run_in_threadpool(
                lesson_digest, key, parsed.labels, parsed.images, parsed.features
            )
        lesson = await wait(
            model.teach(Learn(X, parsed.labels, digest, who, content, series)), limits.seconds
        )
        assert isinstance(lesson, LessonResult)
        return JsonAnswer(
            {**lesson.__dict__, "durable": all(lesson.durable), "durable_samples": lesson.durable}
        )

    @router.post(
        "/models/{name}/predict",
        dependencies=[needs("predict")],
        response_model=PredictionsAnswer,
        openapi_extra=body_of(PredictBody, PREDICT_FORM, {"top": 3}),
    )
    @direct
    async def predict(name: str, request: Request) -> Response:
        """Predict samples: the likeliest classes, and how far each answer can be relied on."""
        model = service.model(name)
        parsed = await to_predict(request, limits)
        named = len(parsed) * min(parsed.top, model.snapshot.n_classes)
        if named > limits.named:
            raise too_large(
                f"one answer may name {limits.named} classes, this one would name {named}: {len(parsed)} samples "
                f"with {named // len(parsed)} each; ask for a smaller top, or in parts"
            )
        X = await features_of(service, model, parsed, request)
        question = Question(X, parsed.top, parsed.error, parsed.new_error)
        predictions = await wait(model.ask(question), limits.seconds)
        snapshot = predictions.snapshot
        return JsonAnswer(
            {
                "predictions": [each.to_json() for each in predictions],
                "version": snapshot.version,
                "tested": snapshot.tested,
            }
        )

    @router.post("/models/{name}/undo", dependencies=[needs("teach")], response_model=RevisionAnswer)
    async def undo(name: str, body: UndoBody, request: Request) -> Response:
        """Take a lesson back, or one class of it, while its features are in memory."""
        return await change(name, Undo(body.lesson, request.state.who, one_class(body.only)))

    @router.get("/models/{name}/lessons", dependencies=[needs("teach")], response_model=UndoableLessonsAnswer)
    async def lessons(name: str, request: Request) -> Response:
        """List the lessons that can still be taken back or moved to another class, the newest first."""
        lines = await run_in_threadpool(service.model(name).lessons)
        seen = (line.seen_by(request.state.who, request.state.scope) for line in lines)
        return JSONResponse({"lessons": [asdict(line) for line in seen], "older": OLDER})

    @router.post(
        "/models/{name}/lessons/{id}/move", dependencies=[needs("teach")], response_model=RevisionAnswer
    )
    async def move(name: str, id: LessonId, body: MoveBody, request: Request) -> Response:
        """Learn a lesson, or one class of it, under another label, all or none, while its features are in memory."""
        label = check_label(body.label, limits)
        return await change(name, Move(id, label, request.state.who, one_class(body.only)))

    @router.get("/models/{name}/classes", dependencies=[needs("predict")], response_model=ClassesAnswer)
    async def classes(name: str) -> Response:
        """List the classes with their counts and dates."""
        return JSONResponse({"classes": [asdict(line) for line in service.model(name).snapshot.classes]})

    @router.post(
        "/models/{name}/classes/forget", dependencies=[needs("teach")], response_model=RevisionAnswer
    )
    async def forget(name: str, body: LabelBody, request: Request) -> Response:
        """Drop a class."""
        return await change(name, Forget(normalized_label(body.label), request.state.who))

    @router.post(
        "/models/{name}/classes/rename", dependencies=[needs("teach")], response_model=RevisionAnswer
    )
    async def rename(name: str, body: RenameBody, request: Request) -> Response:
        """Give a class another label."""
        old, new = normalized_label(body.label), check_label(body.new_label, limits)
        return await change(name, Rename(old, new, request.state.who))

    async def change(name: str, request: Undo | Move | Forget | Rename) -> Response:
        done = await wait(service.model(name).teach(request), limits.seconds)
        assert isinstance(done, RevisionResult)
        return JSONResponse(asdict(done))


def one_class(label: str | None) -> str | None:
    """Return the label of a class as the model knows it, or None for all classes."""
    return None if label is None else normalized_label(label)


async def features_of(service: Service, model: ServedModel, parsed: ParsedBody, request: Request) -> Float32:
    """Return the samples of a body as features, (n, d), of the width that the model expects."""
    if parsed.images is not None:
        queue = await run_in_threadpool(service.image_queue, model)
        images = await run_in_threadpool(measure_images, parsed.images, service.limits)
        return await wait(queue.encode(images), service.limits.seconds, request)
    assert parsed.features is not None
    width = model.snapshot.width
    if width is None and model.facts.encoder is not None:
        width = (await run_in_threadpool(service.image_queue, model)).encoder.dim
    check_width(parsed.features, width)
    return parsed.features
