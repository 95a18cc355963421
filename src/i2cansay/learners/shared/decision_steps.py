"""The decision of `SharedI2CANSAY` as steps: one product with all weights, and what novelty makes of it."""

import numpy as np

from i2cansay.core.statistics.means import ClassMeans
from i2cansay.core.types import Float64, Rows
from i2cansay.learners.decision.steps import Mapped, Product, RowLeast, RowSum, Step
from i2cansay.learners.shared.closed_form import Solution
from i2cansay.learners.shared.feature_map import FeatureMap
from i2cansay.learners.shared.head_schedule import base_temperature
from i2cansay.learners.shared.preconditioned_head import PreconditionedHead
from i2cansay.learners.shared.relative_distance import relative_terms


def shared_steps(
    features: FeatureMap,
    classes: ClassMeans,
    solution: Solution,
    *,
    head: PreconditionedHead | None,
    head_share: float,
    order: Rows,
) -> tuple[Step, Step | None]:
    """Return the steps to the scores, (n, c), and to the novelty, (n, 1), None for a single class.

    Parameters
    ----------
    classes : ClassMeans
        Of the features as they are mapped.
    head : PreconditionedHead or None
        What is added to the closed form, which is divided by a temperature then.
    head_share : float
        How much it counts.
    order : (c,) rows of the classes in the order of the columns
    """
    means, temperature = classes.mean, 1.0 if head is None else base_temperature(classes.count)
    scores, factors = solution.closed_form
    centre = features.expand(scores.centre)
    # Rows are measured from the centre as single precision has it; what that changes goes into the offsets.
    near = centre.astype(np.float32).astype(np.float64)
    away = features.steps() - near

    def product(weights: Float64) -> Step:
        """Return what weights, (k, width), make of mapped rows, seen from the centre of the classes."""
        folded = features.fold(weights)
        return Product(away, folded) + folded @ (near - centre)

    projected = product((scores.weights * factors[:, None])[order])
    scaled = projected * (1 / (temperature * factors[order])) + (scores.offset / temperature)[order]
    if head is not None:
        weights, their_centre = head.linear
        weights = head_share * weights
        scaled = scaled + (product(weights[order]) + (weights @ (scores.centre - their_centre))[order])
    if len(means) == 1:
        return scaled, None
    terms = relative_terms(means, solution.covariance, solution.closed_form, solution.products)
    explained = Product(projected, terms.factor[:, order]) if terms.of_products else product(terms.factor)
    return scaled, RowLeast(projected * -2.0 + terms.squared[order]) + RowSum(Mapped("square", explained))
