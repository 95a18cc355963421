import numpy as np
import pytest

from i2cansay.core.types import Float64, Rows
from i2cansay.learners.verdicts.evidence import BINS, Evidence


def draw(n: int, seed: int = 0, n_classes: int = 5, sharp: float = 4.0) -> tuple[Float64, Rows]:
    """Return probabilities, (n, c), and classes drawn from them: calibrated by construction."""
    rng = np.random.default_rng(seed)
    logits = sharp * rng.normal(size=(n, n_classes))
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    targets = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return probabilities, targets


def taught(n: int = 1500, seed: int = 0) -> Evidence:
    evidence = Evidence()
    probabilities, targets = draw(n, seed)
    evidence.add(probabilities, targets, np.random.default_rng(seed).normal(size=n), size=n)
    return evidence


@pytest.mark.parametrize("error", [0.05, 0.1, 0.2])
def test_rates_hold_for_samples_like_those_scored(error: float) -> None:
    evidence = taught()
    probabilities, targets = draw(20_000, seed=1)
    inside = evidence.sets(probabilities, error)[np.arange(len(targets)), targets]
    assert 1 - error - 0.02 < inside.mean() < 1 - error + 0.04
    sure = evidence.sure(probabilities, error)
    assert sure.any()
    assert (probabilities.argmax(axis=1) != targets)[sure].mean() < error + 0.02
    new = evidence.new(np.random.default_rng(2).normal(size=20_000), error)
    assert error - 0.03 < new.mean() < error + 0.02


def test_probabilities_that_promise_too_much_are_not_believed() -> None:
    evidence = Evidence()
    probabilities, targets = draw(1500)
    bold = probabilities**4 / (probabilities**4).sum(axis=1, keepdims=True)
    evidence.add(bold, targets, size=1500)
    probabilities, targets = draw(20_000, seed=1)
    bold = probabilities**4 / (probabilities**4).sum(axis=1, keepdims=True)
    assert evidence.sets(bold, 0.1)[np.arange(len(targets)), targets].mean() > 0.88
    sure = evidence.sure(bold, 0.1)
    assert (bold.argmax(axis=1) != targets)[sure].mean() < 0.12


@pytest.mark.parametrize("n", [0, 1, 18])
def test_too_few_scores_vouch_for_nothing(n: int) -> None:
    evidence = Evidence()
    certain = np.tile([1.0, 0.0], (n, 1))
    evidence.add(certain, np.zeros(n, dtype=np.int64), np.zeros(n), size=n)
    asked = np.array([[1.0, 0.0]])
    assert evidence.sets(asked, 0.05).all()
    assert not evidence.sure(asked, 0.05).any()
    assert not evidence.new(np.array([1e9]), 0.05).any()


def test_how_many_right_answers_are_enough_for_five_per_cent() -> None:
    asked = np.array([[1.0, 0.0]])
    for n, sure in ((19, False), (44, False), (45, True)):
        evidence = Evidence()
        evidence.add(np.tile([1.0, 0.0], (n, 1)), np.zeros(n, dtype=np.int64), np.zeros(n), size=n)
        assert evidence.sets(asked, 0.05).tolist() == [[True, False]]
        assert evidence.verdicts(asked, np.zeros(1)).tolist() == ["sure" if sure else "unsure"]
        assert evidence.verdicts(asked, np.array([5.0])).tolist() == ["new"]


def test_sure_is_seldom_luck() -> None:
    # Every second answer is wrong, at random: no threshold can make the others sure.
    broken = 0
    for seed in range(40):
        rng, evidence = np.random.default_rng(seed), Evidence()
        top = 0.5 + rng.random(150) / 2
        evidence.add(np.stack([top, 1 - top], axis=1), rng.integers(2, size=150), size=150)
        broken += bool(evidence.sure(np.array([[0.9999, 0.0001]]), 0.2).any())
    assert broken <= 4


def test_a_single_class_is_never_sure() -> None:
    assert not taught().sure(np.ones((3, 1)), 0.5).any()


def test_scores_of_a_younger_model_fade() -> None:
    evidence = taught(200)
    probabilities, targets = draw(1, seed=3)
    before = evidence.weight
    evidence.add(probabilities, targets, np.zeros(1), size=400)
    assert evidence.weight == pytest.approx(before / 2 + 1)
    assert evidence.n_scored == 201


def test_old_novelty_does_not_hide_what_is_new() -> None:
    rng, evidence = np.random.default_rng(0), Evidence()
    for size in range(20, 2000, 20):  # as more is learnt, known samples come nearer
        probabilities, targets = draw(20, seed=size)
        evidence.add(probabilities, targets, 1000 / size + rng.normal(size=20), size=size)
    known = 1000 / 2000 + rng.normal(size=5000)
    assert 0.01 < evidence.new(known, 0.05).mean() < 0.06
    assert evidence.new(np.full(1, 6.0), 0.05).all()


def test_evidence_has_a_limit_so_that_it_follows_a_change() -> None:
    evidence = taught(1500)
    for seed in range(5):
        probabilities, targets = draw(1500, seed=seed)
        evidence.add(probabilities, targets, np.zeros(1500), size=1500)
    assert evidence.weight < 3501


def test_merging_adds_and_leaves_the_other_as_it_was() -> None:
    one, other = taught(300), taught(200, seed=1)
    before = {name: array.copy() for name, array in other.state().items()}
    one.merge(other)
    assert one.weight == pytest.approx(500)
    assert one.n_scored == 500
    assert all(np.array_equal(before[name], array) for name, array in other.state().items())


def test_the_state_is_all_there_is() -> None:
    evidence, again = taught(), Evidence()
    again.restore({name: array.copy() for name, array in evidence.state().items()}, evidence.n_scored)
    probabilities, targets = draw(100, seed=5)
    for each in (evidence, again):
        each.add(probabilities, targets, np.zeros(100), size=3000)
    assert all(np.array_equal(array, again.state()[name]) for name, array in evidence.state().items())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("probabilities", np.full((3, BINS), -1.0)),
        ("probabilities", np.full((3, BINS), np.nan)),
        ("probabilities", np.full((3, BINS), 1e9)),
        ("probabilities", np.zeros((2, BINS))),
        ("probabilities", np.concatenate([np.ones((1, BINS)), np.zeros((2, BINS))])),
        ("size", np.array([-1.0])),
        ("size", np.array([np.nan])),
        ("novelty.counts", np.full(BINS, 1e6)),
    ],
)
def test_a_damaged_state_is_refused(name: str, value: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"should|agree|counted"):
        Evidence().restore({**taught().state(), name: value}, 1500)
