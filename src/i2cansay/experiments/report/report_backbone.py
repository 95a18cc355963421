"""How near the paper's printed numbers come on its own backbone, in one table."""

from __future__ import annotations

from collections.abc import Mapping

from i2cansay.experiments.declare.declaration import printed
from i2cansay.experiments.report.table_model import TableModel, table_of
from i2cansay.experiments.run.plan import Entry, Plan

# The title of what was printed, and the data set, by the name of the table that plays it.
PRINTED_IN = {
    "resnet50": "Table 1",
    "table3": "Table 3",
    "table4": "Table 4, the parts",
    "table5": "Table 5, the memory",
    "table6": "Table 6, beta",
}
DATA = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100", "cub200": "CUB-200"}


def nearness_model(plans: Mapping[str, Plan]) -> TableModel:
    """Return our numbers of the paper's method minus the printed ones, by printed table and data set."""
    heads = (
        "printed in",
        "data",
        "numbers",
        "ours minus print, mean",
        "lowest",
        "highest",
        "seeds",
        "largest ± in print",
    )
    rows = []
    for name, title in PRINTED_IN.items():
        for dataset, entries in _compared(plans[name]).items():
            deltas = [entry.delta for entry in entries if entry.delta is not None]
            deviations = [entry.pm for entry in entries if printed(entry.pm)]
            counts = sorted({len(entry.records) for entry in entries})
            rows.append(
                (
                    title,
                    DATA[dataset],
                    f"{len(deltas)}",
                    f"{sum(deltas) / len(deltas):+.1f}",
                    f"{min(deltas):+.1f}",
                    f"{max(deltas):+.1f}",
                    f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}",
                    f"{max(deviations):.1f}" if deviations else "",
                )
            )
    return table_of(heads, rows)


def _compared(plan: Plan) -> Mapping[str, list[Entry]]:
    """Return the entries of the paper's method that have a printed number and ours, by data set."""
    found: dict[str, list[Entry]] = {}
    for row in plan.rows:
        if row.declared.learner != "i2cansay":
            continue
        for entry in row.entries:
            if entry.delta is not None:
                found.setdefault(entry.column.dataset, []).append(entry)
    return found
