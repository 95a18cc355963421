"""Print the oldest version of every dependency that pyproject.toml allows, one constraint to a line for pip.

python tools/oldest.py > constraints.txt
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)>=(?P<version>[0-9.]+)")


def constraint(requirement: str) -> str:
    """Return the constraint that holds a requirement to its lower bound.

    Examples
    --------
    >>> constraint("numpy>=1.26")
    'numpy==1.26'
    """
    found = BOUND.fullmatch(requirement)
    if found is None:
        raise SystemExit(f"expected a requirement of the form name>=version, got {requirement!r}")
    return f"{found['name']}=={found['version']}"


def main() -> None:
    """Print the constraints of the core dependencies."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    print("\n".join(map(constraint, project["dependencies"])))


if __name__ == "__main__":
    main()
