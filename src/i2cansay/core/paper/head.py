"""The linear softmax classifier and its step of gradient descent (Eq. 5).

Symbols of the paper: w_g -> weights, b_g -> bias, f_x and zeta_x -> rows of X, L_CE -> mean cross-entropy of a
group of rows. The groups (real, pseudo, replayed) go through one step together: the weight of a group, divided
by its size, is the weight of each of its rows.
"""

import numpy as np
from scipy.linalg.blas import saxpy

from i2cansay.core.linalg.blas import add_outer, inner
from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.score_blocks import score_blocks
from i2cansay.core.types import Features, Float32, Float64, Rows, State


def softmax(logits: Features) -> Features:
    """Return the softmax of each row; changes `logits` in place and returns it.

    Examples
    --------
    >>> softmax(np.array([[0.0, 0.0], [1000.0, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits


def row_weights(sizes: list[int], weights: list[float]) -> Float32:
    """Return the weight of every row so that each group contributes its mean times the group's weight.

    Examples
    --------
    >>> row_weights([2, 1], [1.0, 2.0])  # two real rows, one pseudo-feature, beta = 2
    array([0.5, 0.5, 2. ], dtype=float32)
    """
    return np.repeat(np.array([w / n for n, w in zip(sizes, weights, strict=True)], dtype=np.float32), sizes)


def cross_entropy(logits: Features, targets: Rows, weights: Features) -> float:
    """Return the weighted sum of the rows' cross-entropies: the loss of which `error_signal` is the gradient."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_likelihood = shifted[np.arange(len(targets)), targets] - np.log(np.exp(shifted).sum(axis=1))
    return float(-(weights * log_likelihood).sum())  # Eq. 5


def error_signal(logits: Features, targets: Rows, weights: Features) -> Features:
    """Return the gradient of `cross_entropy` by the logits, (n, c); changes `logits` in place and returns it."""
    error = softmax(logits)
    error[np.arange(len(targets)), targets] -= 1
    error *= weights[:, None]
    return error


class LinearHead:
    """A weight row per class, starting at zero, trained by SGD in place.

    Examples
    --------
    >>> head = LinearHead(n_features=2, bias=False)
    >>> head.resize(2)
    >>> X, y = np.eye(2, dtype=np.float32), np.array([0, 1])
    >>> for _ in range(20):
    ...     head.step(X, y, row_weights([2], [1.0]), lr=0.5)
    >>> head.logits(X).argmax(axis=1)
    array([0, 1])
    """

    def __init__(self, n_features: int, *, bias: bool, momentum: float = 0.0) -> None:
        self.momentum = momentum
        self._weights = RowBuffer(width=n_features, dtype=np.float32)
        self._bias = RowBuffer(width=None, dtype=np.float32) if bias else None
        self._velocity = RowBuffer(width=n_features, dtype=np.float32) if momentum else None
        self._bias_velocity = RowBuffer(width=None, dtype=np.float32) if bias and momentum else None

    @property
    def weights(self) -> Float32:
        """Weights, (c, d)."""
        return self._weights.view

    @property
    def bias(self) -> Float32 | None:
        """Trained bias, (c,), or None."""
        return None if self._bias is None else self._bias.view

    def _parts(self) -> dict[str, RowBuffer]:
        parts = {
            "weights": self._weights,
            "bias": self._bias,
            "velocity": self._velocity,
            "bias_velocity": self._bias_velocity,
        }
        return {name: part for name, part in parts.items() if part is not None}

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` rows; the new ones are zero."""
        for part in self._parts().values():
            part.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove the weights of one class."""
        for part in self._parts().values():
            part.drop(row)

    def logits(self, X: Features) -> Float32:
        """Return ``X @ weights.T + bias``, (n, c) float32."""
        return self._logits(X, self.weights)

    def _logits(self, X: Features, weights: Float32) -> Float32:
        logits: Float32 = inner(X, weights)
        if self._bias is not None:
            logits += self._bias.view
        return logits

    def step(
        self, X: Float32, targets: Rows, weights: Features, *, lr: float, weight_decay: float = 0.0
    ) -> None:
        """Take one step down the gradient of the weighted cross-entropy of the rows.

        Parameters
        ----------
        X : (n, d) float32 array
        targets : (n,) rows of the classes
        weights : (n,) weight of each row's cross-entropy, see `row_weights`
        """
        blocks = list(score_blocks(len(X), len(self.weights)))
        # All blocks start from the same weights, and `moved` takes in their errors one after the other.
        start = self.weights if len(blocks) == 1 else self.weights.copy()
        moved, scale, keep = self.weights, -lr, 1.0 - lr * weight_decay
        if self._velocity is not None:
            moved, scale, keep = self._velocity.view, 1.0, self.momentum
        bias_gradient = np.zeros(len(self.weights), dtype=np.float32)
        for some in blocks:
            error: Float32 = error_signal(self._logits(X[some], start), targets[some], weights[some])
            add_outer(moved, error, X[some], scale=scale, keep=keep)
            keep = 1.0
            if self._bias is not None:
                bias_gradient += error.sum(axis=0)
        if self._velocity is not None:
            velocity, flat = self._velocity.view, self.weights.reshape(-1)
            saxpy(flat, velocity.reshape(-1), a=weight_decay)
            saxpy(velocity.reshape(-1), flat, a=-lr)
        if self._bias is not None:
            self._step_bias(bias_gradient, lr, weight_decay)

    def rehearse(
        self,
        X: Features,
        targets: Rows,
        replayed: Features,
        replayed_targets: Rows,
        *,
        weights: Features | None = None,
        lr: float,
        weight_decay: float = 0.0,
    ) -> None:
        """Take one step on the mean cross-entropy of a batch, (n, d), plus that of replayed rows, (m, d), if any.

        Parameters
        ----------
        weights : (n,) weights of the batch's samples, optional
        """
        sizes = [size for size in (len(X), len(replayed)) if size]
        every_row = row_weights(sizes, [1.0] * len(sizes))
        if weights is not None:
            every_row[: len(X)] = weights / weights.sum()
        self.step(
            np.concatenate([X, replayed], dtype=np.float32),
            np.concatenate([targets, replayed_targets]),
            every_row,
            lr=lr,
            weight_decay=weight_decay,
        )

    def _step_bias(self, gradient: Float32, lr: float, weight_decay: float) -> None:
        assert self._bias is not None
        gradient += weight_decay * self._bias.view
        if self._bias_velocity is not None:
            velocity = self._bias_velocity.view
            velocity *= self.momentum
            velocity += gradient
            gradient = velocity
        self._bias.view[:] -= lr * gradient

    def merge(self, other: "LinearHead", rows: Rows, share: Float64) -> None:
        """Move class ``rows[i]`` by ``share[i]`` of the way to row i of `other`."""
        theirs = other._parts()
        for name, part in self._parts().items():
            fraction = share if part.view.ndim == 1 else share[:, None]
            mine = part.view[rows]
            part.view[rows] = mine + fraction * (theirs[name].view - mine)

    def state(self) -> State:
        """Return `weights` and, where they exist, `bias` and the velocities."""
        return {name: part.view for name, part in self._parts().items()}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes of this width."""
        for name, part in self._parts().items():
            expected = n_classes, *part.view.shape[1:]
            if state[name].shape != expected:
                raise ValueError(f"the head's {name} should be of shape {expected}, not {state[name].shape}")
            part.set(state[name])
