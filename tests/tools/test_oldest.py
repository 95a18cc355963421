from __future__ import annotations

import oldest
import pytest


def test_every_core_dependency_has_a_lower_bound(capsys: pytest.CaptureFixture[str]) -> None:
    oldest.main()
    constraints = capsys.readouterr().out.splitlines()
    assert {line.partition("==")[0] for line in constraints} >= {"numpy", "scipy", "scikit-learn"}


@pytest.mark.parametrize("requirement", ["numpy", "numpy<3", "numpy>=1.26,<3"])
def test_a_requirement_without_a_plain_bound_is_named(requirement: str) -> None:
    with pytest.raises(SystemExit, match="name>=version"):
        oldest.constraint(requirement)
