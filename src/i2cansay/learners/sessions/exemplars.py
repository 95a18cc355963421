"""Exemplars: a bounded number of samples of every class, herded so that their mean is that of the class."""

import numpy as np

from i2cansay.core.buffers.sample_buffer import SampleBuffer
from i2cansay.core.linalg.blas import inner
from i2cansay.core.types import Features, Rows


def unit_rows(X: Features) -> Features:
    """Return rows (n, d) scaled to length one; a row of zeros stays.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    # Scaled by the largest first: the squares of large float32 numbers overflow.
    largest = np.abs(X).max(axis=1, keepdims=True, initial=0)
    X = X / np.where(largest > 0, largest, 1)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    found: Features = X / np.where(norms > 0, norms, 1)
    return found


def herd(X: Features, n: int) -> Rows:
    """Return the numbers of up to `n` rows: each time the one that brings their mean closest to that of all.

    Rows are scaled to length one first, so that their lengths do not matter. Neither the mean of all nor the means
    on the way are scaled again. Fewer rows are the beginning of more.

    Parameters
    ----------
    X : (m, d) array
        Representations of the samples of one class.

    References
    ----------
    M. Welling, Herding dynamical weights to learn, ICML 2009; in the form of Rebuffi et al. 2017, Algorithm 4.

    Examples
    --------
    >>> herd(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), 2)
    array([1, 0])
    """
    X = unit_rows(X.astype(np.float64))
    # |k mean - chosen - x|^2 is smallest where x (k mean - chosen) is largest, since every |x| is one.
    products, wanted = inner(X, X), inner(X, X.mean(axis=0, keepdims=True))[:, 0]
    chosen: list[int] = []
    gain = np.zeros(len(X))
    for _ in range(min(n, len(X))):
        gain += wanted
        free = gain.copy()
        free[chosen] = -np.inf
        best = int(free.argmax())
        chosen.append(best)
        gain -= products[:, best]
    return np.array(chosen, dtype=np.int64)


class Exemplars(SampleBuffer):
    """Up to `size` samples, the same number of every class seen, in the order in which they were herded.

    Examples
    --------
    >>> exemplars, X = Exemplars(size=6, n_features=2), np.random.default_rng(0).normal(size=(8, 2))
    >>> exemplars.update(X, np.repeat([0, 1], 4), X, n_classes=2)
    >>> exemplars.memory.classes
    array([0, 0, 0, 1, 1, 1])
    >>> exemplars.update(X, np.full(8, 2), X, n_classes=3)
    >>> exemplars.memory.classes
    array([0, 0, 1, 1, 2, 2])
    """

    def update(self, X: Features, classes: Rows, representations: Features, n_classes: int) -> None:
        """Take in samples and shrink to equal shares.

        Parameters
        ----------
        X : (n, d) array
            What is stored. Where a class has exemplars already, they are among these samples.
        classes : (n,) rows of their classes
        representations : (n, k) array
            What is herded.
        n_classes : int
            All classes seen so far, which share the places.
        """
        share = max(1, self.memory.size // max(n_classes, 1))
        rows, owners = [], []
        for row in range(n_classes):
            members = np.flatnonzero(classes == row)
            if len(members):
                found = X[members[herd(representations[members], share)]].astype(np.float32)
            else:
                found = self.memory.rows[self.memory.classes == row][:share]
            rows.append(found)
            owners.append(np.full(len(found), row))
        # With fewer places than classes the latest have none.
        size = self.memory.size
        self.memory.replace(np.concatenate(rows)[:size], np.concatenate(owners)[:size])
