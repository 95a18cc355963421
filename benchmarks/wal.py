"""What it costs that the service empties its write-ahead log after every commit.

    python benchmarks/wal.py [--rounds N] [--folder FOLDER]

A lesson of one sample is committed to the file of a model of 100 classes and 1280 features, in three ways that take
turns: the log emptied as the service does it; its pages moved into the file while the log keeps its length; nothing
moved, which no service could do for long, since the log grows. The first leaves no page of an earlier state in the
log. FOLDER should be on the disk that is asked about.
"""

import argparse
import copy
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from interleaved import interleaved

from i2cansay import I2CANSAY
from i2cansay.core.types import State
from i2cansay.learners.learner_state import whole_state
from i2cansay.service.storage.database import Changes, Database
from i2cansay.service.storage.model_records import ModelFacts

CLASSES, WIDTH = 100, 1280


class Moved(Database):
    """Moves pages into the file, and leaves the log at its length."""

    def sweep(self) -> bool:
        """Let the next commit write over the log."""
        return not self._connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()[0]


class Left(Database):
    """Leaves all pages in the log."""

    def sweep(self) -> bool:
        """Do nothing."""
        return True


WAYS: dict[str, type[Database]] = {"emptied": Database, "moved": Moved, "left": Left}


class Lessons:
    """Commits lesson after lesson of one sample to a file."""

    def __init__(self, path: Path, way: type[Database]) -> None:
        before, after = states()
        Database.create(path, ModelFacts("wal", "i2cansay", {}, None, 0, 0.0), before, Changes())
        self.states, self.version = (before, after), 1
        self.database = way(path)
        self.database.read()

    def commit(self) -> None:
        """Commit the lesson, or take it back."""
        self.version += 1
        self.database.commit(self.version, self.states[(self.version + 1) % 2], {}, Changes())


def states() -> tuple[State, State]:
    """Return a learner's state before and after a lesson of one sample."""
    rng = np.random.default_rng(0)
    X, y = rng.random((CLASSES * 5, WIDTH)), np.arange(CLASSES * 5) % CLASSES
    learner = I2CANSAY(random_state=0).partial_fit(X, y)
    before = copy.deepcopy(whole_state(learner))
    return before, whole_state(learner.partial_fit(X[:1], y[:1]))


def main() -> None:
    """Print milliseconds of a commit by the clock and of processor time, and ratios to what the service does."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--folder", help="where the files are made; by default that for temporary files")
    wish = parser.parse_args()
    for title, clock in (("by the clock", perf_counter), ("processor time", process_time)):
        with tempfile.TemporaryDirectory(dir=wish.folder) as folder:
            lessons = {name: Lessons(Path(folder) / f"{name}.db", way) for name, way in WAYS.items()}
            times = interleaved(
                {name: one.commit for name, one in lessons.items()}, rounds=wish.rounds, clock=clock
            )
            for one in lessons.values():
                one.database.close()
        print(f"{title}: " + ", ".join(f"{name} {1000 * t:.2f} ms" for name, t in times.items()))
        for name in ("moved", "left"):
            print(f"  {name} takes {times[name] / times['emptied']:.2f} of emptied")


if __name__ == "__main__":
    main()
