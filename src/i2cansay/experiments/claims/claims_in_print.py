"""Claims checked on the paper's own tables: plain arithmetic on printed numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from i2cansay.experiments.claims.finding import PAPER, Finding, Verdict
from i2cansay.experiments.declare.declaration import Column, load_table, printed
from i2cansay.experiments.declare.relation import Relation

# Numbers are printed with one decimal: two roundings of a difference can move it by that much.
ROUNDING = 0.051
STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "min": min,
    "max": max,
    "mean": lambda v: sum(v) / len(v),
}


def check_paper(relation: Relation) -> Finding:
    """Return what the paper's tables say about a claim of its text.

    Examples
    --------
    >>> from i2cansay.experiments.declare.relation import load_relations
    >>> relation = next(each for each in load_relations() if each.name == "core50-over-second-1k")
    >>> finding = check_paper(relation)
    >>> print(finding.verdict, "-", finding.detail)
    does not hold - the text says 27.3, 27.7, the tables 25.9, 19.9
    """
    verdict, detail = _CHECKS[relation.kind](relation)
    return Finding(relation.name, relation.says, PAPER, verdict, detail)


def _value(relation: Relation, row: str, column: str) -> float:
    table = relation.declaration()
    place = [each.name for each in table.columns].index(column)
    return table.row(row, relation.backbone).paper[place]


def _values(relation: Relation, row: str) -> list[float]:
    return [_value(relation, row, column.name) for column in relation.chosen_columns()]


def _not_printed() -> tuple[Verdict, str]:
    return Verdict.UNTESTABLE, "the paper draws this and prints no numbers"


def _gain(relation: Relation) -> tuple[Verdict, str]:
    gains: dict[str, list[float]] = {}
    below = []
    for column in relation.chosen_columns():
        ours = _value(relation, relation.row, column.name)
        rivals = [_value(relation, rival, column.name) for rival in relation.rivals]
        best = max((value for value in rivals if printed(value)), default=float("nan"))
        if not printed(ours) or not printed(best):
            continue
        gains.setdefault(_group(relation, column), []).append(ours - best)
        if ours <= best:
            below.append(f"{column.name}: {ours:.1f} against {best:.1f}")
    if not gains:
        return _not_printed()
    found = [STATISTICS[relation.statistic](values) for values in gains.values()]
    texts = []
    if relation.said:
        said, tables = (", ".join(f"{value:.1f}" for value in values) for values in (relation.said, found))
        pairs = list(zip(relation.said, found, strict=True))
        # "At least" is true of anything larger; it only says less than it could.
        fits = all(abs(a - b) <= ROUNDING or (relation.statistic == "min" and a < b) for a, b in pairs)
        texts.append(f"the text says {said}, the tables {'the same' if said == tables else tables}")
    else:
        fits = True
        texts.append(f"at least {min(map(min, gains.values())):+.1f}")
    if below:
        texts.append(f"not above in {'; '.join(below)}")
    return (Verdict.HOLDS if fits and not below else Verdict.FAILS), "; ".join(texts)


def _group(relation: Relation, column: Column) -> str:
    return "" if relation.together else column.name if relation.each else column.dataset


def _flat(relation: Relation) -> tuple[Verdict, str]:
    values = _values(relation, relation.row)
    if not all(map(printed, values)):
        return _not_printed()
    extent = max(values) - min(values)
    verdict = Verdict.HOLDS if extent <= relation.tolerance else Verdict.FAILS
    return verdict, f"from {min(values):g} to {max(values):g}, a range of {extent:.2f}"


def _peak(relation: Relation) -> tuple[Verdict, str]:
    values = _values(relation, relation.row)
    if not all(map(printed, values)):
        return _not_printed()
    names = [column.name for column in relation.chosen_columns()]
    best = names[int(np.argmax(values))]
    return (Verdict.HOLDS if best == relation.at else Verdict.FAILS), f"best at {best}: {max(values):g}"


def _saturates(relation: Relation) -> tuple[Verdict, str]:
    values = _values(relation, relation.row)
    if not all(map(printed, values)):
        return _not_printed()
    place = [column.name for column in relation.chosen_columns()].index(relation.at)
    rise, rest = values[place] - values[0], max(values[place:]) - values[place]
    holds = rise > relation.tolerance >= rest
    return (Verdict.HOLDS if holds else Verdict.FAILS), f"{rise:+.1f} up to {relation.at}, {rest:+.1f} after"


def _depends(relation: Relation) -> tuple[Verdict, str]:
    gains = {
        f"{row} {column.name}": _value(relation, f"{row}_{relation.memories[-1]}", column.name)
        - _value(relation, f"{row}_{relation.memories[0]}", column.name)
        for row in relation.rows
        for column in relation.chosen_columns()
    }
    least = min(gains, key=lambda name: gains[name])
    verdict = Verdict.HOLDS if gains[least] >= relation.tolerance else Verdict.FAILS
    ends = f"from {relation.memories[0]} to {relation.memories[-1]}"
    return verdict, f"{ends} between {gains[least]:+.1f} ({least}) and {max(gains.values()):+.1f}"


def _close(relation: Relation) -> tuple[Verdict, str]:
    table = relation.declaration()
    row = table.row(relation.row, relation.backbone)
    names = [column.name for column in table.columns]
    verdict, texts = Verdict.HOLDS, []
    for first, second in relation.pairs:
        a, b = names.index(first), names.index(second)
        difference = row.paper[a] - row.paper[b]
        allowed = relation.tolerance + ROUNDING
        if abs(difference) > allowed:
            verdict = Verdict.FAILS
        texts.append(f"{first} - Gaussian {difference:+.1f}, allowed {allowed:.2f} (margin and rounding)")
    return verdict, "; ".join(texts)


def _same(relation: Relation) -> tuple[Verdict, str]:
    values = {}
    for table_name, row_name, column_name in relation.places:
        table = load_table(table_name)
        place = [column.name for column in table.columns].index(column_name)
        values[table.title.split(":")[0]] = table.row(row_name).paper[place]
    same = max(values.values()) - min(values.values()) <= ROUNDING
    text = ", ".join(f"{value:g} in {name}" for name, value in values.items())
    return (Verdict.HOLDS if same else Verdict.FAILS), text


_CHECKS: dict[str, Callable[[Relation], tuple[Verdict, str]]] = {
    "gain": _gain,
    "flat": _flat,
    "peak": _peak,
    "saturates": _saturates,
    "depends": _depends,
    "close": _close,
    "same": _same,
}
