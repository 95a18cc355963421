"""A sparse distributed memory that grows where samples are far from its addresses and moves where they are near.

One sample x with one-hot label y at a time, as Pourcel et al. (2022) have it (A addresses, M contents):

    d = min ||x - A_j||;  radius <- radius + pace (d - radius)
    d >= radius:  a new row (x, y)
    else:         s = softmin(||x - A|| / T);  A_j <- A_j + rate s_j (x - A_j);  M_j <- M_j + rate s_j (y - M_j)

Taken literally every sample reads and writes all addresses. Here a block of samples is one product in and one
product out. Inside the block every address is ``keep_j (A_j + sum_i added_ij x_i)`` with A_j as it was before the
block, so products with the samples to come follow from those with A and among the samples; what a step costs no
longer depends on the width of the features. The result is the same up to rounding.
"""

import numpy as np
from scipy.linalg.blas import dgemv

from i2cansay.core.linalg.blas import add_outer, inner, threads_for
from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.state_parts import LARGEST_FEATURE, check_range
from i2cansay.core.types import Features, Float32, Float64, Rows, State
from i2cansay.learners.memory.local_outliers import keep_outliers, local_outlier_factors, squared_distances

# Samples written together: the products in and out are long enough for BLAS, the steps between them short.
BLOCK = 64
# Questions answered together: their distances to 6,000 addresses take 24 MB.
QUESTIONS = 1024
# A sample that counts for very many moves an address nearly onto itself, never quite: `keep` is divided by.
LARGEST_RATE = 0.9
# Where all distances are zero so is the temperature; the nearest address then takes all.
SMALLEST_TEMPERATURE = 1e-12


