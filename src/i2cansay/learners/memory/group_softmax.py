"""Softmax inside groups of classes, and the vote between the groups' candidates.

Symbols: g(c) -> groups, the group of each class; s_c -> the probability of class c among the classes of its group.
The candidate of a group is its class of the highest s_c. Its weight in the vote falls with the squared distance
between the sample and the mean of the candidate class: log s_c - distance of the group's candidate / temperature.
"""

import numpy as np

from i2cansay.core.types import Features, Float64, Rows


def group_log_softmax(logits: Features, groups: Rows) -> Float64:
    """Return the logarithm of the softmax of logits, (n, c), over the classes of each group, (c,) of group numbers.

    Examples
    --------
    >>> np.exp(group_log_softmax(np.array([[1.0, 1.0, 7.0]]), np.array([0, 0, 1])))
    array([[0.5, 0.5, 1. ]])
    """
    result = np.empty(logits.shape)
    for group in np.unique(groups).tolist():
        own = np.flatnonzero(groups == group)
        part = logits[:, own].astype(np.float64)
        part -= part.max(axis=1, keepdims=True)
        result[:, own] = part - np.log(np.exp(part).sum(axis=1, keepdims=True))
    return result


def group_error_signal(logits: Features, targets: Rows, groups: Rows, weights: Features) -> Features:
    """Return the gradient by the logits, (n, c), of the rows' cross-entropies in the groups of their targets.

    Parameters
    ----------
    logits : (n, c) array
    targets : (n,) rows of the classes
    groups : (c,) group of each class
    weights : (n,) weight of each row

    Examples
    --------
    >>> group_error_signal(np.zeros((1, 3)), np.array([0]), np.array([0, 0, 1]), np.ones(1))
    array([[-0.5,  0.5,  0. ]])
    """
    inside = groups[targets][:, None] == groups
    masked = np.where(inside, logits, -np.inf)
    error: Features = np.exp(masked - masked.max(axis=1, keepdims=True))
    error /= error.sum(axis=1, keepdims=True)
    error[np.arange(len(targets)), targets] -= 1
    error *= weights[:, None]
    return error


def balanced_weights(targets: Rows, groups: Rows, weights: Features) -> Float64:
    """Return row weights of the same sum in every group, shared evenly by those of its classes that are present.

    Parameters
    ----------
    targets : (n,) rows of the classes
    groups : (c,) group of each class
    weights : (n,) positive weights

    Examples
    --------
    >>> balanced_weights(np.array([0, 0, 0, 1, 2]), np.array([0, 0, 1]), np.ones(5))
    array([0.66666667, 0.66666667, 0.66666667, 2.        , 1.        ])
    """
    of_class = np.bincount(targets, weights=weights, minlength=len(groups))
    of_group = np.bincount(groups, weights=of_class)
    present = np.bincount(groups, weights=of_class > 0)
    own = groups[targets]
    result: Float64 = weights * of_group[own] / (present[own] * of_class[targets])
    return result


def vote(log_shares: Float64, distances: Float64, groups: Rows, temperature: float) -> Float64:
    """Return the score of every class, (n, c); the highest is a candidate's.

    Parameters
    ----------
    log_shares : (n, c) array
        From `group_log_softmax`.
    distances : (n, c) array
        Of the samples to the means of the classes.
    groups : (c,) group of each class
    temperature : float

    Examples
    --------
    >>> shares = np.log(np.array([[0.9, 0.1, 0.6, 0.4]]))
    >>> distances = np.array([[3.0, 0.0, 1.0, 1.0]])  # the second is nearest, but not a candidate
    >>> vote(shares, distances, np.array([0, 0, 1, 1]), temperature=1.0).argmax(axis=1)
    array([2])
    """
    scores = log_shares.copy()
    every_row = np.arange(len(scores))
    for group in np.unique(groups).tolist():
        own = np.flatnonzero(groups == group)
        candidate = own[log_shares[:, own].argmax(axis=1)]
        scores[:, own] -= distances[every_row, candidate][:, None] / temperature
    return scores
