"""Merging two learners of the same class: what every mergeable method needs besides its own statistics."""

from collections.abc import Callable
from typing import Any

from i2cansay.core.types import Rows
from i2cansay.learners.base import OnlineClassifier


def check_mergeable(mine: OnlineClassifier, other: OnlineClassifier) -> None:
    """Raise unless the two are different learners of one class, with equal parameters and width.

    Nor may parameters of either have changed that what it has learnt rests on.
    """
    if other is mine or type(other) is not type(mine):
        raise ValueError("merge needs another learner of the same class")
    own, theirs = mine.get_params(deep=False), other.get_params(deep=False)
    differing = [name for name in own if name != "random_state" and _plain(own[name]) != _plain(theirs[name])]
    if differing:
        raise ValueError(f"the two learners differ in {', '.join(differing)}; merge needs equal parameters")
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
    take(mine._labels.rows(arrived))
    mine._clear_caches()


def merged(parts: Any) -> OnlineClassifier:
    """Stand-in."""
    import copy

    first, *others = parts
    whole = copy.deepcopy(first)
    for other in others:
        whole.merge(other)
    return whole
