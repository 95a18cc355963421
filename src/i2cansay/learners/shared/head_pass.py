"""The head of analogies after the fact: on statistics that are complete, by one pass over samples of theirs.

A head that learns along with the statistics sees each sample once, with the inverse covariance of that moment. Here
the inverse is that of all samples from the first step on.
"""

from collections.abc import Iterator

from numpy.typing import ArrayLike

from i2cansay.learners.shared.preconditioned_head import PreconditionedHead
from i2cansay.learners.shared.shared_i2cansay import SharedI2CANSAY


def with_head(learner: SharedI2CANSAY) -> SharedI2CANSAY:
    """Return a learner with the statistics of `learner`, which has no head, and an untrained one.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0], [6.0, 6.0]]), ["low", "low", "high", "high"]
    >>> bare = SharedI2CANSAY(analogies=False, lift=0, random_state=0).partial_fit(X, y)
    >>> both = train_head(with_head(bare), X, y)
    >>> both.analogies, both.predict([[0.5, 0.5], [5.0, 6.0]]).tolist()
    (True, ['low', 'high'])
    """
    other = SharedI2CANSAY(**{**learner.get_params(deep=False), "analogies": True})
    state = learner.refresh().state()
    head = PreconditionedHead(learner._features.width)
    head.resize(len(learner._labels))
    return other.set_state(state | {f"head.{name}": array for name, array in head.state().items()})


def train_head(learner: SharedI2CANSAY, X: ArrayLike, y: ArrayLike) -> SharedI2CANSAY:
    """Let the head of `learner` take a step for each batch of samples, (n, d) with labels (n,), in their order.

    The samples are in its statistics already, which do not change.
    """
    rows, classes, _ = learner._check_taught(X, y, None)
    if learner._head is None:
        raise ValueError("this learner has no head to train; begin with with_head(learner)")
    if learner._steps_fit:
        shrinkage = learner._shrinkage.renew(learner._scatter, learner.shrinkage)
        learner._head.refresh(learner._scatter, shrinkage, learner.shrink_means)
        for batch in _batches(len(rows), learner.batch_size):
            learner._train(rows[batch], classes[batch], None)
        learner._clear_caches()
    return learner


def _batches(n: int, size: int) -> Iterator[slice]:
    for start in range(0, n, size):
        yield slice(start, start + size)
