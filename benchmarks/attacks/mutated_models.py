"""Open model files that were changed; print how many were refused, how many could be used, and the memory taken.

python benchmarks/attacks/mutated_models.py --count 10000
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from i2cansay.learners import LEARNERS
from tests.learners.mutated_models import attack


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learners", nargs="*", default=list(LEARNERS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    faulthandler.enable()
    found = attack(options.count, options.seed, options.learners)
    print(json.dumps(found))
    return 1 if found.get("FAILED") or found["peak memory, MB"] > 2 * found["memory before, MB"] else 0


if __name__ == "__main__":
    sys.exit(main())
