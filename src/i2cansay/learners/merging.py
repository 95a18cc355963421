"""Merging learners of the same class: what every mergeable method needs besides its own statistics."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, TypeVar

import numpy as np

from i2cansay.core.types import Rows
from i2cansay.learners.base import OnlineClassifier

Part = TypeVar("Part", bound=OnlineClassifier)
# Parameters that say how many random projections of the features a learner draws.
DRAWN = ("lift", "n_projections")


def merged(parts: Sequence[Part], *, names: Sequence[str] | None = None) -> Part:
    """Return a learner that knows what all `parts` have learnt, each from samples of its own; none of them changes.

    Statistics become those of all samples; the parameters are those of the first. The scores that verdicts rest on
    add up too, but they are of the parts' models: `calibrate` the merged one with samples of which no part was
    taught, as docs/verdicts.md shows.

    Parameters
    ----------
    parts : sequence of learners
    names : sequence of str, optional
        What errors call the parts, as their files.

    Raises
    ------
    ValueError
        Before anything is merged, if the parts do not see features the same way: see `check_parts`.

    Examples
    --------
    >>> from i2cansay import make_learner
    >>> one = make_learner("slda").partial_fit([[0.0], [2.0]], ["low", "low"])
    >>> other = make_learner("slda").partial_fit([[9.0], [4.0]], ["high", "low"])
    >>> merged([one, other]).class_means_.ravel().tolist()
    [9.0, 2.0]
    """
    check_parts(parts, names=names)
    together = deepcopy(parts[0])
    for number, part in enumerate(parts[1:], start=2):
        with _naming(number, names):
            together.merge(part)
    return together


def check_parts(parts: Sequence[OnlineClassifier], *, names: Sequence[str] | None = None) -> None:
    """Raise ValueError unless these learners can be merged; call it before teaching them to be certain.

    They must be of one class that can be merged, with equal parameters. Untaught ones must not leave to chance or to
    their first batch how they will see features. Of those that are taught, what came of it must be the same.

    Examples
    --------
    >>> from i2cansay import make_learner
    >>> check_parts([make_learner("ranpac", random_state=seed) for seed in (0, 1)])
    Traceback (most recent call last):
    ...
    ValueError: part 2: different projections (n_projections) for random_state 0 and 1; give all the same number
    >>> check_parts([make_learner("best", feature_transform="sqrt") for _ in range(2)])
    """
    if not len(parts):
        raise ValueError("there is nothing to merge; give at least one learner")
    first = parts[0]
    if not hasattr(first, "merge"):
        raise ValueError(
            f"{type(first).__name__} cannot be merged: what it learns depends on the order of samples"
        )
    for number, part in enumerate(parts[1:], start=2):
        with _naming(number, names):
            check_mergeable(first, part)
            if first._started and part._started:
                first._check_same_features(part)
            else:
                _check_settled(first, part)


@contextmanager
def _naming(number: int, names: Sequence[str] | None) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        which = f"part {number}" if names is None else f"{names[0]} and {names[number - 1]}"
        raise ValueError(f"{which}: {error}") from None


def _check_settled(one: OnlineClassifier, other: OnlineClassifier) -> None:
    """Raise if two learners with equal parameters, of which one is not taught yet, may see features apart."""
    mine, theirs = one.get_params(deep=False), other.get_params(deep=False)
    if mine.get("feature_transform") == "auto":
        raise ValueError(
            'feature_transform="auto" is decided by the first batch of each; give all parts "sqrt" (features that '
            'are never below zero) or "none"'
        )
    drawn = [name for name in DRAWN if mine.get(name, 0)]
    seeds = mine.get("random_state"), theirs.get("random_state")
    if drawn and not (isinstance(seeds[0], int | np.integer) and seeds[0] == seeds[1]):
        raise ValueError(
            f"different projections ({', '.join(drawn)}) for random_state {seeds[0]} and {seeds[1]}; "
            "give all the same number"
        )


def check_mergeable(mine: OnlineClassifier, other: OnlineClassifier) -> None:
    """Raise unless the two are different learners of one class, with equal parameters and width.

    Nor may parameters of either have changed that what it has learnt rests on.
    """
    if other is mine or type(other) is not type(mine):
        raise ValueError("merge needs another learner of the same class")
    own, theirs = mine.get_params(deep=False), other.get_params(deep=False)
    differing = [name for name in own if name != "random_state" and _plain(own[name]) != _plain(theirs[name])]
    if differing:
        values = ", ".join(f"{name} ({own[name]!r} and {theirs[name]!r})" for name in differing)
        raise ValueError(f"the two learners differ in {values}; merge needs equal parameters")
    mine._check_structural()
    other._check_structural()
    if mine._started and other._started and mine.n_features_in_ != other.n_features_in_:
        raise ValueError(
            f"cannot merge features of width {other.n_features_in_} into width {mine.n_features_in_}; "
            "were the encoders different?"
        )


def _plain(value: Any) -> Any:
    # A learner from a file has tuples where a list was given.
    return tuple(value) if isinstance(value, list) else value


def merge_into(mine: OnlineClassifier, other: OnlineClassifier, take: Callable[[Rows], None]) -> None:
    """Add to `mine` all that `other` has learnt; `other` is not changed.

    Parameters
    ----------
    take : function of (k,) rows
        Merges the statistics: class i of `other` is class ``rows[i]`` of `mine`, which has made room for it.
    """
    check_mergeable(mine, other)
    if not other._started:
        return
    if not mine._started:
        mine._become(type(mine)(**mine.get_params(deep=False)).set_state(other.state()))
        return
    arrived = other._labels.arrived()
    mine._labels.check(arrived)
    mine._labels.extend(mine._labels.new_in(arrived))
    mine._grow(len(mine._labels))
    mine._n_seen += other._n_seen
    mine._temperature.merge(other._temperature)
    mine._evidence.merge(other._evidence)
    take(mine._labels.rows(arrived))
    mine._clear_caches()
