"""Build the site: stage its sources, run the gallery, write HTML. Warnings are errors.

python tools/build_site.py [FOLDER]        into build/site unless told otherwise; the pages are in FOLDER/html
"""

from __future__ import annotations

import sys
from pathlib import Path

from docs_site.api_pages import api_pages
from docs_site.stage import ROOT, stage


def main() -> int:
    """Build the site; return the exit code."""
    from sphinx.cmd.build import build_main

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    source, html = folder / "source", folder / "html"
    stage(source, api_pages())
    settings = Path(__file__).parent / "docs_site"
    words = ["-b", "html", "-W", "--keep-going", "-q", "-c", str(settings), "-d", str(folder / "trees")]
    code = int(build_main([*words, str(source), str(html)]))
    if code == 0:
        print(f"the site is in {html}; read it with: python -m http.server --directory {html}")
    return code


if __name__ == "__main__":
    sys.exit(main())
