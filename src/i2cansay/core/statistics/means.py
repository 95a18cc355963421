"""Running mean of every class, and of all samples together, for methods that need no variances."""

import numpy as np

from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.paper.moments import batch_moments
from i2cansay.core.state_parts import LARGEST_FEATURE, check_range
from i2cansay.core.types import Features, Float64, Rows, State

EVERY = slice(None)
LARGEST_MEAN = 1e5 * LARGEST_FEATURE


class ClassMeans:
    """Count and mean of every class, a row per class in the order of arrival, exact for any batches.

    `total` and `centre` are weight and mean of all samples so far; they stay when a class is
    dropped, so that what is measured from the centre does not move.

    Examples
    --------
    >>> means = ClassMeans(n_features=1)
    >>> means.resize(2)
    >>> means.add(np.array([[1.0], [3.0], [11.0]]), np.array([0, 0, 1]))
    >>> means.mean.ravel(), means.centre
    (array([ 2., 11.]), array([5.]))
    """

    def __init__(self, n_features: int) -> None:
        self._count = RowBuffer(width=None, dtype=np.float64)
        self._mean = RowBuffer(width=n_features, dtype=np.float64)
        self.total = 0.0
        self.centre: Float64 = np.zeros(n_features)

    def __len__(self) -> int:
        return len(self._count)

    @property
    def count(self) -> Float64:
        """Samples (or weight) per class, (c,)."""
        return self._count.view

    @property
    def mean(self) -> Float64:
        """Prototypes, (c, d)."""
        return self._mean.view

    def from_centre(self, rows: slice = EVERY) -> Float64:
        """Return the prototypes, or some of them, as seen from the centre, (c, d)."""
        return self.mean[rows] - self.centre

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` rows; the new ones are empty."""
        self._count.resize(n_classes)
        self._mean.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove one class."""
        self._count.drop(row)
        self._mean.drop(row)

    def add(self, X: Features, classes: Rows, weights: Float64 | None = None) -> None:
        """Add samples, (n, d), of the given classes, (n,)."""
        touched, groups = np.unique(classes, return_inverse=True)
        batch = batch_moments(X, groups, len(touched), weights)
        self.take(batch.count, batch.mean, touched)

    def take(self, count: Float64, mean: Float64, rows: Rows) -> None:
        """Merge groups of samples, (k,) counts and (k, d) means, group i into class ``rows[i]``."""
        self._move_classes(count, mean, rows)
        self._move_centre(float(count.sum()), np.average(mean, axis=0, weights=count))

    def take_out(self, count: Float64, mean: Float64, rows: Rows) -> None:
        """Undo `take`."""
        self.count[rows], self.mean[rows] = self.without(count, mean, rows)
        self._move_centre(-float(count.sum()), np.average(mean, axis=0, weights=count))

    def without(self, count: Float64, mean: Float64, rows: Rows) -> tuple[Float64, Float64]:
        """Return what counts and means of the classes `rows` would be without these groups; change nothing.

        A class that becomes empty has mean zero.
        """
        before, left = self.count[rows], self.count[rows] - count
        if np.any(left < -1e-9 * before):
            worst = int(np.argmin(left))
            raise ValueError(
                f"{count[worst]:g} samples of a class were to be taken out, and it was taught {before[worst]:g}; "
                "take out only samples that were taught, each as often as it was"
            )
        left = np.where(left < 1e-9 * before, 0.0, left)
        step = (mean - self.mean[rows]) * (count / np.where(left > 0, left, 1.0))[:, None]
        return left, np.where(left[:, None] > 0, self.mean[rows] - step, 0.0)

    def fade(self, keep: float) -> None:
        """Let all samples so far count `keep` times as much; the means do not change."""
        self.count[:] *= keep
        self.total *= keep

    def merge(self, other: "ClassMeans", rows: Rows) -> None:
        """Add the samples of `other`, whose class i is class ``rows[i]`` here."""
        self._move_classes(other.count, other.mean, rows)
        self._move_centre(other.total, other.centre)

    def _move_classes(self, count: Float64, mean: Float64, rows: Rows) -> None:
        together = self.count[rows] + count
        share = count / np.where(together > 0, together, 1.0)
        self.count[rows] = together
        self.mean[rows] += (mean - self.mean[rows]) * share[:, None]

    def _move_centre(self, weight: float, mean: Float64) -> None:
        total = self.total + weight
        # After all samples were taken out again, what is left is rounding.
        self.total = total if total > 1e-9 * abs(weight) else 0.0
        self.centre = self.centre + (mean - self.centre) * (weight / total) if self.total else 0 * self.centre

    def state(self) -> State:
        """Return `count`, `mean`, `total` and `centre`."""
        return {
            "count": self.count,
            "mean": self.mean,
            "total": np.array([self.total]),
            "centre": self.centre,
        }

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes of this width."""
        width = len(self.centre)
        expected = {"count": (n_classes,), "mean": (n_classes, width), "total": (1,), "centre": (width,)}
        for name, shape in expected.items():
            if state[name].shape != shape:
                raise ValueError(
                    f"the class means' {name} should be of shape {shape}, not {state[name].shape}"
                )
        check_range("the count of a class", state["count"])
        # A lift may be longer than the features it is of.
        check_range("the mean of a class", state["mean"], -LARGEST_MEAN, LARGEST_MEAN)
        check_range("the centre of the classes", state["centre"], -LARGEST_MEAN, LARGEST_MEAN)
        # Samples of forgotten classes still count in the total.
        check_range("the count of all classes", state["total"], float(state["count"].sum()) * (1 - 1e-6))
        self._count.set(state["count"])
        self._mean.set(state["mean"])
        self.total, self.centre = float(state["total"][0]), np.array(state["centre"], dtype=np.float64)
