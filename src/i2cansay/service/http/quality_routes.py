"""Routes that tell how good a model is: accuracy over time and in a trial, mistakes, a map of the classes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from i2cansay.service.access.permissions import needs
from i2cansay.service.http.api import TEST_FORM, body_of, wait
from i2cansay.service.http.bodies import to_test
from i2cansay.service.http.json_answer import JsonAnswer
from i2cansay.service.http.lesson_routes import features_of
from i2cansay.service.http.quality_schemas import AccuracyAnswer, ConfusionAnswer, MapAnswer, TrialAnswer
from i2cansay.service.http.schemas import TestBody
from i2cansay.service.model.curve import HALF_LIFE
from i2cansay.service.model.model_state import ModelState
from i2cansay.service.model.requests import Question
from i2cansay.service.model.trial import Trial
from i2cansay.service.service import Service


def add_quality_routes(router: APIRouter, service: Service) -> None:
    """Add the routes."""

    @router.get("/models/{name}/accuracy", dependencies=[needs("predict")], response_model=AccuracyAnswer)
    async def accuracy(name: str) -> Response:
        """Return how often the model predicted samples correctly just before it learnt them."""
        curve = service.model(name).snapshot.curve
        total = sum(point.samples for point in curve.points)
        right = sum(point.correct for point in curve.points)
        points = [
            {**asdict(point), "smoothed": smooth.share, "low": smooth.low, "high": smooth.high}
            for point, smooth in zip(curve.points, curve.smoothed(), strict=True)
        ]
        return JSONResponse({"points": points, "samples": total, "correct": right, "half_life": HALF_LIFE})

    @router.post(
        "/models/{name}/test",
        dependencies=[needs("predict")],
        response_model=TrialAnswer,
        openapi_extra=body_of(TestBody, TEST_FORM, {"label": "scratch"}),
    )
    async def test(name: str, request: Request) -> Response:
        """Predict samples whose labels are known, compare, and learn nothing."""
        model = service.model(name)
        parsed = await to_test(request, service.limits)
        X = await features_of(service, model, parsed, request)
        question = Question(X, 1, parsed.error, parsed.new_error)
        answers = await wait(model.ask(question), service.limits.seconds)
        snapshot = answers.snapshot
        trial = Trial.of(parsed.labels, answers, {line.label for line in snapshot.classes})
        return JsonAnswer({**trial.to_json(), "version": snapshot.version})

    @router.get("/models/{name}/confusion", dependencies=[needs("predict")], response_model=ConfusionAnswer)
    async def confusion(name: str) -> Response:
        """Return what was predicted for samples of each class just before the model learnt them."""
        return JSONResponse(confusion_by_label(service.model(name).state()))

    @router.get("/models/{name}/map", dependencies=[needs("predict")], response_model=MapAnswer)
    async def class_map(name: str) -> Response:
        """Return the class means in two dimensions, and the classes that are closest."""
        snapshot = service.model(name).snapshot
        return JSONResponse(asdict(await run_in_threadpool(lambda: snapshot.class_map)))


def confusion_by_label(state: ModelState) -> dict[str, Any]:
    """Return the counts of a state under the present names of the classes."""
    labels = {number: label for label, number in sorted(state.numbers().items())}
    tests = state.confusion.classes
    pairs = {(number, number): each.right for number, each in tests.items() if each.right}
    pairs |= state.confusion.mistaken
    counts = [{"taught": labels[a], "predicted": labels[b], "n": n} for (a, b), n in pairs.items()]
    return {
        "labels": list(labels.values()),
        "counts": sorted(counts, key=lambda each: (-each["n"], each["taught"], each["predicted"])),
        "classes": [
            {"label": label, **asdict(tests[number])} for number, label in labels.items() if number in tests
        ],
    }
