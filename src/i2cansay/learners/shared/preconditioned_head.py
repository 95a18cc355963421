"""Analogies in decorrelated coordinates: a head trained on top of a closed form, by steps multiplied by A^-1.

Symbols: A -> the covariance shared by all classes, P -> their means, B = P A^-1 -> preconditioned means,
W -> weights.

With one covariance for all classes every class has the same spread, and the paper's transfer
``zeta = (f - p_y) r_c / r_y + p_c`` (Eq. 4) is the translation ``f - p_y + p_c``. A step of gradient descent in
decorrelated coordinates is, in the features' own, a step whose rows are multiplied by A^-1. For a translated row
that needs no further product: ``zeta A^-1 = f A^-1 - B_y + B_c``.

The logits are those of the closed form (`discriminant.shrink_means`) divided by a temperature, plus ``W f``: the
head learns what the closed form leaves unexplained.
"""

import numpy as np

from i2cansay.core.linalg.blas import add_outer, inner
from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.linalg.symmetric import pack32, unpack32
from i2cansay.core.paper.head import error_signal
from i2cansay.core.score_blocks import score_blocks
from i2cansay.core.state_parts import check_range
from i2cansay.core.statistics import discriminant
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import Features, Float32, Float64, Rows, State

# The inverse is made anew when so many more samples have passed, in units of those before: with every doubling, some
# 10 times in 50,000 samples.
GROWTH = 1.0
# A step is a mean over the samples of a lesson. That of a smaller lesson is shorter in proportion: a full step for a
# single sample would leave its noise in the weights.
FULL_STEP_FROM_SAMPLES = 50
# With a variance outside of this the features, or the inverse of their covariance, would leave the range of float32.
LEAST_VARIANCE, LARGEST_VARIANCE = 1e-24, 1e31
CLASSES_AT_A_TIME = 32
MEANS_AT_A_TIME = 256


def fits_float32(variances: Float64) -> bool:
    """Return whether the head can take steps on blocks of these variances, (b,); those of zero have no part in it.

    Where it cannot, the closed form, in float64, decides alone.

    Examples
    --------
    >>> fits_float32(np.array([4.0, 0.0])), fits_float32(np.array([4.0, 1e-30]))
    (True, False)
    """
    used = variances[variances > 0]
    return bool(np.all((used >= LEAST_VARIANCE) & (used <= LARGEST_VARIANCE)))


