"""Plays stored records again and compares: does today's code still give the published figures?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from i2cansay.disk.places import cache_folder
from i2cansay.evaluate import last_accuracy
from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.run.playing import TOLD_BY_FEATURES, play_cell
from i2cansay.experiments.run.record import Record
from i2cansay.experiments.run.seed_statistics import changed_share
from i2cansay.experiments.run.shared_features import SharedFeatures, has_ready_features, share_features

Source = tuple[str, str]


@dataclass(frozen=True)
class Replay:
    """A stored record, and what the same cell gives now.

    Attributes
    ----------
    record : Record
    accuracy_now : float
        Last accuracy now, in percent; nan if the cell could not be played.
    share_changed : float
        Share of the stored predictions that are different now.
    seconds : float
        Time of the replay.
    problem : str
        Why the cell could not be played; empty if it could.
    """

    record: Record
    accuracy_now: float
    share_changed: float
    seconds: float
    problem: str = ""

    @property
    def accuracy_then(self) -> float:
        """The stored last accuracy, in percent."""
        return 100 * last_accuracy(self.record.outcome)

    @property
    def is_equal(self) -> bool:
        """Whether accuracy and predictions are exactly those stored."""
        return self.accuracy_now == self.accuracy_then and self.share_changed == 0

    def is_within(self, points: float) -> bool:
        """Whether the accuracy changed by at most this many points."""
        return not self.problem and abs(self.accuracy_now - self.accuracy_then) <= points


def cell_of(record: Record) -> Cell:
    """Return the cell of a record with all parameters it was played with, even if defaults have changed since.

    What the features tell a learner is left to them: a record has None there.
    """
    parameters = {
        name: value
        for name, value in record.parameters.items()
        if not (name in TOLD_BY_FEATURES and value is None)
    }
    return Cell(**{**record.cell, "parameters": parameters})


def find_features(
    records: Sequence[Record], *, encode: bool = False
) -> tuple[dict[Source, SharedFeatures], dict[Source, str]]:
    """Return the features of the records by data set and encoder, and a sentence for every source without features.

    Features with another fingerprint than that of the records do not count. Images are encoded only with `encode`.
    """
    found: dict[Source, SharedFeatures] = {}
    missing: dict[Source, str] = {}
    for record in records:
        source = str(record.cell["dataset"]), str(record.cell["encoder"])
        if source in found or source in missing:
            continue
        wanted = str(record.features["fingerprint"])
        folder = cache_folder() / "shared" / f"{source[0]}-{wanted[:16]}"
        if (folder / "test-labels.npy").is_file():
            found[source] = SharedFeatures(folder, record.features)
            continue
        if not encode and not has_ready_features(*source):
            missing[source] = f"there are no features of {source[0]} with {source[1]}"
            continue
        try:
            features = share_features(*source)
        except (OSError, ValueError, ImportError) as error:
            missing[source] = " ".join(str(error).split())
            continue
        if features.fingerprint == wanted:
            found[source] = features
        else:
            missing[source] = f"the features of {source[0]} with {source[1]} are not those of the records"
    return found, missing


def pick_records(records: Sequence[Record], n: int, seed: int) -> list[Record]:
    """Draw up to `n` records, from every pair of learner and data set in turn, so that few records cover many."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.key):
        groups[record.cell["learner"], record.cell["dataset"]].append(record)
    rng = np.random.default_rng(seed)
    queues = [[group[i] for i in rng.permutation(len(group))] for _, group in sorted(groups.items())]
    in_turn = [
        queue[i] for i in range(max(map(len, queues), default=0)) for queue in queues if i < len(queue)
    ]
    return in_turn[:n]


def replay(records: Sequence[Record], sources: dict[Source, SharedFeatures]) -> Iterator[Replay]:
    """Play the cells of the records again, with one BLAS thread, as they were played before."""
    with threadpool_limits(1):
        for record in records:
            yield _replayed(record, sources[record.cell["dataset"], record.cell["encoder"]])


def _replayed(record: Record, features: SharedFeatures) -> Replay:
    begin = perf_counter()
    try:
        now = play_cell(cell_of(record), features)
    except Exception as error:  # a method that fails must not stop the others
        return Replay(record, float("nan"), 1.0, perf_counter() - begin, f"{type(error).__name__}: {error}")
    share = changed_share(record, now)
    return Replay(record, 100 * last_accuracy(now.outcome), share, perf_counter() - begin)
