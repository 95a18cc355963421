"""A data set learnt whole: parts give statistics, a tree merges them, the closed form is solved once.

Which rows are held out, which train the head, and what a first batch would decide depend on the numbers of the rows
alone. So the result is the same for any division into parts and on any engine, up to the rounding of sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from i2cansay.engines import Engine, LocalEngine
from i2cansay.fitting.part import NumberedSamples, Part, PartPlan, merge_parts, spans
from i2cansay.fitting.row_keys import HEAD, row_keys
from i2cansay.fitting.row_source import RowSource, take_checked
from i2cansay.learners import learner_class, make_learner
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.lessons import check_takes_lessons
from i2cansay.learners.parts import absorb, check_partable

# Rows by whose signs "auto" decides on the square root: as many as the first batches on one machine have.
LOOK = 64
# Rows that are scored before they are learnt: more would not make a threshold better, and of a small data set they
# would leave too few.
MOST_HELD_OUT, LARGEST_SHARE = 2000, 0.1
# Rows of a part, unless the user says how many parts: one part for every worker at least.
ROWS_PER_PART = 100_000


class Fit(NamedTuple):
    """A learner that knows all rows, and what came of them.

    Attributes
    ----------
    learner : OnlineClassifier
    rows, parts : int
    scored : int
        Rows that calibrated it, before it learnt them.
    stepped : int
        Rows that its head was trained on.
    """

    learner: OnlineClassifier
    rows: int
    parts: int
    scored: int
    stepped: int


def fit_parts(
    rows: RowSource,
    learner: str = "best",
    parameters: Mapping[str, Any] | None = None,
    *,
    engine: Engine | None = None,
    parts: int | None = None,
    held_out: int = MOST_HELD_OUT,
    analogies: float | None = None,
) -> Fit:
    """Learn all rows of a data set.

    Parameters
    ----------
    rows : RowSource
        Labelled rows by number; see `i2cansay.fitting.row_source` and `file_rows`.
    learner, parameters : as in `make_learner`
        One that has statistics in closed form. Without a `random_state` it is 0: all parts need the same.
    engine : Engine, optional
        Where parts are learnt; by default here.
    parts : int, optional
        How many; by default one for each 100,000 rows, and one for each worker at least.
    held_out : int
        About how many rows calibrate probabilities and verdicts: the model of all other rows is asked about them,
        and then learns them. At most a tenth of all rows; 0 leaves the model without calibration.
    analogies : float, optional
        Of `i2cansay_shared`: the share of the rows that the head of analogies is trained on, in one pass, once the
        statistics are complete; these rows are in memory here. 0 leaves the head out. Not needed where the learner
        has no head, as `best` and `small`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from i2cansay.fitting.row_source import ArrayRows
    >>> X, y = load_digits(return_X_y=True)
    >>> rows = ArrayRows(X[:1500], y[:1500])
    >>> one, many = (fit_parts(rows, "best", parts=parts).learner for parts in (1, 7))
    >>> bool(np.allclose(one.predict_proba(X[1500:]), many.predict_proba(X[1500:]), atol=1e-9))
    True
    """
    if not len(rows):
        raise ValueError("there is nothing to learn: there are no rows")
    if held_out < 0 or (parts is not None and parts < 1):
        raise ValueError("expected at least one part, and 0 or more rows that are held out")
    engine = LocalEngine() if engine is None else engine
    settled, with_analogies = _settled(learner, dict(parameters or {}), analogies)
    look, _ = take_checked(rows, np.arange(min(LOOK, len(rows))))
    share = min(held_out / len(rows), LARGEST_SHARE)
    plan = PartPlan(rows, learner, settled, look, share, with_analogies)
    division = spans(len(rows), parts or max(engine.workers, -(-len(rows) // ROWS_PER_PART)))
    whole: Part = engine.reduce(plan.learn, merge_parts, division)
    fitted, held = whole.learner or plan.untaught(), whole.held_out
    stepped = 0
    if with_analogies:
        sampled = [found for _, found in sorted(engine.each(plan.sample, division), key=_number)]
        fitted, stepped = _trained(fitted, [found for found in sampled if found is not None])
    scored = 0 if held is None else _calibrate(fitted, held)
    return Fit(_settle(fitted), len(rows), len(division), scored, stepped)


def _number(numbered: tuple[int, Any]) -> int:
    return numbered[0]


def _settled(
    learner: str, parameters: dict[str, Any], analogies: float | None
) -> tuple[dict[str, Any], float]:
    """Return the parameters of the parts, and the share of the rows that the head is trained on."""
    from i2cansay.learners.shared.shared_i2cansay import SharedI2CANSAY

    has_head = issubclass(learner_class(learner), SharedI2CANSAY)
    if analogies is not None and not has_head:
        raise ValueError(f"{learner} has no head of analogies; leave out the share of rows to train it on")
    if analogies is not None and not 0 <= analogies <= 1:
        raise ValueError(f"expected a share of the rows from 0 to 1, got {analogies}")
    made = make_learner(learner, **parameters)
    if has_head and analogies is None and getattr(made, "analogies", False):
        raise ValueError(
            f"the head of {learner} depends on the order of samples and cannot be merged: say with --analogies "
            "(analogies=) on which share of the rows it is trained after the merge, as 0.1, or 0 to leave it out"
        )
    if has_head:
        parameters["analogies"] = False
    if "random_state" in made.get_params(deep=False) and parameters.get("random_state") is None:
        parameters["random_state"] = 0
    made = make_learner(learner, **parameters)
    check_takes_lessons(made)
    check_partable(made)
    return parameters, analogies or 0.0


def _trained(learner: OnlineClassifier, sampled: list[NumberedSamples]) -> tuple[OnlineClassifier, int]:
    """Give a learner a head that is trained on samples, in an order that depends on their numbers alone."""
    from i2cansay.learners.shared.head_pass import train_head, with_head
    from i2cansay.learners.shared.shared_i2cansay import SharedI2CANSAY

    headed = with_head(cast(SharedI2CANSAY, learner))
    if not sampled:
        return headed, 0
    together = NumberedSamples(*(np.concatenate(arrays) for arrays in zip(*sampled, strict=True)))
    together = together.ordered_by(row_keys(together.rows, HEAD))
    return train_head(headed, together.X, together.y), len(together.rows)


def _calibrate(learner: OnlineClassifier, held: NumberedSamples) -> int:
    """Score the samples that were held out, then learn them; return how many were scored."""
    held = held.ordered_by(held.rows)
    known = np.isin(held.y, learner.classes_) if learner._n_seen else np.zeros(len(held.y), dtype=bool)
    if known.any():
        learner.calibrate(held.X[known], held.y[known], start_over=True)
    size = getattr(learner, "batch_size", None) or len(held.y)
    for start in range(0, len(held.y), size):
        absorb(learner, held.X[start : start + size], held.y[start : start + size])
    return int(known.sum())


def _settle(learner: OnlineClassifier) -> OnlineClassifier:
    """Let go of what depends on the batches in which samples came."""
    refresh = getattr(learner, "refresh", None)
    if refresh is not None:
        refresh()
    return learner
