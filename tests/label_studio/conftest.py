"""A real Label Studio and a service beside it. Runs by `make test-labelstudio`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # tests say `from tests.service... import ...`

PROGRAM = os.environ.get("I2CANSAY_LABEL_STUDIO", "")

if not PROGRAM:
    collect_ignore_glob = ["test_*.py"]  # they need a Label Studio, which only this target installs
else:
    from tests.label_studio.real_studio import RealStudio, started

    @pytest.fixture(scope="session")
    def studio() -> Iterator[RealStudio]:
        """A Label Studio on loopback, on SQLite."""
        with started(Path(PROGRAM)) as studio:
            yield studio
