"""Play stored records again and compare last accuracy and kept predictions with the stored ones.

    python tools/replay.py results benchmarks/records/shared_mode.jsonl --n 20 [--seed 0] [--encode]

Only records are drawn whose features are at hand, through I2CANSAY_DATA and I2CANSAY_CACHE; with --encode images
of the others are encoded. Exit code 1: a figure moved beyond the tolerance, or a cell failed; 2: there
was nothing to replay. Another BLAS kernel moves chaotic learners in the last digit, hence a tolerance above 0.
"""

import argparse
import sys

from i2cansay.experiments import Record, load_records
from i2cansay.experiments.run.replay import find_features, pick_records, replay


def main() -> int:
    """Replay, print a table, return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("records", nargs="+", help="folders or files of records")
    parser.add_argument(
        "--n", type=int, default=10, help="how many records; learners and data sets take turns"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--dataset", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--learner", action="append", default=[], help="only this one; repeatable")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="only cells that took at most so long"
    )
    parser.add_argument("--tolerance", type=float, default=0.1, help="in points of accuracy")
    parser.add_argument("--encode", action="store_true", help="encode images where no features are at hand")
    wish = parser.parse_args()

    def is_wanted(record: Record) -> bool:
        cell = record.cell
        return (
            (not wish.dataset or cell["dataset"] in wish.dataset)
            and (not wish.learner or cell["learner"] in wish.learner)
            and record.seconds <= wish.seconds
        )

    stored = [record for record in load_records(*wish.records) if is_wanted(record)]
    sources, missing = find_features(stored, encode=wish.encode)
    for sentence in missing.values():
        print(sentence, file=sys.stderr)
    at_hand = [record for record in stored if (record.cell["dataset"], record.cell["encoder"]) in sources]
    chosen = pick_records(at_hand, wish.n, wish.seed)
    if not chosen:
        print("there is nothing to replay", file=sys.stderr)
        return 2
    print("| learner | cell | stored, % | now, % | predictions changed | seconds then | now | |")
    print("|---|---|---:|---:|---:|---:|---:|---|")
    equal = beyond = 0
    for done in replay(chosen, sources):
        cell = done.record.cell
        share = "" if cell["fraction"] is None else f" {cell['fraction']:.0%}"
        changed = ", ".join(f"{name}={value}" for name, value in cell["parameters"].items())
        where = f"{cell['dataset']}{share}, {cell['stream']}, seed {cell['seed']}"
        answer = done.problem or (
            "equal" if done.is_equal else "within" if done.is_within(wish.tolerance) else "beyond"
        )
        figures = f"{done.accuracy_then:.2f} | {done.accuracy_now:.2f} | {done.share_changed:.1%}"
        times = f"{done.record.seconds:.1f} | {done.seconds:.1f}"
        learner = f"{cell['learner']} ({changed})" if changed else cell["learner"]
        print(f"| {learner} | {where} | {figures} | {times} | {answer} |", flush=True)
        equal += done.is_equal
        beyond += not done.is_within(wish.tolerance)
    n = len(chosen)
    print(
        f"\n{n} replayed: {equal} equal, {n - equal - beyond} within {wish.tolerance:g} points, {beyond} not"
    )
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
