"""Inter-class analogical augmentation (ICAN): features of an old class by analogy with a new sample.

Symbols of the paper: f_x -> x, q_x -> offset, p^y -> mean_from, r^y -> std_from, ybar -> the class entered,
p^ybar -> mean_to, r^ybar -> std_to, zeta_x -> the result.

FeTrIL (Petit et al. 2023) moves a sample of the most similar new class by the difference of two means. ICAN is that
translation times a ratio of standard deviations, from a class that happens to be in the batch. Both can be had
apart: the kind "translation" leaves the ratio out, and `nearest_sources` finds the most similar class.
"""

from typing import Literal, TypeAlias, get_args

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.types import Features, Float32, Float64, Rows

OldClasses: TypeAlias = Literal["all", "absent"]
Source: TypeAlias = Literal["any", "nearest"]
SOURCES: tuple[str, ...] = get_args(Source)
PseudoKind: TypeAlias = Literal["ican", "gaussian", "radius", "first_radius", "translation", "prototype"]
PSEUDO_KINDS: tuple[str, ...] = get_args(PseudoKind)

# Numbers worked on at a time, so that the temporaries of a large batch stay small.
BLOCK = 1 << 17


def transfer(
    x: Features,
    *,
    mean_from: Features,
    std_from: Features,
    mean_to: Features,
    std_to: Features,
    alpha: float = 1e-8,
) -> Features:
    """Re-express features of one class as if they came from another.

    Every argument has shape (n, d): row i of `x` leaves the class described by row i of `mean_from` and
    `std_from` and enters the one described by row i of `mean_to` and `std_to`.

    Examples
    --------
    >>> transfer(np.array([[3.0, 1.0]]), mean_from=np.array([[1.0, 1.0]]), std_from=np.array([[2.0, 1.0]]),
    ...          mean_to=np.array([[0.0, 5.0]]), std_to=np.array([[4.0, 1.0]]), alpha=0.0)
    array([[4., 5.]])
    """
    offset = x.astype(mean_from.dtype)  # a copy of one type: a difference of two types would take longer
    offset -= mean_from  # Eq. 3
    made = offset.astype(std_to.dtype, copy=False)
    made *= std_to / (std_from + alpha)
    made += mean_to  # Eq. 4
    return made


def draw_sources(n: int, per_sample: float, rng: np.random.Generator) -> Rows:
    """Return the rows of a batch of `n` that get a pseudo-feature: whole rounds of all, then a drawn part.

    Examples
    --------
    >>> draw_sources(4, 1.5, np.random.default_rng(0)).tolist()
    [0, 1, 2, 3, 2, 3]
    """
    total = round(per_sample * n)
    rounds, part = divmod(total, n)
    whole = np.tile(np.arange(n), rounds)
    if part == 0:
        return whole
    return np.concatenate([whole, np.sort(rng.choice(n, size=part, replace=False))])


def draw_targets(
    kind: OldClasses, classes: Rows, sources: Rows, n_classes: int, rng: np.random.Generator
) -> Rows:
    """Draw for each of the rows `sources` of a batch the class it is to enter; none where there is none.

    Parameters
    ----------
    kind : {"all", "absent"}
        Any class but the row's own, or only those absent from the batch.
    classes : (n,) classes of the batch

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> draw_targets("all", np.array([0, 1]), np.array([0, 1, 0]), 2, rng).tolist()
    [1, 0, 1]
    >>> draw_targets("absent", np.array([0, 1]), np.array([0, 1, 0]), 3, rng).tolist()
    [2, 2, 2]
    """
    if kind == "all":
        return draw_old_classes(classes[sources], n_classes, rng)
    return draw_absent_classes(classes, n_classes, len(sources), rng)


def draw_old_classes(classes: Rows, n_classes: int, rng: np.random.Generator) -> Rows:
    """Draw for each sample a class other than its own, uniformly; (n,) in, (n,) out.

    Examples
    --------
    >>> draw_old_classes(np.array([0, 1]), 2, np.random.default_rng(0)).tolist()
    [1, 0]
    """
    drawn = rng.integers(0, n_classes - 1, size=len(classes))
    return drawn + (drawn >= classes)