class SparseMemory:
    """Addresses, (m, d), and what is written there, (m, c); at first one address at the origin without content.

    Parameters
    ----------
    n_features : int
    temperature : float
        T of the softmin: in units of the radius if `relative`, else of the features.
    rate : float
        Of the moves towards a sample.
    pace : float
        Of the radius, the moving average of the distance to the nearest address.

    Examples
    --------
    >>> memory = SparseMemory(2, temperature=0.3, relative=True, rate=0.1, pace=0.5)
    >>> memory.resize(2)
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.1, 0.9]]), np.array([0, 1, 0, 1])
    >>> memory.write(X, y, limit=10)
    4
    >>> len(memory), memory.read(X).argmax(axis=1)
    (3, array([0, 1, 0, 1]))
    """

    def __init__(
        self, n_features: int, *, temperature: float, relative: bool, rate: float, pace: float
    ) -> None:
        self.temperature, self.relative, self.rate, self.pace = temperature, relative, rate, pace
        self.radius = 0.0
        # Distances and moves do not depend on the origin: rows are held as seen from the first samples' mean,
        # where the products of float32 lose least.
        self._centre: Float64 = np.zeros(n_features)
        self._begun = False
        self._addresses = RowBuffer(width=n_features, dtype=np.float32)
        self._contents = RowBuffer(width=0, dtype=np.float32)

    def __len__(self) -> int:
        return len(self._addresses)

    @property
    def addresses(self) -> Float64:
        """Where the rows are, (m, d), a copy."""
        return self._addresses.view + self._centre

    @property
    def contents(self) -> Float32:
        """What is written in each row, (m, c)."""
        return self._contents.view

    @property
    def owners(self) -> Rows:
        """The class each row speaks for most, (m,); -1 where nothing is written."""
        contents = self.contents
        if not contents.shape[1]:
            return np.full(len(self), -1)
        return np.where(contents.any(axis=1), contents.argmax(axis=1), -1)

    def resize(self, n_classes: int) -> None:
        """Make room for `n_classes` classes in every row."""
        wider = np.zeros((len(self), n_classes), dtype=np.float32)
        wider[:, : self.contents.shape[1]] = self.contents
        self._set_contents(wider)

    def drop(self, row: int) -> None:
        """Remove a class: its column, and the rows that speak for it most."""
        stays = np.flatnonzero(self.owners != row)
        self._keep(stays)
        self._set_contents(np.delete(self.contents, row, axis=1))

    def prune(self, size: int, n_neighbors: int) -> None:
        """Come down to `size` rows: the densest surroundings lose theirs first, no class its share."""
        if len(self) > size:
            factors = local_outlier_factors(self._addresses.view, n_neighbors)
            # A row without content counts for the first class, as in the authors' code: the shares of the classes
            # then add up to `size`, and no further group needs one.
            self._keep(keep_outliers(factors, np.maximum(self.owners, 0), size))

    def write(self, X: Features, classes: Rows, limit: int, weights: Float64 | None = None) -> int:
        """Learn samples, (n, d), of `classes`, (n,), until more than `limit` rows are held; return how many.

        A sample of weight w moves the addresses as far as w of them in a row would.
        """
        if not self._begun:
            self._centre, self._begun = X.mean(axis=0, dtype=np.float64), True
        # At the start, and where `drop` and `prune` have left nothing.
        if not len(self):
            self._resize_rows(1)
            self._addresses.view[0] = -self._centre
        rates = np.full(len(X), self.rate)
        if weights is not None:
            rates = np.minimum(1 - (1 - self.rate) ** weights, LARGEST_RATE)
        written = 0
        while written < len(X) and len(self) <= limit:
            block = slice(written, written + BLOCK)
            written += self._write_block(X[block] - self._centre, classes[block], rates[block], limit)
        return written

    def _write_block(self, X: Float64, classes: Rows, rates: Float64, limit: int) -> int:
        """Learn samples as seen from the centre; return how many it took to come above `limit` rows, or all."""
        n_old, width = len(self), len(self) + len(X)
        among: Features = inner(X, X)
        products = np.empty((len(X), width))
        products[:, :n_old] = inner(X, self._addresses.view)
        norms = np.empty(width)
        norms[:n_old] = np.einsum("md,md->m", self._addresses.view, self._addresses.view)
        keep, added = np.ones(width), np.zeros((len(X), width))
        n, new = n_old, []
        for step in range(len(X)):
            own = among[step, step]
            product = products[step, :n]
            if step:
                with threads_for(step * width):
                    moved: Float64 = dgemv(1.0, added[:step].T, among[step, :step])
                product = keep[:n] * (product + moved[:n])
            distances = np.sqrt(np.maximum(own - 2 * product + norms[:n], 0))
            nearest = float(distances.min())
            self.radius += self.pace * (nearest - self.radius)
            if nearest >= self.radius:
                products[:, n], norms[n] = among[:, step], own
                new.append(step)
                n += 1
                if n > limit:
                    break
                continue
            move = rates[step] * self._softmin(distances)
            rest = 1 - move
            norms[:n] = rest**2 * norms[:n] + 2 * move * rest * product + move**2 * own
            keep[:n] *= rest
            added[step, :n] = move / keep[:n]
        self._apply(X[: step + 1], classes[: step + 1], new, keep[:n], added[: step + 1, :n])
        return step + 1

    def _apply(self, X: Float64, classes: Rows, new: list[int], keep: Float64, added: Float64) -> None:
        n_old = len(self)
        self._resize_rows(n_old + len(new))
        labels = np.zeros((len(X), self.contents.shape[1]))
        labels[np.arange(len(X)), classes] = 1
        for rows, samples in ((self._addresses.view, X), (self.contents, labels)):
            rows[n_old:] = samples[new]
            if len(new) < len(X):
                add_outer(rows, added, samples, scale=1.0)
                np.multiply(rows, keep[:, None], out=rows, casting="same_kind")

    def _softmin(self, distances: Features) -> Features:
        """Return the shares of the rows, summing to one along the last axis, for distances to all of them."""
        temperature = self.temperature * (self.radius if self.relative else 1.0)
        shares: Features = distances.min(axis=-1, keepdims=True) - distances
        shares /= max(temperature, SMALLEST_TEMPERATURE)
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=-1, keepdims=True)
        return shares

    def read(self, X: Features) -> Float32:
        """Return what the memory says of samples, (n, d): contents weighed by nearness, (n, c)."""
        answers = np.zeros((len(X), self.contents.shape[1]), dtype=np.float32)
        columns = np.ascontiguousarray(self.contents.T)
        for start in range(0, len(X) if len(self) else 0, QUESTIONS):
            block = slice(start, start + QUESTIONS)
            distances = np.sqrt(squared_distances(X[block] - self._centre, self._addresses.view))
            answers[block] = inner(self._softmin(distances), columns)
        return answers

    def _resize_rows(self, n: int) -> None:
        self._addresses.resize(n)
        self._contents.resize(n)

    def _keep(self, rows: Rows) -> None:
        self._addresses.set(self._addresses.view[rows])
        self._contents.set(self.contents[rows])

    def _set_contents(self, contents: Float32) -> None:
        self._contents = RowBuffer(width=contents.shape[1], dtype=np.float32)
        self._contents.set(contents)

    def state(self) -> State:
        """Return addresses as seen from the centre, the centre, the contents and the radius."""
        return {
            "addresses": self._addresses.view,
            "contents": self.contents,
            "centre": self._centre,
            "radius": np.array([self.radius]),
        }

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes."""
        addresses, contents = state["addresses"], state["contents"]
        fits = addresses.ndim == 2 and addresses.shape[1:] == state["centre"].shape == self._centre.shape
        if not fits or state["radius"].shape != (1,):
            raise ValueError(
                f"the memory should hold addresses and one centre of width {self._centre.size} and one radius"
            )
        if contents.shape != (len(addresses), n_classes):
            raise ValueError(
                f"expected contents of {n_classes} classes for {len(addresses)} addresses, "
                f"got shape {contents.shape}"
            )
        check_range("the radius", state["radius"], 0, LARGEST_FEATURE**2)
        check_range("the contents", contents, 0, 1.001)
        check_range("the centre", state["centre"], -LARGEST_FEATURE, LARGEST_FEATURE)
        check_range("an address", addresses, -4 * LARGEST_FEATURE, 4 * LARGEST_FEATURE)
        self._addresses.set(addresses)
        self._set_contents(contents)
        self._centre, self._begun = state["centre"].astype(np.float64), True
        self.radius = float(state["radius"][0])
