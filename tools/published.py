"""Play everything that is published once more, from one commit.

    python tools/published.py --plan [FOLDER]    what FOLDER has no records of, and how long it takes
    python tools/published.py --play FOLDER      play that; may be stopped, and begun again where it was
    python tools/published.py --pack FOLDER      put the records of FOLDER in the place of those that are published

What is published is declared in `results/plays.toml`. Times are estimated from the records that are published.

Records are of the tree that the package `i2cansay` lies in: from a clone at a commit, with this script of another,
`CLONE/.venv/bin/python tools/published.py --play FOLDER` makes records of that commit. It has to be a clean one,
and a FOLDER has records of one commit only. --pack leaves a published record alone where FOLDER has none of its
cell, and drops one that no play shows.
"""

import argparse
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from i2cansay.experiments import Record, load_records, pack_records
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.run.filling import RecordIndex, measure
from i2cansay.experiments.run.forecast import Durations, Forecast
from i2cansay.experiments.run.planning import make_plan
from i2cansay.experiments.run.playing import commit
from i2cansay.experiments.run.reproduction import forecast_table, reproduce_table
from i2cansay.experiments.run.run_progress import show_run

ROOT = Path(__file__).parent.parent
PLAYS = ROOT / "results" / "plays.toml"


@dataclass(frozen=True)
class Play:
    """A table, what of it is played, and the published file of its records."""

    file: Path
    table: str
    choice: Choice

    @classmethod
    def of(cls, values: Mapping[str, Any], root: Path) -> "Play":
        """Return what a table of the declaration says."""
        chosen = {name: value for name, value in values.items() if name not in ("file", "table")}
        return cls(root / values["file"], values["table"], Choice(**chosen))

    @property
    def title(self) -> str:
        """What is played, in one line."""
        chosen = {name: value for name, value in vars(self.choice).items() if value}
        return ", ".join([self.table, *(f"{name} {_words(value)}" for name, value in chosen.items())])

    def records(self, records: Iterable[Record]) -> list[Record]:
        """Return those of the records that it shows, each once."""
        plan = measure(make_plan(load_table(self.table), self.choice), RecordIndex(records))
        return list({record.key: record for record in plan.records}.values())


def _words(value: Any) -> str:
    return " ".join(value) if isinstance(value, list) else str(value)


def load_plays(path: Path = PLAYS, root: Path = ROOT) -> list[Play]:
    """Return the declared plays, in their order."""
    return [Play.of(values, root) for values in tomllib.loads(path.read_text(encoding="utf-8"))["play"]]


def published_records(plays: Sequence[Play]) -> dict[Path, list[Record]]:
    """Return the records of every published file."""
    files = dict.fromkeys(play.file for play in plays)
    return {file: load_records(file) if file.exists() else [] for file in files}


def only_commit(records: Iterable[Record]) -> str | None:
    """Return the commit of all records; None if there are none.

    Raises
    ------
    ValueError
        If they are of several, or one is not clean.
    """
    found = sorted({record.commit or "no commit" for record in records})
    unclean = [each for each in found if each == "no commit" or each.endswith("-dirty")]
    if len(found) > 1 or unclean:
        raise ValueError(f"expected records of one clean commit, got those of {', '.join(found)}")
    return found[0] if found else None


def packed(
    plays: Sequence[Play], played: Sequence[Record], published: Mapping[Path, Sequence[Record]]
) -> dict[Path, list[Record]]:
    """Return what every file is to have: what was played, in the first file that shows it, and else what it has."""
    taken: dict[str, tuple[Path, Record]] = {}
    shown: set[str] = set()
    older = [record for records in published.values() for record in records]
    for play in plays:
        for record in play.records(played):
            taken.setdefault(record.key, (play.file, record))
        shown |= {record.key for record in play.records(older)}
    return {
        file: [record for record in records if record.key in shown and record.key not in taken]
        + [record for place, record in taken.values() if place == file]
        for file, records in published.items()
    }


def print_plan(plays: Sequence[Play], there: Sequence[Record], times: Sequence[Record], jobs: int) -> None:
    """Print for every play the cells that are there and those to play, and the hours of these."""
    durations, known = Durations([*there, *times]), list(there)
    seconds = cells = unknown = 0.0
    print("| play | there | to play | hours of one process |")
    print("|---|---:|---:|---:|")
    for play in plays:
        made: Forecast = forecast_table(play.table, play.choice, known, durations)
        hours = f"{made.seconds / 3600:.2f}{f', and {made.n_unknown} unknown' if made.n_unknown else ''}"
        print(f"| {play.title} | {made.n_there} | {made.n_to_play} | {hours} |")
        seconds, cells, unknown = seconds + made.seconds, cells + made.n_to_play, unknown + made.n_unknown
    print(
        f"\n{cells:.0f} cells, about {seconds / jobs / 3600:.1f} hours with {jobs} processes as fast as those of "
        f"the records; {unknown:.0f} cells have no estimate. A cell that two plays share counts in both."
    )


def play_all(plays: Sequence[Play], folder: Path, jobs: int) -> int:
    """Play what has no record in a folder; return the exit code."""
    mine = commit()
    theirs = only_commit(load_records(folder) if folder.exists() else [])
    if mine is None or mine.endswith("-dirty"):
        raise ValueError(f"records of record come from a clean commit; this tree is {mine or 'none'}")
    if theirs not in (None, mine):
        raise ValueError(f"{folder} has records of {theirs}, and this tree is {mine}; give another folder")
    code = 0
    for play in plays:
        print(f"{play.title}: for {play.file.name}", flush=True)
        try:
            with show_run(play.table) as progress:
                done = reproduce_table(play.table, play.choice, folder, jobs=jobs, progress=progress)
        except (OSError, ImportError, ValueError) as error:  # what one play lacks does not stop the others
            print(f"{play.title}: {error}", file=sys.stderr, flush=True)
            code = 1
            continue
        for sentence in (*done.unavailable, *done.failures):
            print(f"{play.title}: {sentence}", file=sys.stderr, flush=True)
            code = 1
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is asked; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--plan", metavar="FOLDER", nargs="?", const="", help="say what is left to play")
    what.add_argument("--play", metavar="FOLDER", type=Path, help="play it")
    what.add_argument("--pack", metavar="FOLDER", type=Path, help="publish the records of FOLDER")
    parser.add_argument("--file", action="append", default=[], help="only plays of this file; repeatable")
    parser.add_argument("--table", action="append", default=[], help="only plays of this table; repeatable")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    wish = parser.parse_args(arguments)
    if wish.pack and (wish.file or wish.table):
        parser.error("--pack takes all plays; leave out --file and --table")
    plays = load_plays()
    chosen = [
        play
        for play in plays
        if (not wish.file or play.file.name in wish.file) and (not wish.table or play.table in wish.table)
    ]
    try:
        if wish.play:
            return play_all(chosen, wish.play, wish.jobs)
        published = published_records(plays)
        if wish.pack:
            played = load_records(wish.pack)
            newest = only_commit(played)
            for file, records in packed(plays, played, published).items():
                pack_records(records, file)
                dropped = {record.key for record in published[file]} - {record.key for record in records}
                older = Counter(record.commit for record in records if record.commit != newest)
                print(
                    f"{file.name}: {len(records)} records, {older.total()} of them of {len(older)} older commits; "
                    f"{len(dropped)} dropped or moved"
                )
            return 0
        times = [record for records in published.values() for record in records]
        print_plan(
            chosen,
            load_records(wish.plan) if wish.plan and Path(wish.plan).exists() else [],
            times,
            wish.jobs,
        )
        return 0
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
