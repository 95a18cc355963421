"""Figures that are kept: a line of JSON for each run, so that a table can be finished later and printed again."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from i2cansay.experiments.claims.statistics import spread
from i2cansay.experiments.run.playing import commit

Values = Mapping[str, float]


class Figures:
    """What runs have shown, by table, run and seed, in a file that several processes may add to.

    A line says which commit it was measured with. Where the code has changed since in a way that matters, delete the
    line, and it is measured again.

    Parameters
    ----------
    path : Path
    play : bool
        Whether what is missing is measured; else it stays missing.
    """

    def __init__(self, path: Path, *, play: bool) -> None:
        self._path, self._play = path, play
        self._known: dict[tuple[str, str, int], Values] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            kept = json.loads(line)
            self._known[kept["table"], kept["run"], kept["seed"]] = kept["values"]

    def of(self, table: str, run: str, seed: int, measure: Callable[[], Values]) -> Values | None:
        """Return the figures of one run: as they were kept, else as measured now and then kept, else None."""
        key = table, run, seed
        if key not in self._known and self._play:
            values = self._known[key] = dict(measure())
            line = {"table": table, "run": run, "seed": seed, "values": values, "commit": commit()}
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        return self._known.get(key)


def over_seeds(runs: Iterable[Values | None], name: str, digits: int = 1) -> str:
    """Return mean and standard deviation of one figure, and over how many runs where some are missing."""
    wanted = list(runs)
    values = [run[name] for run in wanted if run is not None and name in run]
    if not values:
        return "-"
    over = spread(values)
    text = f"{over.mean:.{digits}f}" + (f" ± {over.std:.{digits}f}" if over.n > 1 else "")
    return text if len(values) == len(wanted) else f"{text} ({len(values)} of {len(wanted)})"


def markdown(corner: str, heads: Sequence[str], lines: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return a table: what stands in its corner, the heads of its columns, and its lines by name."""
    rows = [(corner, heads), *lines]
    text = [f"| {name} | " + " | ".join(places) + " |" for name, places in rows]
    return "\n".join([text[0], "|---" * (len(heads) + 1) + "|", *text[1:]])
