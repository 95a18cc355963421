"""Routes that tell how good a model is: its accuracy over time, and what it takes for what."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from i2cansay.service.access.permissions import needs
from i2cansay.service.http.quality_schemas import AccuracyAnswer, ConfusionAnswer
from i2cansay.service.model.model_state import ModelState
from i2cansay.service.service import Service


def add_quality_routes(router: APIRouter, service: Service) -> None:
    """Add the routes."""

    @router.get("/models/{name}/accuracy", dependencies=[needs("predict")], response_model=AccuracyAnswer)
    async def accuracy(name: str) -> Response:
        """Return how often the model predicted samples correctly just before it learnt them."""
        points = service.model(name).snapshot.curve.points
        total, right = sum(point.samples for point in points), sum(point.correct for point in points)
        return JSONResponse({"points": [asdict(p) for p in points], "samples": total, "correct": right})

    @router.get("/models/{name}/confusion", dependencies=[needs("predict")], response_model=ConfusionAnswer)
    async def confusion(name: str) -> Response:
        """Return what was predicted for samples of each class just before the model learnt them."""
        return JSONResponse(confusion_by_label(service.model(name).state()))


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
