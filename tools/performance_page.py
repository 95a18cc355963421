"""docs/performance.md from the record of `make bench`: ratios first, and a paragraph that reads them.

    python tools/performance_page.py [RECORD]

Verdicts on aims, comparisons and computed figures follow from the record; what a paragraph explains beside them is
how the learners and the benchmarks are built. `tools/docs.py` calls `page` too,
to write the page anew or to check that it is that of the record. The plot is drawn here alone.
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from performance_classes import many_classes
from performance_compiled import compiled
from performance_growth import growth, samples_seen, sizes, steps_leave_out
from performance_learners import learning, lessons_of_one, predicting
from performance_ways import answering, encoding, serving, starting
from performance_words import Lines, Row, join_words, span

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "benchmarks" / "records" / "performance.json"
PAGE = ROOT / "docs" / "performance.md"
PLOT = ROOT / "docs" / "images" / "performance.svg"
RATIOS = ROOT / "docs" / "images" / "performance-ratios.svg"
# A part of the cores above which others are said to have been at work.
BUSY = 0.1


def page(record: Path = RECORD) -> str:
    """Return the page for a record."""
    kept = json.loads(record.read_text())
    parts: dict[str, Row] = kept["parts"]
    lines = [
        "# Performance",
        "",
        "Made by `make bench` from `benchmarks/records/performance.json`; do not edit. `make docs` makes it anew "
        "from the same figures.",
        "",
        *_conditions(_measured(kept)),
    ]
    if all("figures" in parts.get(part, {}) for part in ("learner", "service")):
        lines += ["", "![Ratios to contenders, floors and aims](images/performance-ratios.svg)"]
    steps = parts.get("learner", {}).get("figures", {}).get("learning", [])
    beside = {
        learning: {"compiled": parts.get("compiled", {}).get("figures", [])},
        compiled: {"learning": steps},
    }
    for part, sections in SECTIONS.items():
        for title, section in sections:
            lines += ["", f"## {title}", ""]
            lines += _section(part, parts.get(part, {}), partial(section, **beside.get(section, {})))
            if section is learning:
                lines += ["", steps_leave_out(parts.get("growth", {}).get("figures", {}))]
    return "\n".join(lines) + "\n"


def _section(part: str, kept: Row, section: Callable[..., Lines]) -> Lines:
    """Return a section, and where its last run failed, why."""
    problem = f": {kept['problem']}" if "problem" in kept else ""
    if "figures" not in kept:
        return [f"Not in this record: `python benchmarks/{part}.py` gave no figures{problem}."]
    lines = section(kept["figures"])
    if problem:
        lines += ["", f"**Older figures.** The last run of `benchmarks/{part}.py` gave none{problem}."]
    return lines


def _measured(kept: Row) -> dict[str, Row]:
    """Return the parts that have figures, each with its machine, which older records have for all of them."""
    common = {"machine": kept["machine"]} if "machine" in kept else {}
    return {name: common | part for name, part in kept["parts"].items() if "figures" in part}


def _conditions(parts: dict[str, Row]) -> Lines:
    lines = [
        *_machines(parts),
        *_runs(parts),
        "Contenders take turns in one run, and medians are compared. Times of learners are processor time on one "
        "BLAS thread. Trust the ratios: milliseconds depend on the machine, and on what else it has to do.",
        "",
        "`paper` is `I2CANSAY`, `shared` is `SharedI2CANSAY`, and `closed form` the same with `analogies=False`; "
        "both without a lift, so that all have one width. A floor is the matrix products that cannot be avoided.",
    ]
    if any(_is_busy(part) for part in parts.values()):
        lines += [
            "",
            "**The machine had other work to do** while this record was made. Ratios of processor time suffer "
            "little from that, those of wall time (the encoder, the service) more.",
        ]
    quick = [name for name, part in parts.items() if part["quick"]]
    if quick:
        lines += ["", f"**Only a quick look**, of few rounds: {join_words(quick)}."]
    return lines


def _is_busy(part: Row) -> bool:
    """Whether others were at work. Older parts have the load before them, which counts the part before as well."""
    cores = part["machine"]["cores"]
    if part.get("others") is not None:
        return bool(part["others"] > BUSY * cores)
    return bool((part.get("load before") or 0) > cores)


def _runs(parts: dict[str, Row]) -> Lines:
    """Return a paragraph that says which parts are of one run, and at which load and from which commit it began."""
    runs: dict[str | None, list[str]] = {}
    for name, part in parts.items():
        runs.setdefault(part.get("run"), []).append(name)
    unknown, told = runs.pop(None, []), []
    for run, names in sorted(runs.items()):
        load = parts[names[0]].get("load at start")
        began = f"began {run}" + ("" if load is None else f" at a load of {load:.2f}")
        began += _from_commit(parts[names[0]].get("commit"))
        told.append(f"that of {join_words(names)} {began}")
    if not told:
        return ["The record does not say which parts are of one run.", ""] if unknown else []
    if len(told) == 1 and not unknown:
        (run,) = told
        return [f"All parts are of one run, which {run[run.index('began') :]}.", ""]
    rest = f" Of {join_words(unknown)} the record does not say the run." if unknown else ""
    return [f"**Parts are of different runs:** {'; '.join(told)}.{rest}", ""]


def _from_commit(commit: str | None) -> str:
    """Return words for the commit that a run measured; older parts, and those of an installed package, name none."""
    if commit is None:
        return ""
    clean = commit.removesuffix("-dirty")
    return f" from commit {clean}" + (" with uncommitted changes" if clean != commit else "")


def _machines(parts: dict[str, Row]) -> Lines:
    """Return a paragraph for each machine and set of versions: what it is, and when it measured which parts."""
    groups: dict[str, list[str]] = {}
    for name, part in parts.items():
        groups.setdefault(json.dumps(part["machine"], sort_keys=True), []).append(name)
    lines: Lines = []
    for described, names in groups.items():
        machine, some = json.loads(described), [parts[name] for name in names]
        versions = "".join(f", {name} {version}" for name, version in machine["versions"].items())
        lines += [
            (f"{join_words(names)}: " if len(groups) > 1 else "")
            + f"{machine['processor']}, {machine['cores']} cores; Python {machine['python']}{versions}. "
            f"Taken {join_words(sorted({part['taken'] for part in some}))}, in "
            f"{sum(part['seconds'] for part in some) / 60:.0f} minutes" + f"{_company(some)}.",
            "",
        ]
    return lines


def _company(parts: list[Row]) -> str:
    """Return how busy the machine was with other things."""
    others = [part["others"] for part in parts if part.get("others") is not None]
    before = [part["load before"] for part in parts if part.get("load before") is not None]
    told = f", while others kept {span(others, 2)} cores busy" if others else ""
    if before:
        told += f", at a load of {span(before)} before the parts, in which the bench's own part before counts"
    return told


Section = tuple[str, Callable[..., Lines]]
SECTIONS: dict[str, list[Section]] = {
    "learner": [
        ("Learning, batches of 50", learning),
        ("Learning, one sample at a time", lessons_of_one),
        ("Predicting 1,000 rows", predicting),
    ],
    "compiled": [("What compiled loops would bring", compiled)],
    "growth": [
        ("Growth with classes, dimensions and batches", growth),
        ("Growth with samples seen", samples_seen),
        ("Bytes of state", sizes),
    ],
    "class_scale": [("Many classes", many_classes)],
    "encoder": [("Encoding", encoding)],
    "answer_time": [("From a lesson to an answer", answering)],
    "service": [("The service", serving)],
    "start_up": [("The command line", starting)],
}


def main() -> None:
    """Write the page and draw the plots."""
    from performance_plot import draw, draw_ratios

    record = Path(sys.argv[1]) if len(sys.argv) > 1 else RECORD
    PAGE.write_text(page(record))
    parts = json.loads(record.read_text())["parts"]
    if "figures" in parts.get("growth", {}):
        draw(parts["growth"]["figures"], PLOT)
    draw_ratios(parts, RATIOS)


if __name__ == "__main__":
    main()
