"""Say which published records do not come from a clean commit; exit code 1 if there are any.

    python tools/clean_records.py [FOLDER ...]

Published are the lines of `results/*.jsonl` and `benchmarks/records/*.jsonl`. A figure that nobody can play again is
worth nothing, so a line without a commit counts, and one whose tree had uncommitted changes ("-dirty").
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = (ROOT / "results", ROOT / "benchmarks" / "records")


def unclean(folders: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield the file of every line that is not of a clean commit, and the commit that it names."""
    for file in sorted(path for folder in folders for path in folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            commit = json.loads(line).get("commit") or "no commit"
            if commit == "no commit" or commit.endswith("-dirty"):
                yield file, commit


def main(arguments: Sequence[str]) -> int:
    """Print a line for each file and commit; return the exit code."""
    found = Counter(unclean([Path(each) for each in arguments] or FOLDERS))
    for (file, commit), count in found.items():
        print(f"{file.name}: {count} records of {commit}; play them again from a clean tree", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
