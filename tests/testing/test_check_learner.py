"""The checks pass an honest learner and catch broken ones, each with a sentence that names the fault."""

import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest

from i2cansay.core.types import Features, Float64, Rows, State
from i2cansay.learners.base import OnlineClassifier
from i2cansay.testing import CHECKS, check_learner, learner_checks


class Means(OnlineClassifier):
    """Nearest class mean, as plain as a learner can be."""

    order_free = True

    def __init__(self, *, scale: float = 1.0, random_state: Any = None) -> None:
        self.scale = scale
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        self._sums: Float64 = np.zeros((0, n_features))
        self._counts: Float64 = np.zeros(0)

    def _grow(self, n_classes: int) -> None:
        more = n_classes - len(self._counts)
        self._sums = np.concatenate([self._sums, np.zeros((more, self._sums.shape[1]))])
        self._counts = np.concatenate([self._counts, np.zeros(more)])

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        weight = np.ones(len(X)) if weights is None else weights
        np.add.at(self._sums, rows, X * weight[:, None])
        np.add.at(self._counts, rows, weight)

    def _scores(self, X: Features) -> Features:
        means = self._sums / self._counts[:, None]
        distances: Features = np.sqrt(((X[:, None, :] - means[None]) ** 2).sum(axis=2))
        return -self.scale * distances

    def _drop(self, row: int) -> None:
        self._sums, self._counts = np.delete(self._sums, row, axis=0), np.delete(self._counts, row)

    def _state(self) -> State:
        return {"sums": self._sums, "counts": self._counts}

    def _restore(self, state: State) -> None:
        shape = len(self._labels), self.n_features_in_
        if state["sums"].shape != shape or state["counts"].shape != shape[:1]:
            raise ValueError(f"expected sums of shape {shape}")
        self._sums, self._counts = state["sums"].copy(), state["counts"].copy()


class Hoards(Means):
    """Keeps its samples in the state and says it does not."""

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        self._past: Float64 = np.zeros((0, n_features))

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        super()._learn(X, rows, weights)
        self._past = np.concatenate([self._past, X])

    def _state(self) -> State:
        return {**super()._state(), "past": self._past}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        if state["past"].shape != (self._n_seen, self.n_features_in_):
            raise ValueError(f"expected {self._n_seen} samples of the past")
        self._past = state["past"].copy()


class HoardsOutsideItsState(Means):
    """Keeps its samples in a list that the state does not mention."""

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        self._past: list[Any] = []

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        super()._learn(X, rows, weights)
        self._past.append({"batch": X.astype(np.float32)})


class HoldsTheCallersArray(Means):
    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        super()._learn(X, rows, weights)
        self._last = X


class WritesIntoX(Means):
    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        super()._learn(X, rows, weights)
        X *= 2


class DependsOnBatches(Means):
    """Moves each mean towards the mean of the batch, and claims to be free of order."""

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        for row in np.unique(rows):
            old = self._sums[row] if self._counts[row] else X[rows == row].mean(axis=0)
            self._sums[row] = 0.5 * old + 0.5 * X[rows == row].mean(axis=0)
            self._counts[row] = 1


class LosesItsGenerator(Means):
    """Draws from a generator of its own, which begins anew after loading."""

    order_free = False

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        self._own = np.random.default_rng(0)

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        super()._learn(X + 0.01 * self._own.normal(size=X.shape), rows, weights)


class ForgetsPartOfItsState(Means):
    def _state(self) -> State:
        return {"sums": self._sums}

    def _restore(self, state: State) -> None:
        self._sums, self._counts = state["sums"].copy(), np.ones(len(state["sums"]))


class ComputesInItsConstructor(Means):
    def __init__(self, *, scale: float = 1.0, random_state: Any = None) -> None:
        super().__init__(scale=scale, random_state=random_state)
        self.double = 2


class AnswersByChance(Means):
    def _scores(self, X: Features) -> Features:
        return super()._scores(X) + self._rng.normal(size=(len(X), len(self._counts)))


class LearnsBeforeItChecks(Means):
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        if self._started:
            self._sums += 1
        return super().partial_fit(X, y, classes, sample_weight)


class DividesByTheSpread(Means):
    """Gives NaN where nothing varies."""

    def _scores(self, X: Features) -> Features:
        with np.errstate(all="ignore"):
            return super()._scores(X) / np.std(self._sums / self._counts[:, None])


class KeepsAForgottenClass(Means):
    def forget(self, label: Any) -> Any:
        self._check_ready()
        self._labels.row(label)
        return self


class CutsLabels(Means):
    def _check_labels(self, y: Any, n: int) -> Any:
        labels = super()._check_labels(y, n)
        return labels.astype("U5") if labels.dtype.kind == "U" else labels


