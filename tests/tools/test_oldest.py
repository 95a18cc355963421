from __future__ import annotations

import re
from pathlib import Path

import oldest
import pytest

ROOT = Path(__file__).parents[2]
EXTRA = re.compile(
    r"^\s*(?:from|import) (?:PIL|onnx|fastapi|uvicorn|matplotlib|pyarrow)\b|ImageLearner\(", re.M
)
"""What is there only with an extra. `make test-oldest` installs none."""


def test_every_core_dependency_has_a_lower_bound(capsys: pytest.CaptureFixture[str]) -> None:
    oldest.main()
    constraints = capsys.readouterr().out.splitlines()
    assert {line.partition("==")[0] for line in constraints} >= {"numpy", "scipy", "scikit-learn"}


@pytest.mark.parametrize("requirement", ["numpy", "numpy<3", "numpy>=1.26,<3"])
def test_a_requirement_without_a_plain_bound_is_named(requirement: str) -> None:
    with pytest.raises(SystemExit, match="name>=version"):
        oldest.constraint(requirement)


def run_by_make() -> list[Path]:
    """Return the test files that `make test-oldest` runs."""
    (recipe,) = re.findall(r"^test-oldest:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M)
    places = [ROOT / place for place in re.findall(r"tests/\S+", recipe)]
    return [path for place in places for path in ([place] if place.suffix else sorted(place.rglob("*.py")))]


@pytest.mark.parametrize("path", run_by_make(), ids=lambda path: str(path.relative_to(ROOT / "tests")))
def test_what_runs_on_the_oldest_versions_needs_no_extra(path: Path) -> None:
    assert EXTRA.findall(path.read_text()) == []


def test_an_extra_would_be_noticed() -> None:
    assert len(run_by_make()) > 50
    assert EXTRA.search("import numpy\nfrom PIL import Image\n")
    assert EXTRA.search("    model = ImageLearner('pixels')")
    assert not EXTRA.search('match="use ImageLearner"')
