"""Answers of a model with very many classes: each worker holds some of them, and the best of all are gathered.

Scores in closed form are one product with a row of weights for each class, so classes can be held apart. An answer
sends the mapped row to every shard and gets the best k of each back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from i2cansay.core.statistics.linear_scores import LinearScores
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.engines.ray_cluster import connected
from i2cansay.learners.likeliest import likeliest
from i2cansay.learners.parameters import check_whole
from i2cansay.learners.shared.shared_i2cansay import SharedI2CANSAY
from i2cansay.learners.validation import check_features

# Rows that are sent to the shards at a time.
ROWS_AT_A_TIME = 1024
ENGINES = ("local", "ray")


class Best(NamedTuple):
    """The highest scores of each row, (n, k), from the highest down, and the numbers of their classes, (n, k)."""

    scores: Float64
    classes: Rows


def best_of(scores: Float64, classes: Rows, k: int) -> Best:
    """Return the best k of scores, (n, m), of classes, (n, m); of equal scores the class with the lower number.

    Examples
    --------
    >>> best_of(np.array([[1.0, 3.0, 3.0]]), np.array([[4, 8, 6]]), 2)
    Best(scores=array([[3., 3.]]), classes=array([[6, 8]]))
    """
    order = np.lexsort((classes, -scores), axis=1)[:, :k]
    return Best(np.take_along_axis(scores, order, axis=1), np.take_along_axis(classes, order, axis=1))


class ClassShard:
    """Some classes of a model: their weights, and their numbers among all."""

    def __init__(self, scores: LinearScores, first: int) -> None:
        self._scores, self._first = scores, first

    def best(self, X: Features, k: int) -> Best:
        """Return the best k classes of mapped rows, (n, d)."""
        scores = self._scores.of(X)
        found = likeliest(scores, k)
        return Best(np.take_along_axis(scores, found, axis=1), found + self._first)


class ShardedClasses:
    """A taught `best` or `small` whose classes are divided among shards, here or as actors of a Ray cluster.

    Parameters
    ----------
    learner : SharedI2CANSAY
        In closed form (``analogies=False``); it is solved here, once.
    shards : int
    engine : {"local", "ray"}
        With "ray" each shard is an actor, and the weights of a class are on one machine.
    address : str, optional
        Of a Ray cluster; without it Ray starts on this machine, and ends with the block.

    Examples
    --------
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0], [6.0, 6.0], [0.0, 9.0]]), ["a", "a", "b", "b", "c"]
    >>> learner = SharedI2CANSAY(analogies=False, lift=0, random_state=0).partial_fit(X, y)
    >>> with ShardedClasses(learner, shards=2) as sharded:
    ...     labels, scores = sharded.top_k([[5.0, 6.0]], k=2)
    >>> labels.tolist(), scores.shape
    ([['b', 'c']], (1, 2))
    """

    def __init__(
        self, learner: SharedI2CANSAY, shards: int, *, engine: str = "local", address: str | None = None
    ) -> None:
        learner._check_ready()
        if engine not in ENGINES:
            raise ValueError(f"expected one of the engines {', '.join(ENGINES)}, got {engine!r}")
        if learner.analogies:
            raise ValueError("only the closed form can be divided by classes; this learner has a head")
        if not 1 <= shards <= len(learner.classes_):
            raise ValueError(f"expected 1 to {len(learner.classes_)} shards, one class each, got {shards}")
        self._learner, self._n_shards, self._engine, self._address = learner, shards, engine, address
        self._open, self._shards = ExitStack(), list[Any]()
        self._ray: Any = None

    def __enter__(self) -> Self:
        if self._engine == "ray":
            ray: Any = self._open.enter_context(connected(self._address))
            # Actors that only hold weights and wait: what counts is memory, and Ray starts them anew elsewhere.
            actor = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(ClassShard)
            self._ray, make = ray, actor.remote
        else:
            make = ClassShard
        self._shards = [make(scores, first) for first, scores in self._divided()]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ray is not None:
            for shard in self._shards:
                self._ray.kill(shard)
        self._shards, self._ray = [], None
        self._open.close()

    def _divided(self) -> Iterator[tuple[int, LinearScores]]:
        """Yield the number of the first class of each shard and its weights, copied one shard at a time."""
        learner = self._learner
        centre, weights, offset = learner._solution.get(learner._solve).closed_form.scores
        order = learner._labels.order  # as `classes_` has them
        pieces = np.array_split(order, self._n_shards)
        firsts = np.cumsum([0, *map(len, pieces)])
        for first, piece in zip(firsts, pieces, strict=False):
            yield int(first), LinearScores(centre, weights[piece], offset[piece])

    def top_k(self, X: ArrayLike, k: int = 5) -> tuple[NDArray[Any], Float64]:
        """Return the likeliest k labels of each row of `X`, (n, k), likeliest first, and their scores, (n, k)."""
        if not self._shards:
            raise ValueError("the shards are not open; use a with statement")
        check_whole(k=k, at_least=1)
        rows = check_features(self._learner, X, reset=False)
        found = [
            self._top_k(self._learner._features.apply(rows[start : start + ROWS_AT_A_TIME]), k)
            for start in range(0, len(rows), ROWS_AT_A_TIME)
        ]
        classes = np.concatenate([part.classes for part in found])
        return self._learner.classes_[classes], np.concatenate([part.scores for part in found])

    def _top_k(self, mapped: Features, k: int) -> Best:
        parts: Sequence[Best]
        if self._ray is None:
            parts = [shard.best(mapped, k) for shard in self._shards]
        else:
            sent = self._ray.put(mapped)
            parts = self._ray.get([shard.best.remote(sent, k) for shard in self._shards])
        together = [np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True)]
        return best_of(together[0], together[1], k)
