"""What is replayed are the candidates whose loss a step on the batch would raise most."""

import numpy as np
import pytest

from i2cansay.core.paper.head import LinearHead, cross_entropy, row_weights
from i2cansay.core.types import Float32, Float64, Rows
from i2cansay.learners.replay.er import ExperienceReplay
from i2cansay.learners.replay.mir import MaximallyInterferedRetrieval


def by_class(n_classes: int = 6, per_class: int = 60, seed: int = 0) -> tuple[Float32, Rows]:
    """Return classes that overlap a little, one after the other."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), per_class)
    centres = np.random.default_rng(99).normal(size=(n_classes, 12))
    return (centres[y] + rng.normal(size=(len(y), 12))).astype(np.float32), y


def losses(head: LinearHead, X: Float32, rows: Rows) -> Float64:
    one = np.ones(1, dtype=np.float32)
    return np.array(
        [cross_entropy(head.logits(x[None]), row[None], one) for x, row in zip(X, rows, strict=True)]
    )


def slow_choice(
    model: MaximallyInterferedRetrieval, X: Float32, rows: Rows, weights: Float32
) -> tuple[Float32, Rows]:
    """Draw the same candidates, step with a copy of the head, and take those whose loss has risen most."""
    rng = np.random.default_rng()
    rng.bit_generator.state = model._rng.bit_generator.state
    candidates, classes = model._buffer.draw(model.n_candidates, rng)
    copy = LinearHead(X.shape[1], bias=True)
    copy.restore({name: array.copy() for name, array in model._head.state().items()}, len(model.classes_))
    before = losses(copy, candidates, classes)
    copy.step(X, rows, weights, lr=model.lr)
    chosen = np.argsort(before - losses(copy, candidates, classes), kind="stable")[: model.n_replayed]
    return candidates[chosen], classes[chosen]


@pytest.mark.parametrize("lr", [0.02, 0.5])
def test_it_retrieves_what_a_copy_of_the_head_says(lr: float) -> None:
    X, y = by_class()
    model = MaximallyInterferedRetrieval(
        memory_size=120, n_replayed=10, n_candidates=50, lr=lr, weight_decay=0.0, random_state=0
    )
    for start in range(0, 320, 40):
        model.partial_fit(X[start : start + 40], y[start : start + 40])
    batch, rows = X[300:340], y[300:340]
    weights = row_weights([len(batch)], [1.0])
    expected, expected_rows = slow_choice(model, batch, rows, weights)
    before = model._rng.bit_generator.state
    found, found_rows = model._retrieve(batch, rows, weights)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found_rows, expected_rows)
    # The step then is on the batch and on those.
    model._rng.bit_generator.state = before
    head = LinearHead(12, bias=True)
    head.restore({name: array.copy() for name, array in model._head.state().items()}, 6)
    head.step(np.concatenate([batch, expected]), np.concatenate([rows, expected_rows]),
              row_weights([40, 10], [1.0, 1.0]), lr=lr)  # fmt: skip
    model.partial_fit(batch, rows)
    np.testing.assert_array_equal(model.state()["head.weights"], head.weights)


def test_the_chosen_suffer_more_than_the_rest() -> None:
    X, y = by_class(4)
    model = MaximallyInterferedRetrieval(
        memory_size=200, n_replayed=20, n_candidates=200, lr=0.1, random_state=0
    )
    for start in range(0, 180, 30):
        model.partial_fit(X[start : start + 30], y[start : start + 30])
    chosen, rows = model._retrieve(X[150:180], y[150:180], row_weights([30], [1.0]))
    assert len(np.unique(chosen, axis=0)) == 20
    assert 2 not in rows.tolist()  # the class of the batch gains by the step


def test_without_a_choice_it_is_plain_replay() -> None:
    X, y = by_class()
    model = MaximallyInterferedRetrieval(
        memory_size=50, n_replayed=20, n_candidates=20, lr=0.1, random_state=1
    )
    replay = ExperienceReplay(memory_size=50, n_replayed=20, lr=0.1, random_state=1)
    for start in range(0, len(X), 50):
        model.partial_fit(X[start : start + 50], y[start : start + 50])
        replay.partial_fit(X[start : start + 50], y[start : start + 50])
    np.testing.assert_array_equal(model.class_scores(X), replay.class_scores(X))


def test_fewer_candidates_than_replayed_are_refused() -> None:
    with pytest.raises(ValueError, match="n_candidates must be at least n_replayed, 50, got 10"):
        MaximallyInterferedRetrieval(n_candidates=10).partial_fit(np.eye(2), [0, 1])