class IsSureOfSomethingElse(Means):
    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X)[:, ::-1]


class ScoresTwoClassesInOneColumn(Means):
    def class_scores(self, X: Any) -> Any:
        scores = super().class_scores(X)
        return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores


class DoesNotLearn(Means):
    def _scores(self, X: Features) -> Features:
        return np.zeros((len(X), len(self._counts)))


class IsNotSeeded(Means):
    order_free = False

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        super()._learn(X + 0.01 * np.random.default_rng().normal(size=X.shape), rows, weights)


class TakesAnyState(Means):
    def _restore(self, state: State) -> None:
        self._sums, self._counts = state["sums"].copy(), state["counts"].copy()


class Spies(Means):
    """Looks up in the loop that teaches it where the session ends."""

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        super()._learn(X, rows, weights)
        self._sums *= 0.9 ** _session_in_play()


class Asks(Means):
    """Can be told by an argument of its own where a session ends."""

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, session: int = 0
    ) -> "Asks":
        super().partial_fit(X, y, classes, sample_weight)
        return self


def _session_in_play() -> int:
    """Return the number of the session that `play` is at; 0 if it is not playing."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != "play":
        frame = frame.f_back
    return 0 if frame is None else int(frame.f_locals["batch"].session)


def test_an_honest_learner_passes_every_check() -> None:
    assert check_learner(Means()) == len(CHECKS) - 1  # it cannot be merged


@pytest.mark.parametrize(
    ("broken", "check", "sentence"),
    [
        (Hoards, "memory_is_flat", "declare stores_samples"),
        (Hoards, "no_sample_is_kept", "'past' of the state contains"),
        (HoardsOutsideItsState, "memory_is_flat", "outside its state"),
        (HoardsOutsideItsState, "no_sample_is_kept", "float32"),
        (HoldsTheCallersArray, "inputs_are_not_held", "keeps a reference to X"),
        (WritesIntoX, "inputs_are_not_changed", "partial_fit changed the"),
        (DependsOnBatches, "order_and_batches_do_not_matter", "order_free is claimed"),
        (LosesItsGenerator, "state_resumes", "does not go on as if uninterrupted"),
        (LosesItsGenerator, "file_resumes", "save and load after 1 of"),
        (ForgetsPartOfItsState, "state_resumes", "does not go on as if uninterrupted"),
        (ComputesInItsConstructor, "constructor_stores_untouched", "made double"),
        (AnswersByChance, "scoring_changes_nothing", "scoring changed the learner"),
        (LearnsBeforeItChecks, "bad_batch_changes_nothing", "'sums' differs"),
        (DividesByTheSpread, "hard_streams_stay_finite", "NaN or infinite"),
        (KeepsAForgottenClass, "forget", "after forget(0) classes_ is"),
        (CutsLabels, "labels_of_growing_length", "classes_ is"),
        (IsSureOfSomethingElse, "probabilities", "is not what predict says"),
        (ScoresTwoClassesInOneColumn, "score_shapes", "with 2 classes class_scores"),
        (DoesNotLearn, "learns", "it does not learn"),
        (IsNotSeeded, "same_seed_same_scores", "the same seed and stream gave different states"),
        (TakesAnyState, "damaged_state_is_refused", "was accepted"),
        (Spies, "sessions_are_told_to_whoever_declares_it", "must make no difference"),
        (Asks, "no_argument_tells_a_session", "it takes session too"),
    ],
)
def test_a_broken_learner_is_caught(broken: type[Means], check: str, sentence: str) -> None:
    with pytest.raises(AssertionError) as caught:
        dict(learner_checks(broken()))[check]()
    assert sentence in str(caught.value)


def test_check_learner_names_every_failure() -> None:
    with pytest.raises(AssertionError, match=r"Hoards\(\) breaks \d+ of \d+ checks") as caught:
        check_learner(Hoards())
    lines = str(caught.value).splitlines()
    assert any(line.startswith("memory_is_flat: ") for line in lines)
    assert any(line.startswith("no_sample_is_kept: ") for line in lines)


def test_a_crash_inside_the_learner_is_a_failure_with_its_name() -> None:
    class Crashes(Means):
        def _drop(self, row: int) -> None:
            raise RuntimeError("no idea how")

    with pytest.raises(AssertionError, match="forget: RuntimeError: no idea how"):
        check_learner(Crashes())


def test_a_claim_is_checked_only_where_it_is_made() -> None:
    class Honest(Hoards):
        stores_samples = True
        order_free = False

    names = {name for name, _ in learner_checks(Honest())}
    claimed = {
        "memory_is_flat",
        "no_sample_is_kept",
        "order_and_batches_do_not_matter",
        "merged_changes_no_part",
    }
    assert not names & claimed
    assert check_learner(Honest()) == len(CHECKS) - 4
