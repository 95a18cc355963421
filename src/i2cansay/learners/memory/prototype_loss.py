"""The pseudo-prototypical proxy loss: rows of a batch stand in for the prototypes of their classes.

Symbols of the article: f_i -> rows of `embedded`, of unit length; p^c -> rows of `prototypes`; tau -> temperature.
An instance j meets the proxies of a class c: its prototype p^c and each row i of that class (a pseudo-prototype).
With one proxy q in the place of p^c the probability of c is

    P(c | f_j; q) = exp(f_j . q / tau) / (exp(f_j . q / tau) + sum over k != c of exp(f_j . p^k / tau)).

A row is drawn to its own class by the mean of P over the proxies of the class other than itself, and driven from
every other class by 1 - (P with the pseudo-prototype i + P with the prototype) / 2, for each row i of the class.
The loss is the negative sum of the logarithms, divided by the number of rows.

References
----------
De Lange, Tuytelaars (2021), Continual Prototype Evolution: Learning Online from Non-Stationary Data Streams, ICCV.
"""

from typing import NamedTuple

import numpy as np

from i2cansay.core.linalg.blas import inner, product
from i2cansay.core.types import Features, Float64, Rows

# A vector shorter than this has no direction.
SHORTEST = 1e-30


class ProxyLoss(NamedTuple):
    """The loss and its gradient by the embedded rows, (n, m), the proxies held fixed."""

    value: float
    gradient: Features


def unit_rows(rows: Features) -> tuple[Features, Features]:
    """Return rows, (n, m), divided by their lengths, and the lengths, (n, 1); a row of zeros stays.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))[0]
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    lengths: Features = np.maximum(np.sqrt(np.einsum("nm,nm->n", rows, rows)), SHORTEST)[:, None]
    return rows / lengths, lengths


def through_length(gradient: Features, units: Features, lengths: Features) -> Features:
    """Return the gradient by the rows before `unit_rows`, given the one by its result; both (n, m)."""
    along = np.einsum("nm,nm->n", gradient, units)[:, None]
    result: Features = (gradient - along * units) / lengths
    # A row of zeros has no direction that could turn.
    result[lengths[:, 0] <= SHORTEST] = 0
    return result


def proxy_loss(
    embedded: Features,
    classes: Rows,
    prototypes: Features,
    temperature: float,
    pseudo: Features | None = None,
) -> ProxyLoss:
    """Return the pseudo-prototypical proxy loss of a batch and its gradient by the embedded rows.

    Parameters
    ----------
    embedded : (n, m) array
        Rows of unit length, of float32 or float64.
    classes : (n,) array
        The row of `prototypes` each belongs to.
    prototypes : (c, m) array
        At least two.
    temperature : float
    pseudo : (n, m) array, optional
        What the rows are as pseudo-prototypes; the rows themselves where it is not given. Held fixed, as the
        prototypes are.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> right, wrong = (proxy_loss(rows, y, rows, 0.5) for y in (np.array([0, 1]), np.array([1, 0])))
    >>> print(f"{right.value:.2f} {wrong.value:.2f}")
    0.25 3.30
    """
    # Products are taken in the precision of the rows, everything between them in double precision.
    rows = np.asarray(embedded)
    fixed = rows if pseudo is None else np.asarray(pseudo, dtype=rows.dtype)
    proxies = np.asarray(prototypes, dtype=rows.dtype)
    n, every_row = len(rows), np.arange(len(rows))
    to_pseudo = inner(rows, fixed).astype(np.float64) / temperature  # (n, n): instance j, pseudo-prototype i
    to_prototype = inner(rows, proxies).astype(np.float64) / temperature  # (n, c)

    # One shift per instance cancels in P and keeps the exponentials finite at any temperature.
    strength = np.exp(to_prototype - to_prototype.max(axis=1, keepdims=True))
    apart = 1.0 - np.eye(len(proxies))
    rest = inner(strength, apart)  # of all prototypes but one, without a difference that could cancel
    log_rest = np.log(np.maximum(rest, SHORTEST)) + to_prototype.max(axis=1, keepdims=True)
    by_pseudo = _sigmoid(to_pseudo - log_rest[:, classes])  # P(c_i | f_j; f_i)
    by_prototype = _sigmoid(to_prototype - log_rest)  # P(c | f_j; p^c)

    same = classes[:, None] == classes
    others_alike = same & ~np.eye(n, dtype=np.bool_)
    size = same.sum(axis=1)
    own = by_prototype[every_row, classes]
    attraction = np.maximum((own + (by_pseudo * others_alike).sum(axis=1)) / size, SHORTEST)
    distance = np.maximum(1.0 - 0.5 * (by_pseudo + by_prototype[:, classes]), SHORTEST)
    value = -(np.log(attraction).sum() + np.log(distance[~same]).sum()) / n

    # The derivative by each P, then through P(1 - P) to the exponents.
    pull = -1.0 / (attraction * size * n)
    push = np.where(same, 0.0, 0.5 / (distance * n))
    member = (classes[:, None] == np.arange(len(proxies))).astype(np.float64)
    slope_pseudo = (push + pull[:, None] * others_alike) * by_pseudo * (1.0 - by_pseudo)
    slope_prototype = product(push, member)
    slope_prototype[every_row, classes] += pull
    slope_prototype *= by_prototype * (1.0 - by_prototype)
    through_rest = product(slope_pseudo, member) + slope_prototype
    slope_prototype -= strength * inner(through_rest / np.maximum(rest, SHORTEST), apart)
    gradient = product(slope_pseudo, fixed)  # in the precision of the rows again
    gradient += product(slope_prototype, proxies)
    return ProxyLoss(float(value), gradient / temperature)


def _sigmoid(x: Float64) -> Float64:
    half: Float64 = 0.5 * (1.0 + np.tanh(0.5 * x))
    return half
