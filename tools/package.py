"""Build the package, install it into empty environments outside the checkout, and try each.

python tools/package.py

The wheel is built from the sdist, so that what is missing in the sdist is missing here as well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
SMOKE = ROOT / "tools" / "smoke.py"
EXTRAS: list[list[str]] = [[], ["images", "serve", "plot"]]


def environment(cache: Path) -> dict[str, str]:
    """Return this environment without what could let the checkout, or a cache of this user, be found."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "I2CANSAY"))}
    return {**ours, "I2CANSAY_CACHE": str(cache)}


def build(folder: Path) -> Path:
    """Build the sdist, and from it the wheel; return the wheel."""
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], check=True)
    built = sorted(path.name for path in folder.iterdir())
    wheels = [name for name in built if name.endswith(".whl")]
    if len(built) != 2 or len(wheels) != 1:
        raise SystemExit(f"expected an sdist and a wheel, got {built}")
    return folder / wheels[0]


def try_installed(wheel: Path, extras: list[str], folder: Path) -> None:
    """Install the wheel into an empty environment in `folder` and run the smoke test from an empty folder."""
    home, empty = folder / "environment", folder / "empty"
    venv.create(home, with_pip=True)
    empty.mkdir()
    python = str(home / "bin" / "python")
    wanted = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted]
    ours = environment(folder / "cache")
    subprocess.run(install, cwd=empty, env=ours, check=True)
    smoke = shutil.copy(SMOKE, folder)
    subprocess.run([python, "-I", str(smoke), *extras], cwd=empty, env=ours, check=True)


def main() -> int:
    """Build and try the package; return the exit code."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        start = time.monotonic()
        try:
            wheel = build(folder / "dist")
            for number, extras in enumerate(EXTRAS):
                place = folder / str(number)
                place.mkdir()
                try_installed(wheel, extras, place)
        except subprocess.CalledProcessError as error:
            print(f"failed: {' '.join(map(str, error.cmd))}", file=sys.stderr)
            return 1
    print(f"sdist and wheel are in order ({time.monotonic() - start:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
