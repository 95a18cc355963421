"""Outcomes as a table on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from i2cansay.evaluate import Outcome, average_accuracy, forgetting, last_accuracy, prequential_accuracy
from i2cansay.learners import learner_class


def print_outcomes(title: str, outcomes: Mapping[str, Sequence[Outcome]], caption: str = "") -> None:
    """Print one row per learner: mean and standard deviation over its outcomes, one per seed."""
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left", box=box.SIMPLE)
    table.add_column("learner", no_wrap=True)
    for heading in (
        "last %",
        "average %",
        "forgetting",
        "prequential %",
        "seconds",
        "state kB",
        "keeps samples",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, runs in outcomes.items():
        kind = learner_class(name)
        sessions = all(run.every_session for run in runs)
        prequential = [prequential_accuracy(run) for run in runs]
        table.add_row(
            _marked(name, is_offline=not kind.streaming, told_sessions=runs[0].told_sessions),
            _spread([100 * last_accuracy(run) for run in runs]),
            _spread([100 * average_accuracy(run) for run in runs]) if sessions else "-",
            _spread([100 * forgetting(run) for run in runs]) if sessions else "-",
            _spread([100 * value for value in prequential if value is not None]),
            f"{np.mean([run.learning_seconds + run.prediction_seconds for run in runs]):.2f}",
            f"{np.mean([run.state_bytes for run in runs]) / 1e3:,.0f}",
            "yes" if runs[0].stores_samples else "no",
        )
    console = Console()
    # A pipe has no width of its own; 120 characters hold the table.
    Console(width=console.width if console.is_terminal else 120).print(table)


def _marked(name: str, *, is_offline: bool, told_sessions: bool) -> str:
    """Return the name of a learner, marked if it does not learn what comes as it comes."""
    return f"{name} (offline)" if is_offline else f"{name} (told sessions)" if told_sessions else name


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "-"
    return f"{np.mean(values):.1f}" + (f" ± {np.std(values):.1f}" if len(values) > 1 else "")
