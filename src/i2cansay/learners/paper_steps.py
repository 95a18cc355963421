"""The decision of `I2CANSAY` as steps: the head, the correction by distances, and novelty."""

import numpy as np

from i2cansay.core.paper.head import LinearHead
from i2cansay.core.paper.isay import BiasScale, Distance
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.types import Float32, Rows
from i2cansay.learners.decision.steps import (
    Distances,
    Elementwise,
    Given,
    Mapped,
    PositiveOr,
    Product,
    RowLeast,
    RowSum,
    Softmax,
    Step,
)
from i2cansay.learners.verdicts.relative_distance import DISTANCE_SHARE, MiddleOfMeans


def paper_steps(
    head: LinearHead,
    moments: ClassMoments,
    significances: Float32 | None,
    *,
    distance: Distance,
    bias_scale: BiasScale,
    order: Rows,
) -> tuple[Step, Step | None]:
    """Return the steps to the scores, (n, c), and to the novelty, (n, 1), None for a single class.

    Parameters
    ----------
    significances : (c, d) array, or None
        Where the decision is not corrected.
    order : (c,) rows of the classes in the order of the columns
    """
    # From the centre, as single precision has it: far from the origin, differences would lose their digits.
    centre = moments.mean.mean(axis=0).astype(np.float32).astype(np.float64)
    away, means = Given() - centre, moments.mean[order] - centre
    weights = head.weights[order].astype(np.float64)
    bias = 0.0 if head.bias is None else head.bias[order].astype(np.float64)
    scores: Step = Product(away, weights) + (weights @ centre + bias)
    if significances is not None:
        gamma: Step = Distances(away, means, significances[order], power=1 if distance == "absolute" else 2)
        if distance == "euclidean":
            gamma = Mapped("root", gamma)
        scores = Softmax(scores) + importance_steps(gamma, len(means), bias_scale)
    if len(means) == 1:
        return scores, None
    middle = MiddleOfMeans.of(moments)
    nearest = RowLeast(Distances(away, means, None, power=2))
    to_centre = Elementwise("maximum", RowSum(Mapped("square", away)), middle.least)
    return scores, nearest / to_centre + nearest * (DISTANCE_SHARE / middle.spread)


def importance_steps(distances: Step, n_classes: int, scale: BiasScale) -> Step:
    """Return the steps of `core.paper.isay.importance`, (n, c), from those to the distances, (n, c)."""
    total = RowSum(distances)
    mean = total * (1 / n_classes)
    floor = PositiveOr(mean * 1e-6, 1.0)
    return PositiveOr(mean if scale == "mean" else total, 1.0) / Elementwise("maximum", distances, floor)
