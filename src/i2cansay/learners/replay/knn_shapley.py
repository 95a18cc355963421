"""The Shapley value of labelled samples for a nearest-neighbour classifier, in closed form.

The game: candidates are the players; a coalition S is worth the share of the K nearest of its members that have the
label of one evaluation sample, v(S) = 1/K * (how many of the min(K, |S|) nearest agree). With the N candidates in
order of distance, agree_i in {0, 1} and agree_(N+1) = 0, the values are sums from the far end:

    s_i = s_(i+1) + (agree_i - agree_(i+1)) * min(K, i) / (K i)

A positive value helps to classify the evaluation sample, a negative one is in the way.

References
----------
Jia, Dao, Wang, Hubis, Gurel, Li, Zhang, Spanos, Song (2019), Efficient task-specific data valuation for nearest
neighbor algorithms, PVLDB 12(11).
Shim, Mai, Jeong, Sanner, Kim, Jang (2021), Online class-incremental continual learning with adversarial Shapley
value, AAAI.
"""

from typing import Literal, NamedTuple

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.types import Features, Float32, Float64, Rows

Extent = Literal["mean", "extreme"]
EXTENTS: tuple[Extent, ...] = ("mean", "extreme")


class Labelled(NamedTuple):
    """Features (n, d) and the rows of their classes (n,)."""

    X: Features
    classes: Rows


def knn_shapley(candidates: Labelled, evaluation: Labelled, n_neighbours: int) -> Float32:
    """Return the value of each of n candidates for each of m evaluation samples, (m, n).

    Of candidates at the same distance the one that stands first counts as nearer.

    Examples
    --------
    >>> line = np.array([[1.0], [2.0], [4.0]])  # the second stands between the first and its like
    >>> candidates, asked = Labelled(line, np.array([0, 1, 0])), Labelled(np.zeros((1, 1)), np.array([0]))
    >>> knn_shapley(candidates, asked, n_neighbours=1).round(3)
    array([[ 0.833, -0.167,  0.333]], dtype=float32)
    """
    n = len(candidates.classes)
    order = np.argsort(_distances(evaluation.X, candidates.X), axis=1, kind="stable")
    agree = np.zeros((len(order), n + 1), dtype=np.float32)
    agree[:, :n] = candidates.classes[order] == evaluation.classes[:, None]
    place = np.arange(1, n + 1)
    steps = (agree[:, :-1] - agree[:, 1:]) * (np.minimum(n_neighbours, place) / (n_neighbours * place))
    values = np.empty((len(order), n), dtype=np.float32)
    np.put_along_axis(values, order, steps[:, ::-1].cumsum(axis=1)[:, ::-1].astype(np.float32), axis=1)
    return values


def adversarial_shapley(
    candidates: Labelled, *, old: Labelled, new: Labelled, n_neighbours: int, extent: Extent = "mean"
) -> Float64:
    """Return how much each candidate deserves to be replayed, (n,): it helps the old and hinders the new.

    Parameters
    ----------
    old : Labelled
        Samples of the memory, to be kept apart (the cooperative part).
    new : Labelled
        The samples that arrive, into whose midst a candidate of another class reaches (the adversarial part).
    extent : {"mean", "extreme"}
        Mean over the old minus mean over the new (ASER-mu), or the highest minus the lowest (ASER).
    """
    helps = knn_shapley(candidates, old, n_neighbours)
    hinders = knn_shapley(candidates, new, n_neighbours)
    if extent == "mean":
        return _mean(helps) - _mean(hinders)
    most = helps.max(axis=0, initial=-np.inf) if len(helps) else np.zeros(helps.shape[1])
    return np.asarray(most - hinders.min(axis=0), dtype=np.float64)


def draw_balanced(classes: Rows, per_class: int, rng: np.random.Generator) -> Rows:
    """Return positions of up to `per_class` random samples of every class in `classes`, (n,), in rising order.

    Examples
    --------
    >>> classes = np.array([0, 0, 0, 0, 1, 0, 0, 1, 0])
    >>> np.bincount(classes[draw_balanced(classes, 2, np.random.default_rng(0))])
    array([2, 2])
    """
    shuffled = rng.permutation(len(classes))
    by_class = shuffled[np.argsort(classes[shuffled], kind="stable")]
    _, first, counts = np.unique(classes[by_class], return_index=True, return_counts=True)
    place_in_class = np.arange(len(classes)) - np.repeat(first, counts)
    return np.sort(by_class[place_in_class < per_class])


def _distances(A: Features, B: Features) -> Float32:
    """Return squared distances between the rows, (m, n), each row up to a constant: their order is what counts."""
    centre = B.mean(axis=0)  # far from the origin the difference would drown in the squares
    a, b = (A - centre).astype(np.float32), (B - centre).astype(np.float32)
    products: Float32 = inner(a, b)
    distances: Float32 = np.einsum("nd,nd->n", b, b) - 2 * products
    return distances


def _mean(values: Float32) -> Float64:
    """Return the mean by column; of no rows zero."""
    mean: Float64 = values.sum(axis=0, dtype=np.float64) / max(len(values), 1)
    return mean
