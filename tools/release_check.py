"""Check a release before it is one: version, package, smoke test, links, licences. Needs the package index only.

python tools/release_check.py SITE        SITE is the folder of the built site, build/site/html
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import bundled
import links
import package

ROOT = Path(__file__).parent.parent


def version() -> str:
    """Return the version, from the one place where it is written."""
    text = (ROOT / "src/i2cansay/__init__.py").read_text(encoding="utf-8")
    return found[1] if (found := re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)) else ""


def version_problems(root: Path, wanted: str) -> list[str]:
    """Return what speaks of another version: citation, changelog, or a second place that sets it."""
    found = []
    citation = re.search(
        r"^version: (.+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE
    )
    if citation is None or citation[1] != wanted:
        found.append(f"CITATION.cff: expected version {wanted}, got {citation[1] if citation else 'none'}")
    newest = re.search(r"^## (\S+)", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if newest is None or newest[1] != wanted:
        found.append(f"CHANGELOG.md: expected {wanted} at its top, got {newest[1] if newest else 'nothing'}")
    if re.search(r"^version *=", (root / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE):
        found.append("pyproject.toml: a second place that sets the version")
    return found


def package_problems(folder: Path) -> list[str]:
    """Build sdist and wheel, check what is in them, install the wheel and try it; return what is wrong."""
    wheel = package.build(folder / "dist")
    archives = [wheel, next((folder / "dist").glob("*.tar.gz"))]
    allowed = bundled.bundles("packages")
    found, names = [], []
    for archive in archives:
        if f"-{version()}" not in archive.name:
            found.append(f"{archive.name}: expected version {version()}")
        files = bundled.contents(archive)
        names += list(files)
        found += [f"{archive.name}: {problem}" for problem in bundled.problems(files, allowed)]
        if not any(Path(name).name == "LICENSE" for name in files):
            found.append(f"{archive.name}: the LICENSE is not in it")
    found += bundled.unused(names, allowed)
    print("\n".join(["bundled in sdist and wheel:", *bundled.summary(names, allowed)]))
    for number, extras in enumerate(package.EXTRAS):
        place = folder / str(number)
        place.mkdir()
        package.try_installed(wheel, extras, place)
    return found


def site_problems(folder: Path) -> list[str]:
    """Return what is wrong with the built site: its links, and the licences of what it brings along."""
    if not (folder / "index.html").exists():
        return [f"{folder}: there is no site; run `make docs-site`"]
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    allowed = bundled.bundles("site")
    pages = dict.fromkeys(files, b"")  # pages of the site may quote anybody
    print("\n".join(["bundled in the site:", *bundled.summary(files, allowed)]))
    found = [*bundled.problems(pages, allowed), *bundled.unused(files, allowed)]
    return found + list(dict.fromkeys(links.broken_in_site(folder)))


def main() -> int:
    """Check everything; return the exit code."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = version_problems(ROOT, version())
    found += [sentence for page in links.pages() for sentence in links.broken_in_page(page)]
    found += site_problems(Path(sys.argv[1]))
    with TemporaryDirectory() as temporary:
        try:
            found += package_problems(Path(temporary))
        except subprocess.CalledProcessError as error:
            found.append(f"failed: {' '.join(map(str, error.cmd))}")
    for sentence in found:
        print(sentence, file=sys.stderr)
    print(f"{len(found)} problems" if found else f"i2cansay {version()} can be released")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
