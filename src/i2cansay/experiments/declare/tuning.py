"""How the compared methods got their values: declared sweeps on held-out training samples, and their replay."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Features, Rows
from i2cansay.evaluate import last_accuracy, play
from i2cansay.learners import learner_class, make_learner
from i2cansay.streams import low_data, make_stream

HELD = ("outside", "chance", "fifth", "by class")
N_OUTSIDE = 5000


@dataclass(frozen=True)
class Setting:
    """A stream of training samples and how others are held out; `declared/tuning.toml` says what each way is."""

    name: str
    dataset: str
    fraction: float
    stream: str
    held: str
    memory_size: int


@dataclass(frozen=True)
class Trial:
    """Parameters that were tried and the accuracy they had on what was held out, in percent, over the seeds."""

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
    """What was chosen for a method, why, and the sweeps behind it."""

    learner: str
    chosen: Mapping[str, Any]
    why: str
    sweeps: tuple[Sweep, ...]


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
        )
        for method in values["method"]
    }


def _trial(values: Mapping[str, Any]) -> Trial:
    parameters = {name: value for name, value in values.items() if name != "accuracy"}
    return Trial(parameters, float(values["accuracy"]))


def hold_out(y: NDArray[Any], setting: Setting, seed: int) -> tuple[Rows, Rows]:
    """Return the rows to learn from and the rows held out, of the training labels `y` (n,).

    Examples
    --------
    >>> setting = Setting("digits", "digits", 0.5, "step:2", "by class", 100)
    >>> learnt, held = hold_out(np.repeat([0, 1], 100), setting, seed=0)
    >>> len(learnt), len(held)
    (80, 20)
    """
    rows = low_data(y, setting.fraction, seed)
    if setting.held == "outside":
        outside = np.setdiff1d(np.arange(len(y)), rows)
        return rows, np.sort(np.random.default_rng(seed).choice(outside, N_OUTSIDE, replace=False))
    if setting.held == "chance":
        out = np.random.default_rng(1000 + seed).random(len(rows)) < 0.2
        return rows[~out], rows[out]
    if setting.held == "fifth":
        held, learnt = np.split(np.random.default_rng(1).permutation(len(rows)), [len(rows) // 5])
        return rows[learnt], rows[held]
    if setting.held == "by class":
        learnt = low_data(y[rows], 0.8, seed)
        return rows[learnt], np.delete(rows, learnt)
    raise ValueError(f"samples are held out {', '.join(map(repr, HELD))}, not {setting.held!r}")


def play_trial(
    learner: str,
    parameters: Mapping[str, Any],
    setting: Setting,
    *,
    seed: int,
    X: Features,
    y: NDArray[Any],
) -> float:
    """Return the accuracy at the end of the stream on what was held out, in percent.

    Parameters
    ----------
    learner, parameters, setting, seed
        What is tried, and where.
    X, y : (n, d) features and (n,) labels of the training part; nothing else is looked at
    """
    known = learner_class(learner)().get_params(deep=False)
    usual = {"memory_size": setting.memory_size, "random_state": seed}
    given = {name: value for name, value in usual.items() if name in known}
    learnt, held = hold_out(y, setting, seed)
    outcome = play(
        make_learner(learner, **{**given, **parameters}),
        X[learnt],
        y[learnt],
        make_stream(setting.stream, y[learnt], seed=seed),
        X_test=X[held],
        y_test=y[held],
        prequential=False,
        every_session=False,
    )
    return 100 * last_accuracy(outcome)
