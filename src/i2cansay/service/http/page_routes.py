"""Routes of the web page: its files, as they are in the folder `page`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse

from i2cansay.service.access.permissions import ANYONE

FOLDER = Path(__file__).parents[1] / "page"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""What the page is made of. A file of another kind that lies beside it is not served."""


def page_files() -> dict[str, Path]:
    """Return the files of the page by their address.

    Examples
    --------
    >>> page_files()["/"].name, "/page.js" in page_files()
    ('index.html', True)
    """
    found = sorted(path for path in FOLDER.rglob("*") if path.suffix in KINDS and not path.is_symlink())
    named = {f"/{path.relative_to(FOLDER).as_posix()}": path for path in found}
    return {"/": named.pop("/index.html"), **named}


def add_page_routes(router: APIRouter) -> None:
    """Add a route for each file: no address is ever made into a path."""
    for address, path in page_files().items():
        router.add_api_route(address, _file(path), dependencies=[ANYONE], include_in_schema=False)


def _file(path: Path) -> Callable[[], Awaitable[Response]]:
    async def answer() -> Response:
        return FileResponse(path, media_type=KINDS[path.suffix], headers={"cache-control": "no-cache"})

    return answer
