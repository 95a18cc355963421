"""How the values of the compared methods were chosen: declared sweeps on held-out training samples, as tables."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import nan
from typing import Any

from i2cansay.experiments.declare.declaration import Block, Column, Row, Table

ENCODER = "efficientnet-lite0"
ROOT = ", square root"


@dataclass(frozen=True)
class Setting:
    """A stream of training samples, and how others are held out; `declared/tuning.toml` describes each way.

    With `root` the learner gets the square root of the features.
    """

    name: str
    dataset: str
    fraction: float
    stream: str
    held: str
    memory_size: int
    encoder: str = ENCODER
    root: bool = False


@dataclass(frozen=True)
class Trial:
    """Parameters to try, and their mean accuracy on the held-out samples in percent; nan if not played yet."""

    parameters: Mapping[str, Any]
    accuracy: float


@dataclass(frozen=True)
class Sweep:
    """Trials in one setting."""

    setting: Setting
    seeds: tuple[int, ...]
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class Tuning:
    """What was chosen for a method, why, and the sweeps behind it; nothing is chosen while sweeps are not played.

    `chosen_in` has by data set, and `chosen_on` by encoder, what is chosen there in place of `chosen`; the rows of
    the tables say it too.
    """

    learner: str
    chosen: Mapping[str, Any]
    why: str
    sweeps: tuple[Sweep, ...]
    chosen_in: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    chosen_on: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@cache
def load_tunings() -> dict[str, Tuning]:
    """Read the recorded sweeps of every method.

    Examples
    --------
    >>> tuning = load_tunings()["er"]
    >>> tuning.chosen
    {'lr': 0.5}
    >>> best = max(tuning.sweeps[0].trials, key=lambda trial: trial.accuracy)
    >>> best.parameters, best.accuracy
    ({'lr': 0.5}, 53.9)
    """
    text = files("i2cansay.experiments").joinpath("declared", "tuning.toml").read_text(encoding="utf-8")
    values = tomllib.loads(text)
    settings = {setting["name"]: Setting(**setting) for setting in values["setting"]}
    return {
        method["learner"]: Tuning(
            learner=method["learner"],
            chosen=method["chosen"],
            why=method["why"],
            sweeps=tuple(
                Sweep(settings[sweep["setting"]], tuple(sweep["seeds"]), tuple(map(_trial, sweep["tried"])))
                for sweep in method["sweep"]
            ),
            chosen_in=method.get("chosen_in", {}),
            chosen_on=method.get("chosen_on", {}),
        )
        for method in values["method"]
    }


def _trial(values: Mapping[str, Any]) -> Trial:
    parameters = {name: value for name, value in values.items() if name != "accuracy"}
    return Trial(parameters, float(values.get("accuracy", nan)))


def tuning_table(learner: str) -> Table:
    """Return a method's sweeps as a table: a row per trial, a column per setting, the recorded figures as "printed".

    Examples
    --------
    >>> table = tuning_table("er")
    >>> [(row.title, *row.paper) for row in table.blocks[0].rows][:1]
    [('lr=0.005', 18.3, nan)]
    """
    if learner not in load_tunings():
        raise ValueError(f"there are no sweeps of {learner!r}; there are some of {', '.join(load_tunings())}")
    tuning = load_tunings()[learner]
    columns = _columns(tuning.sweeps)
    trials: dict[str, dict[str, Trial]] = {}
    for column, sweep in zip(columns, tuning.sweeps, strict=True):
        for trial in sweep.trials:
            title = _named(trial.parameters)
            if sweep.setting.root:  # a row gets the root of the features in all of its columns, or in none
                title += ROOT
            trials.setdefault(title, {})[column.name] = trial
    memory = tuple(sweep.setting.memory_size for sweep in tuning.sweeps)
    rows = tuple(
        Row(
            name=title,
            title=title,
            learner=learner,
            memory=memory,
            paper=tuple(found[each.name].accuracy if each.name in found else nan for each in columns),
            pm=(nan,) * len(columns),
            parameters=next(iter(found.values())).parameters,
            only_in=tuple(found),
            root=title.endswith(ROOT),
        )
        for title, found in trials.items()
    )
    chosen = _named(tuning.chosen) or "nothing yet"
    for place, values in (*tuning.chosen_in.items(), *tuning.chosen_on.items()):
        chosen += f"; on {place} {_named(values)}"
    return Table(
        name=f"tuning-{learner}",
        title=f"Sweeps of {learner} on held-out training samples; chosen: {chosen}",
        seeds=max(len(sweep.seeds) for sweep in tuning.sweeps),
        columns=columns,
        blocks=(Block(ENCODER, rows),),
        short="held-out training samples",
        note="in place of the paper's number is the one recorded when the value was chosen. "
        + tuning.why.rstrip("."),
    )


def _named(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


def _columns(sweeps: Sequence[Sweep]) -> tuple[Column, ...]:
    """Return a column per sweep; the second sweep of a setting is called "NAME (2)"."""
    columns: list[Column] = []
    for sweep in sweeps:
        setting = sweep.setting
        before = sum(column.name.startswith(setting.name) for column in columns)
        columns.append(
            Column(
                name=f"{setting.name} ({before + 1})" if before else setting.name,
                dataset=setting.dataset,
                stream=setting.stream,
                metric="last",
                every_session=False,
                fraction=setting.fraction,
                encoder=None if setting.encoder == ENCODER else setting.encoder,
                held_out=setting.held,
                seeds=sweep.seeds,
            )
        )
    return tuple(columns)
