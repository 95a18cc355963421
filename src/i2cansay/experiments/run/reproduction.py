"""Reproduces one table: finds its features, plays its cells, fills it from their records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from i2cansay.engines import Engine
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.run.filling import RecordIndex, measure
from i2cansay.experiments.run.forecast import Durations, Forecast, forecast
from i2cansay.experiments.run.plan import Entry, Plan
from i2cansay.experiments.run.planning import make_plan
from i2cansay.experiments.run.record import Record
from i2cansay.experiments.run.record_folder import Report, load_records
from i2cansay.experiments.run.run_progress import RunProgress
from i2cansay.experiments.run.runner import CellsFailed, run_cells
from i2cansay.experiments.run.shared_features import EncodingProgress, SharedFeatures, share_features
from i2cansay.learners import learner_class
from i2cansay.learners.torch_extra import lacking_extra

# Defaults for the embedded data set: no weights to fetch, and done within two minutes.
SMALL = {"digits": ("pixels", 3)}


@dataclass(frozen=True)
class Reproduction:
    """A filled table, with a sentence about every source that is not available and every cell that failed."""

    measured: Plan
    unavailable: Sequence[str]
    failures: Sequence[str]


def reproduce_table(
    name: str,
    choice: Choice,
    folder: str | Path,
    *,
    data: Path | None = None,
    jobs: int | None = None,
    again: bool = False,
    progress: RunProgress | None = None,
    encoding: EncodingProgress | None = None,
    report: Report | None = None,
    engine: Engine | None = None,
) -> Reproduction:
    """Play the cells of a table that have no record yet, and return the filled table.

    Records are kept in `folder`; `data` is the folder of the data set, or one with a folder for each, in place of
    the search path; `engine` plays the cells in place of processes of this machine. Cells of learners whose extra is
    not installed here are left out, and `report` is told so before anything is encoded.

    Raises
    ------
    OSError, ValueError, ImportError
        If none of its cells can be played; the message says what is missing.
    """
    choice = with_defaults(choice)
    plan = make_plan(load_table(name), choice)
    if engine is None:  # its machines have what they have
        plan = _without_extras(plan, report)
    sources, reasons = _find(plan, data, encoding)
    plan = _without(plan, reasons)
    failures: list[str] = []
    try:
        run_cells(
            plan.cells(),
            folder,
            jobs=jobs,
            again=again,
            progress=progress,
            report=report,
            sources=sources,
            engine=engine,
        )
    except CellsFailed as error:
        failures = [f"{cell.learner} on {cell.dataset}, {cell.stream}: {why}" for cell, why in error.failures]
    records = load_records(folder, report=lambda sentence: None) if Path(folder).is_dir() else []
    kept = [record for record in records if record.features["fingerprint"] in _fingerprints(sources)]
    return Reproduction(measure(plan, RecordIndex(kept)), list(dict.fromkeys(reasons.values())), failures)


def forecast_table(name: str, choice: Choice, records: Sequence[Record], durations: Durations) -> Forecast:
    """Say what it takes to play a table whose finished cells are among the records; nothing is played or encoded."""
    return forecast(
        measure(make_plan(load_table(name), with_defaults(choice)), RecordIndex(records)), durations
    )


def with_defaults(choice: Choice) -> Choice:
    """Return the choice with default encoder and seeds for a small embedded data set."""
    if choice.dataset not in SMALL:
        return choice
    encoder, seeds = SMALL[choice.dataset]
    return replace(choice, encoder=choice.encoder or encoder, seeds=choice.seeds or seeds)


def _without_extras(plan: Plan, report: Report | None) -> Plan:
    """Return the plan without the cells whose learner needs an extra that is not installed; say which those are."""
    learners: dict[str, list[str]] = {}  # by what they lack
    for learner in dict.fromkeys(cell.learner for cell in plan.cells()):
        if lacking := lacking_extra(learner_class(learner).extra):
            learners.setdefault(lacking, []).append(learner)
    if not learners:
        return plan
    sentence = "; ".join(
        f"{', '.join(names)} {'needs' if len(names) == 1 else 'need'} {lacking}"
        for lacking, names in learners.items()
    )
    without = {learner for names in learners.values() for learner in names}

    def kept(entry: Entry) -> Entry:
        if entry.cell is None or entry.cell.learner not in without:
            return entry
        extra = learner_class(entry.cell.learner).extra
        return replace(entry, cell=None, reason=f"not testable here: needs the extra {extra}")

    plan = plan.change_entries(kept)
    if not plan.cells():
        raise ImportError(sentence)
    if report is not None:
        report(f"{sentence}; only the other rows are played")
    return plan


def _find(
    plan: Plan, data: Path | None, encoding: EncodingProgress | None
) -> tuple[dict[tuple[str, str], SharedFeatures], dict[tuple[str, str], str]]:
    """Return the features of every source, and a sentence about every one that is not available."""
    sources: dict[tuple[str, str], SharedFeatures] = {}
    reasons: dict[tuple[str, str], str] = {}
    problem: Exception | None = None
    for source in dict.fromkeys(cell.source for cell in plan.cells()):
        try:
            sources[source] = share_features(*source, data=data, progress=encoding)
        except (OSError, ValueError, ImportError) as error:
            hint = _stand_in_hint(plan, source[0])
            reasons[source] = " ".join(str(error).split()) + hint
            problem = problem or (FileNotFoundError(reasons[source]) if hint else error)
    if not sources and problem is not None:
        raise problem
    return sources, reasons


def _stand_in_hint(plan: Plan, dataset: str) -> str:
    """Say what the columns of a data set that is not available can be played on."""
    for column in plan.columns:
        if column.dataset == dataset and column.stand_in is not None:
            stand_in = column.stand_in
            return f"; --stand-in plays its columns on {stand_in.n_classes} classes of {stand_in.dataset}"
    return ""


def _without(plan: Plan, reasons: dict[tuple[str, str], str]) -> Plan:
    """Return the plan without the cells whose features are not available."""

    def kept(entry: Entry) -> Entry:
        if entry.cell is None or entry.cell.source not in reasons:
            return entry
        dataset, encoder = entry.cell.source
        return replace(entry, cell=None, reason=f"not testable here: no {dataset} with {encoder}")

    return plan.change_entries(kept)


def _fingerprints(sources: dict[tuple[str, str], SharedFeatures]) -> set[str]:
    return {source.fingerprint for source in sources.values()}
