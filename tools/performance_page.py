"""docs/performance.md from the record of `make bench`: ratios first, and a paragraph that reads them.

    python tools/performance_page.py [RECORD]

What a paragraph says follows from the figures, so that it is true of any record. `tools/docs.py` calls `page` too,
to write the page anew or to check that it is that of the record. The plot is drawn here alone.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from performance_growth import growth, many_classes, samples_seen, sizes
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
        *_conditions(kept["machine"], parts),
    ]
    for part, sections in SECTIONS.items():
        for title, section in sections:
            lines += ["", f"## {title}", ""]
            if part in parts:
                lines += section(parts[part]["figures"])
            else:
                lines.append(f"Not in this record: `python benchmarks/{part}.py` gave no figures.")
    return "\n".join(lines) + "\n"


def _conditions(machine: Row, parts: dict[str, Row]) -> Lines:
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    busy = [part["load before"] for part in parts.values() if part["load before"] is not None]
    days = sorted({part["taken"] for part in parts.values()})
    quick = [name for name, part in parts.items() if part["quick"]]
    minutes = sum(part["seconds"] for part in parts.values()) / 60
    lines = [
        f"{machine['processor']}, {machine['cores']} cores; Python {machine['python']}, {versions}. "
        f"Taken {join_words(days)}, in {minutes:.0f} minutes"
        + (f", at a load of {min(busy):.1f} to {max(busy):.1f} before the parts." if busy else "."),
        "",
        "Contenders take turns in one run, and medians are compared. Times of learners are processor time on one "
        "BLAS thread. Trust the ratios: milliseconds depend on the machine, and on what else it has to do.",
        "",
        "`paper` is `I2CANSAY`, `shared` is `SharedI2CANSAY`, and `closed form` the same with `analogies=False`; "
        "both without a lift, so that all have one width. A floor is the matrix products that cannot be avoided.",
    ]
    if busy and max(busy) > machine["cores"]:
        lines += [
            "",
            "**The machine had other work to do** while this record was made. Ratios of processor time suffer "
            "little from that, those of wall time (the encoder, the service) more.",
        ]
    if quick:
        lines += ["", f"**Only a quick look**, of few rounds: {join_words(quick)}."]
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
    if "growth" in parts:
        draw(parts["growth"]["figures"], PLOT)


if __name__ == "__main__":
    main()
