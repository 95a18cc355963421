"""Put the tables of docs/shared-mode.md there, from what is kept in benchmarks/records.

    python benchmarks/shared_page.py [--check]

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``; whatever else is on the page is left alone.
With ``--check`` nothing is written, and it is an error if a table is not what the records say.
"""

import argparse
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import shared_behaviour
import shared_choices
import shared_mode
from figures import Figures

from i2cansay.experiments import load_records

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "docs" / "shared-mode.md"
PLACE = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
SEEDS = 3


def tables() -> dict[str, Callable[[], str]]:
    """Return how each table is made, by its name on the page."""
    records = load_records(FOLDER / "records" / "shared_mode.jsonl")
    study = shared_behaviour.Study(Figures(shared_behaviour.RECORDS, play=False), SEEDS)
    choices = Figures(shared_choices.RECORDS, play=False)
    made: dict[str, Callable[[], str]] = {}
    for kind, stream in enumerate(shared_mode.KINDS):
        wish = (records, shared_mode.ROWS, shared_mode.COLUMNS, kind)
        made[f"accuracy, {stream}"] = partial(shared_mode.table, *wish)
        made[f"differences, {stream}"] = partial(shared_mode.differences, *wish)
        made[f"wide differences, {stream}"] = partial(shared_mode.differences, *wish, shared_mode.WIDE)
    made["ablation"] = partial(shared_mode.table, records, shared_mode.ABLATION, shared_mode.COLUMNS, 0)
    made["ablation differences"] = partial(
        shared_mode.differences, records, shared_mode.ABLATION, shared_mode.COLUMNS, 0
    )
    made |= {name: partial(table, study) for name, table in shared_behaviour.TABLES.items()}
    made |= {
        f"choice of {name}": partial(choice.table, choices) for name, choice in shared_choices.STUDIES.items()
    }
    return made


def main() -> None:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    made, before = tables(), PAGE.read_text(encoding="utf-8")
    text = PLACE.sub(lambda place: f"{place[1]}\n{made[place[2]]()}\n\n{place[3]}", before)
    if check and text != before:
        sys.exit(
            f"{PAGE.name} has tables that are not those of the records; run python benchmarks/shared_page.py"
        )
    if not check:
        PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