def draw_absent_classes(classes: Rows, n_classes: int, n: int, rng: np.random.Generator) -> Rows:
    """Draw `n` classes, uniformly, among those that do not occur in `classes`; none where all occur."""
    absent = np.setdiff1d(np.arange(n_classes), classes)
    return absent[rng.integers(0, len(absent), size=n)] if len(absent) else absent


def nearest_sources(old: Rows, classes: Rows, means: Features, rng: np.random.Generator) -> Rows:
    """Draw for each class of `old`, (k,), a row of the batch from the class whose mean is most similar to its own.

    Similar by cosine, among the classes of the batch other than the one asked for. Of that class any row may come.

    Parameters
    ----------
    classes : (n,) classes of the batch
        At least one of them differs from each of `old`.
    means : (c, d) means of all classes

    Examples
    --------
    >>> means = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> nearest_sources(np.array([0, 0, 1]), np.array([2, 1, 2]), means, np.random.default_rng(0))[:2]
    array([1, 1])
    """
    present = np.unique(classes)
    targets, of_target = np.unique(old, return_inverse=True)
    similar = inner(_directions(means[targets]), _directions(means[present]))
    similar[targets[:, None] == present] = -np.inf
    nearest = present[similar.argmax(axis=1)][of_target]
    # Rows sorted by class: a class is a stretch of them, of which one is drawn.
    by_class = np.argsort(classes, kind="stable")
    begin, end = (np.searchsorted(classes[by_class], nearest, side=side) for side in ("left", "right"))
    drawn: Rows = by_class[rng.integers(begin, end)]
    return drawn


def _directions(X: Features) -> Float64:
    """Return the rows of `X`, (n, d), scaled to length one; a row of zeros stays."""
    directions: Float64 = X / np.maximum(np.sqrt(np.einsum("nd,nd->n", X, X)), 1e-300)[:, None]
    return directions


def mean_radius(moments: ClassMoments) -> float:
    """Return the root of the variance, averaged over dimensions and classes: one radius for the noise of all."""
    return float(np.sqrt(np.mean(moments.m2 / moments.count[:, None])))


def pseudo_features(
    kind: PseudoKind,
    x: Features,
    *,
    classes: Rows,
    old: Rows,
    moments: ClassMoments,
    rng: np.random.Generator,
    alpha: float = 1e-8,
    radius: float | None = None,
) -> Float32:
    """Make one feature of class ``old[i]`` for each row ``x[i]`` of class ``classes[i]``, (n, d) float32.

    Kinds: "ican" is the paper's; "translation" keeps the deviation as it is (FeTrIL); "gaussian" draws it with
    the old class's own spread; "radius" draws it alike in all directions and for all classes, with the radius of
    all classes so far; "first_radius" likewise, with the `radius` that is given (PASS); "prototype" has none (SSRE).
    """
    made = np.empty(x.shape, dtype=np.float32)
    noise = 0.0
    if kind in ("radius", "first_radius"):  # for no other kind: it is a pass over the spread of all classes
        noise = mean_radius(moments) if kind == "radius" or radius is None else radius
    rows_at_once = max(1, BLOCK // x.shape[1])
    for start in range(0, len(x), rows_at_once):
        block = slice(start, start + rows_at_once)
        source, target = classes[block], old[block]
        mean_to = moments.mean[target].astype(np.float32)
        if kind == "ican":
            made[block] = transfer(
                x[block],
                mean_from=moments.mean[source],
                std_from=_stds(moments, source),
                mean_to=mean_to,
                std_to=_stds(moments, target),
                alpha=alpha,
            )
        elif kind == "translation":
            made[block] = x[block] - moments.mean[source] + mean_to
        elif kind == "gaussian":
            made[block] = mean_to + moments.std(target) * rng.standard_normal(mean_to.shape)
        elif kind in ("radius", "first_radius"):
            made[block] = mean_to + noise * rng.standard_normal(mean_to.shape)
        else:
            made[block] = mean_to
    return made


def _stds(moments: ClassMoments, classes: Rows) -> Float32:
    """Return the standard deviation of each row's class, (n, d), computed once for a class that occurs often."""
    if 2 * len(set(classes.tolist())) > len(classes):
        return moments.std(classes)
    present, of_row = np.unique(classes, return_inverse=True)
    every_row: Float32 = moments.std(present)[of_row]
    return every_row