class PreconditionedHead:
    """A weight row per class, zero at first, and the inverse covariance that its steps are taken in.

    Examples
    --------
    >>> scatter, head = SharedScatter(2), PreconditionedHead(2)
    >>> scatter.resize(2)
    >>> head.resize(2)
    >>> X, y = np.array([[0.0, 1.0], [1.0, 2.0], [4.0, 0.0], [5.0, 1.2]], dtype=np.float32), np.array([0, 0, 1, 1])
    >>> scatter.add(X, y)
    >>> head.refresh(scatter, shrinkage=0.1)
    >>> for _ in range(100):
    ...     head.step(X, y, old=1 - y, means=scatter.means.mean, weights=np.full(8, 0.25), temperature=40.0, lr=0.01)
    >>> head.logits(X).argmax(axis=1)
    array([0, 0, 1, 1])
    """

    def __init__(self, n_features: int) -> None:
        self._weights = RowBuffer(width=n_features, dtype=np.float32)
        self._preconditioned_means = RowBuffer(width=n_features, dtype=np.float32)
        self._inverse: Float32 = np.eye(n_features, dtype=np.float32)
        self._centre: Float64 = np.zeros(n_features)
        self._due = 0.0
        # How far steps shrink the means: as the closed form did when the last inverse was made.
        self._shrink_means = 0.0
        # p_c A^-1 p_c with means from the centre, and whether it is still that: all else about a class changes with
        # its own samples only.
        self._lengths = RowBuffer(width=None, dtype=np.float32)
        self._measured = RowBuffer(width=None, dtype=np.bool_)

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` rows; the new ones are zero."""
        self._weights.resize(n_classes)
        self._preconditioned_means.resize(n_classes)
        self._lengths.resize(n_classes)
        self._measured.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove one class."""
        self._weights.drop(row)
        self._preconditioned_means.drop(row)
        self._lengths.drop(row)
        self._measured.drop(row)

    def due(self, total: float) -> bool:
        """Whether the inverse is to be made anew, `total` samples having passed."""
        return total >= self._due

    def fade(self, lost: float) -> None:
        """Take in that samples of weight `lost` have faded: the inverse is due as much earlier."""
        self._due -= lost

    def expire(self) -> None:
        """Let the inverse be due with the next samples."""
        self._due = 0.0

    def refresh(self, scatter: SharedScatter, shrinkage: float, shrink_means: float = 0.0) -> None:
        """Make the inverse anew, and precondition all means by it.

        Parameters
        ----------
        shrinkage : float
            Of the covariance.
        shrink_means : float
            How far the closed form shrinks means towards their centre; steps do so as far as it is safe.
        """
        inverse = scatter.shrunk_inverse(shrinkage)
        self._inverse = np.empty((0, 0), dtype=np.float32)  # makes room for the one that follows
        self._inverse = inverse.into_dense32()
        self._centre = scatter.means.centre.copy()
        total = scatter.means.total
        self._due = total * (1 + GROWTH)
        for start in range(0, len(scatter.means), MEANS_AT_A_TIME):
            some = slice(start, start + MEANS_AT_A_TIME)
            offsets = (scatter.means.mean[some] - self._centre).astype(np.float32)
            self._preconditioned_means.view[some] = inner(offsets, self._inverse)
        self._measured.view[:] = False
        self._shrink_means = discriminant.largest_safe_strength(shrink_means, self.products(scatter))

    def products(self, scatter: SharedScatter) -> Features:
        """Return ``(p_i - m) A^-1 (p_j - m)`` with the last inverse and the centre m of the classes, (c, c).

        Of very many classes only those farthest out.
        """
        means, preconditioned = scatter.means.mean, self._preconditioned_means.view
        preconditioned = preconditioned - preconditioned.mean(axis=0)
        centre: Float64 = means.mean(axis=0)

        def offsets(rows: Rows) -> Float32:
            return (means[rows] - centre).astype(np.float32)

        judged = np.arange(len(means))
        if len(means) > discriminant.MOST_JUDGED:
            blocks = [judged[start : start + MEANS_AT_A_TIME] for start in judged[::MEANS_AT_A_TIME]]
            judged = discriminant.farthest(
                np.concatenate([np.einsum("cd,cd->c", offsets(b), preconditioned[b]) for b in blocks])
            )
            preconditioned = preconditioned[judged]
        products = np.empty((len(judged), len(judged)), dtype=np.float32)
        for start in range(0, len(judged), MEANS_AT_A_TIME):
            some = slice(start, start + MEANS_AT_A_TIME)
            products[some] = inner(offsets(judged[some]), preconditioned)
        return products

    def apply_precision(self, X: Features) -> Float32:
        """Return the rows of `X` preconditioned: ``A^-1 (f - centre)``, (n, d) float32."""
        preconditioned: Float32 = inner((X - self._centre).astype(np.float32), self._inverse)
        return preconditioned

    def shift(self, preconditioned: Float32, classes: Rows, share: Float64) -> None:
        """Take in, between two inverses, that means have moved: without a product, as they are linear in samples.

        Parameters
        ----------
        preconditioned : (n, d) new samples, preconditioned
        classes : (n,) their classes
        share : (n,) of each sample in the mean of its class, now that it is in
        """
        touched, groups = np.unique(classes, return_inverse=True)
        kept = 1 - np.bincount(groups, share)
        self._preconditioned_means.view[touched] *= kept[:, None].astype(np.float32)
        np.add.at(
            self._preconditioned_means.view, classes, preconditioned * share[:, None].astype(np.float32)
        )
        self._measured.view[touched] = False

    def step(
        self,
        X: Features,
        classes: Rows,
        *,
        preconditioned: Float32 | None = None,
        sources: Rows | None = None,
        old: Rows,
        means: Float64,
        weights: Features,
        temperature: float,
        lr: float,
        width: int | None = None,
    ) -> None:
        """Take one step on the rows `X`, (n, d), of `classes`, and on their analogies in the classes `old`.

        Parameters
        ----------
        preconditioned : (n, d) array, optional
            What `apply_precision` gives for `X`, where it is known.
        sources : (m,) rows of `X`, optional
            Those that are moved; each in turn, starting over after the last, where not given.
        old : (m,) rows of classes
            What they are moved into.
        means : (c, d) means of the classes
        weights : (n + m,) weight of the cross-entropy of each row, then of each analogy
        temperature : float
            What the closed form is divided by.
        width : int, optional
            How many of the d dimensions count: those of blocks that are not constant.
        """
        width = X.shape[1] if width is None else width
        sources = np.arange(len(old)) % max(len(X), 1) if sources is None else sources
        left, own = classes[sources], (X - self._centre).astype(np.float32)
        if preconditioned is None:
            preconditioned = inner(own, self._inverse)
        preconditioned_means = self._preconditioned_means.view
        moved = own[sources] + (means[old] - means[left]).astype(np.float32)  # Eq. 4, all spreads being one
        rows = np.concatenate([own, moved])
        preconditioned = np.concatenate(
            [preconditioned, preconditioned[sources] + preconditioned_means[old] - preconditioned_means[left]]
        )

        # Seen from the centre of the classes, which lies `off` the centre of the last inverse.
        off = (means.mean(axis=0) - self._centre).astype(np.float32)
        preconditioned_off = preconditioned_means.mean(axis=0)
        along = inner(off[None], preconditioned_means)[0] - np.float32(off @ preconditioned_off)
        lengths = self._measure(means) - 2 * along - np.float32(off @ preconditioned_off)
        factors = np.sqrt(1 + np.float32(self._shrink_means) * np.maximum(lengths, 0))

        # One product for both: the closed form's weights and the head's.
        together = preconditioned_means - preconditioned_off
        together *= (1 / (temperature * factors))[:, None]
        together += self._weights.view
        offset = (along / factors + 0.5 * lengths / factors**2) / np.float32(temperature)
        # In decorrelated coordinates a row has a squared length of about its width. One that is longer, because the
        # samples that come now are unlike those the inverse is of, counts less in proportion.
        squared = np.einsum("nd,nd->n", rows, preconditioned)
        calm = np.minimum(1, width / np.maximum(squared, 1e-30))
        targets, weights = np.concatenate([classes, old]), (weights * calm).astype(np.float32)
        lr *= min(1.0, len(X) / FULL_STEP_FROM_SAMPLES)
        for some in score_blocks(len(rows), len(together)):
            logits: Float32 = inner(rows[some], together)
            logits -= offset
            error = error_signal(logits, targets[some], weights[some])
            add_outer(self._weights.view, error, preconditioned[some], scale=-lr)

    def _measure(self, means: Float64) -> Float32:
        """Return ``p_c A^-1 p_c`` with means from the centre, (c,), of which only those that moved are computed."""
        moved = np.flatnonzero(~self._measured.view)
        for start in range(0, len(moved), CLASSES_AT_A_TIME):  # a few at a time stay in the cache
            some = moved[start : start + CLASSES_AT_A_TIME]
            offsets = (means[some] - self._centre).astype(np.float32)
            self._lengths.view[some] = np.einsum("cd,cd->c", offsets, self._preconditioned_means.view[some])
        self._measured.view[:] = True
        lengths: Float32 = self._lengths.view
        return lengths

    def logits(self, X: Features) -> Float32:
        """Return ``W (f - centre)``, (n, c) float32, with the centre of the last inverse."""
        logits: Float32 = inner((X - self._centre).astype(np.float32), self._weights.view)
        return logits

    @property
    def linear(self) -> tuple[Float64, Float64]:
        """The weights, (c, d), and the centre, (d,), that `logits` are made with."""
        return self._weights.view.astype(np.float64), self._centre

    def merge(self, other: "PreconditionedHead", rows: Rows, share: Float64) -> None:
        """Move the weights of class ``rows[i]`` by ``share[i]`` of the way to row i of `other`."""
        mine = self._weights.view[rows]
        self._weights.view[rows] = mine + share[:, None].astype(np.float32) * (other._weights.view - mine)

    def state(self) -> State:
        """Return the weights, and what the last inverse brought: means, centre, when the next is due."""
        return {
            "weights": self._weights.view,
            "preconditioned_means": self._preconditioned_means.view,
            "inverse": pack32(self._inverse),
            "centre": self._centre,
            "due": np.array([self._due]),
            "shrink_means": np.array([self._shrink_means]),
        }

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` gave, which must be of `n_classes` classes of this width."""
        width = len(self._centre)
        expected = {
            "weights": (n_classes, width),
            "preconditioned_means": (n_classes, width),
            "inverse": (width * (width + 1) // 2,),
            "centre": (width,),
            "due": (1,),
            "shrink_means": (1,),
        }
        for name, shape in expected.items():
            if state[name].shape != shape:
                raise ValueError(f"the head's {name} should be of shape {shape}, not {state[name].shape}")
        check_range("how far means shrink", state["shrink_means"], 0, np.inf)
        self._weights.set(state["weights"])
        self._preconditioned_means.set(state["preconditioned_means"])
        self._lengths.set(np.zeros(n_classes, dtype=np.float32))
        self._measured.set(np.zeros(n_classes, dtype=np.bool_))
        self._inverse = unpack32(width, np.array(state["inverse"], dtype=np.float32))
        self._centre = np.array(state["centre"], dtype=np.float64)
        self._due, self._shrink_means = float(state["due"][0]), float(state["shrink_means"][0])
