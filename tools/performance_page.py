"""docs/performance.md from the record of `make bench`: ratios first, and a paragraph that reads them.

    python tools/performance_page.py [RECORD]

Verdicts on aims, comparisons and computed figures follow from the record; what a paragraph explains beside them is
how the learners and the benchmarks are built. `tools/docs.py` calls `page` too,
to write the page anew or to check that it is that of the record. The plot is drawn here alone.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from performance_growth import growth, many_classes, samples_seen, sizes, steps_leave_out
from performance_learners import compiled, learning, lessons_of_one, predicting
from performance_ways import answering, encoding, serving, starting
from performance_words import Lines, Row, join_words

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "benchmarks" / "records" / "performance.json"
PAGE = ROOT / "docs" / "performance.md"
PLOT = ROOT / "docs" / "images" / "performance.svg"


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
    for part, sections in SECTIONS.items():
        for title, section in sections:
            lines += ["", f"## {title}", ""]
            lines += _section(part, parts.get(part, {}), section)
            if section is learning:
                lines += ["", steps_leave_out(parts.get("growth", {}).get("figures", {}))]
    return "\n".join(lines) + "\n"


def _section(part: str, kept: Row, section: Callable[[Any], Lines]) -> Lines:
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
        "Contenders take turns in one run, and medians are compared. Times of learners are processor time on one "
        "BLAS thread. Trust the ratios: milliseconds depend on the machine, and on what else it has to do.",
        "",
        "`paper` is `I2CANSAY`, `shared` is `SharedI2CANSAY`, and `closed form` the same with `analogies=False`; "
        "both without a lift, so that all have one width. A floor is the matrix products that cannot be avoided.",
    ]
    loads = [(part["load before"], part["machine"]["cores"]) for part in parts.values()]
    if any(load is not None and load > cores for load, cores in loads):
        lines += [
            "",
            "**The machine had other work to do** while this record was made. Ratios of processor time suffer "
            "little from that, those of wall time (the encoder, the service) more.",
        ]
    quick = [name for name, part in parts.items() if part["quick"]]
    if quick:
        lines += ["", f"**Only a quick look**, of few rounds: {join_words(quick)}."]
    return lines


def _machines(parts: dict[str, Row]) -> Lines:
    """Return a paragraph for each machine and set of versions: what it is, and when it measured which parts."""
    groups: dict[str, list[str]] = {}
    for name, part in parts.items():
        groups.setdefault(json.dumps(part["machine"], sort_keys=True), []).append(name)
    lines: Lines = []
    for described, names in groups.items():
        machine, some = json.loads(described), [parts[name] for name in names]
        versions = "".join(f", {name} {version}" for name, version in machine["versions"].items())
        busy = [part["load before"] for part in some if part["load before"] is not None]
        lines += [
            (f"{join_words(names)}: " if len(groups) > 1 else "")
            + f"{machine['processor']}, {machine['cores']} cores; Python {machine['python']}{versions}. "
            f"Taken {join_words(sorted({part['taken'] for part in some}))}, in "
            f"{sum(part['seconds'] for part in some) / 60:.0f} minutes"
            + (f", at a load of {min(busy):.1f} to {max(busy):.1f} before the parts." if busy else "."),
            "",
        ]
    return lines


Section = tuple[str, Callable[[Any], Lines]]
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
    from performance_plot import draw

    record = Path(sys.argv[1]) if len(sys.argv) > 1 else RECORD
    PAGE.write_text(page(record))
    parts = json.loads(record.read_text())["parts"]
    if "figures" in parts.get("growth", {}):
        draw(parts["growth"]["figures"], PLOT)


if __name__ == "__main__":
    main()
