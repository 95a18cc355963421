"""Routes of the web page: its files, as they are in the folder `page`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse

from i2cansay.service.access.permissions import ANYONE

FOLDER = Path(__file__).parents[1] / "page"
SCRIPT = "text/javascript; charset=utf-8"
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", SCRIPT),
    "/api.js": ("api.js", SCRIPT),
    "/chart.js": ("chart.js", SCRIPT),
    "/dialog.js": ("dialog.js", SCRIPT),
    "/element.js": ("element.js", SCRIPT),
    "/verdict.js": ("verdict.js", SCRIPT),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


def add_page_routes(router: APIRouter) -> None:
    """Add the routes."""
    for path, (name, kind) in FILES.items():
        router.add_api_route(path, _file(name, kind), dependencies=[ANYONE], include_in_schema=False)


def _file(name: str, kind: str) -> Callable[[], Awaitable[Response]]:
    async def answer() -> Response:
        return FileResponse(FOLDER / name, media_type=kind, headers={"cache-control": "no-cache"})

    return answer
