"""The one loop."""

import dataclasses
from importlib import import_module
from time import sleep
from typing import Any, ClassVar, Self

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from i2cansay.evaluate import (
    Learner,
    Moment,
    Outcome,
    accuracy_per_class,
    average_accuracy,
    forgetting,
    last_accuracy,
    play,
    prequential_accuracy,
)
from i2cansay.learners import make_learner
from i2cansay.streams import make_stream

N_CLASSES, PER_CLASS, WIDTH = 6, 40, 4
Array = NDArray[Any]


class Fake:
    """Notes every call; answers by the nearest of the first samples of each class."""

    stores_samples: ClassVar[bool] = True
    streaming: ClassVar[bool] = True
    order_free: ClassVar[bool] = False
    needs_boundaries: ClassVar[bool] = False

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.examples: dict[Any, Array] = {}

    def partial_fit(self, *args: Any, **kwargs: Any) -> Self:
        self.calls.append(("partial_fit", args, kwargs))
        for x, label in zip(*args, strict=True):
            self.examples.setdefault(label, x.copy())
        return self

    def predict(self, *args: Any, **kwargs: Any) -> Array:
        self.calls.append(("predict", args, kwargs))
        labels = list(self.examples)
        examples = np.stack([self.examples[label] for label in labels])
        distance = np.linalg.norm(args[0][:, None, :] - examples, axis=2)
        answers: Array = np.array(labels)[distance.argmin(axis=1)]
        return answers

    def state(self) -> dict[str, Array]:
        return {"examples": np.zeros((3, 4), dtype=np.float32), "count": np.zeros(2, dtype=np.int64)}


class AlwaysLatest(Fake):
    """Forgets everything: answers with the label learnt last."""

    def predict(self, *args: Any, **kwargs: Any) -> Array:
        self.calls.append(("predict", args, kwargs))
        learnt = [call for call in self.calls if call[0] == "partial_fit"]
        return np.repeat(learnt[-1][1][1][-1:], len(args[0]))


class Collector(Fake):
    streaming: ClassVar[bool] = False


@pytest.fixture
def easy() -> tuple[Array, Array, Array, Array]:
    """Classes so far apart that one example of each suffices."""
    rng = np.random.default_rng(0)
    centres = 100.0 * rng.normal(size=(N_CLASSES, WIDTH))
    y = rng.permutation(np.repeat(np.arange(N_CLASSES), PER_CLASS))
    y_test = np.repeat(np.arange(N_CLASSES), np.arange(5, 5 + N_CLASSES))
    return (
        centres[y] + rng.normal(size=(y.size, WIDTH)),
        y,
        centres[y_test] + rng.normal(size=(y_test.size, WIDTH)),
        y_test,
    )


def run(
    learner: Learner, data: tuple[Array, Array, Array, Array], spec: str = "step:2", **options: Any
) -> Outcome:
    X, y, X_test, y_test = data
    return play(learner, X, y, make_stream(spec, y, batch_size=10), X_test=X_test, y_test=y_test, **options)


@pytest.mark.parametrize("spec", ["step:2", "gaussian", "iid", "si_blurry:3", "gaussian_schedule"])
def test_a_learner_that_knows_is_right_everywhere(spec: str, easy: tuple[Array, Array, Array, Array]) -> None:
    outcome = run(Fake(), easy, spec)
    assert last_accuracy(outcome) == average_accuracy(outcome) == 1.0
    assert forgetting(outcome) == 0.0


def test_a_learner_that_forgets_is_measured_so(easy: tuple[Array, Array, Array, Array]) -> None:
    outcome = run(AlwaysLatest(), easy, "step:1")
    latest = outcome.new_classes[-1][0]
    assert last_accuracy(outcome) == pytest.approx((5 + latest) / easy[3].size)
    assert accuracy_per_class(outcome) == {label: float(label == latest) for label in range(N_CLASSES)}
    assert forgetting(outcome) == 1.0


def test_learner_is_given_features_and_labels_and_nothing_else(
    easy: tuple[Array, Array, Array, Array],
) -> None:
    X, y, X_test, _ = easy
    learner = Fake()
    run(learner, easy)
    stream = make_stream("step:2", y, batch_size=10)
    fits = [args for name, args, _ in learner.calls if name == "partial_fit"]
    assert all(not kwargs for *_, kwargs in learner.calls)
    assert len(fits) == len(stream)
    for (features, labels), batch in zip(fits, stream, strict=True):
        assert type(features) is type(labels) is np.ndarray
        np.testing.assert_array_equal(features, X[batch.rows])
        np.testing.assert_array_equal(labels, y[batch.rows])
        assert not np.shares_memory(features, X)
        assert not np.shares_memory(labels, y)
    rows = {row.tobytes() for row in np.concatenate([X, X_test])}
    for args in (args for name, args, _ in learner.calls if name == "predict"):
        assert len(args) == 1
        assert all(row.tobytes() in rows for row in args[0])
        assert not np.shares_memory(args[0], X_test)


def test_no_test_row_of_a_class_to_come_is_shown(easy: tuple[Array, Array, Array, Array]) -> None:
    _, _, X_test, y_test = easy
    label_of = {row.tobytes(): int(label) for row, label in zip(X_test, y_test, strict=True)}
    learner = Fake()
    run(learner, easy, "step:1", prequential=False)
    seen: set[int] = set()
    for name, args, _ in learner.calls:
        if name == "partial_fit":
            seen |= set(args[1].tolist())
        else:
            assert {label_of[row.tobytes()] for row in args[0]} == seen


def test_checkpoints_come_at_the_ends_of_sessions(easy: tuple[Array, Array, Array, Array]) -> None:
    outcome = run(Fake(), easy)
    assert [checkpoint.session for checkpoint in outcome.checkpoints] == [0, 1, 2]
    assert [checkpoint.samples for checkpoint in outcome.checkpoints] == [80, 160, 240]
    assert [len(group) for group in outcome.new_classes] == [2, 2, 2]
    assert sorted(sum(outcome.new_classes, ())) == list(range(N_CLASSES))
    assert outcome.test_counts == (5, 6, 7, 8, 9, 10)
    for checkpoint in outcome.checkpoints:
        seen = sum(outcome.groups_seen(checkpoint), ())
        expected = [count if k in seen else 0 for k, count in enumerate(outcome.test_counts)]
        assert list(checkpoint.correct) == expected


def test_evaluation_at_the_end_only_asks_once_and_agrees(easy: tuple[Array, Array, Array, Array]) -> None:
    learner = AlwaysLatest()
    outcome = run(learner, easy, "step:1", every_session=False, prequential=False)
    full = run(AlwaysLatest(), easy, "step:1")
    assert [name for name, *_ in learner.calls].count("predict") == 1
    assert len(outcome.checkpoints) == 1
    assert outcome.new_classes == full.new_classes
    assert outcome.checkpoints[0].correct == full.checkpoints[-1].correct
    assert last_accuracy(outcome, "sessions") == last_accuracy(full, "sessions")


def test_prequential_counts_the_first_batch_of_a_class_as_wrong(
    easy: tuple[Array, Array, Array, Array],
) -> None:
    outcome = run(Fake(), easy, "step:1")
    # One class per session and batches of 10: the first 10 of 40 rows meet a learner that does not know them.
    assert prequential_accuracy(outcome) == pytest.approx(30 / 40)
    assert outcome.checkpoints[0].predicted == 40
    assert outcome.checkpoints[0].predicted_correctly == 30


def test_prequential_asks_before_learning(easy: tuple[Array, Array, Array, Array]) -> None:
    learner = Fake()
    run(learner, easy, "iid")
    learnt: set[bytes] = set()
    stream_rows = {row.tobytes() for row in easy[0]}
    n_asked = 0
    for name, args, _ in learner.calls:
        rows = {row.tobytes() for row in args[0]} & stream_rows
        if name == "predict":
            assert not rows & learnt
            n_asked += len(rows)
        else:
            learnt |= rows
    assert n_asked > 200


@pytest.mark.parametrize("spec", ["step:2,epochs=4", "gaussian_schedule:batches=100"])
def test_repeated_rows_are_asked_once(spec: str, easy: tuple[Array, Array, Array, Array]) -> None:
    outcome = run(AlwaysLatest(), easy, spec)
    presented = {int(row) for batch in make_stream(spec, easy[1], batch_size=10) for row in batch.rows}
    assert outcome.checkpoints[-1].predicted == len(presented)
    assert outcome.checkpoints[-1].samples > len(presented)


@pytest.mark.parametrize(("learner", "prequential"), [(Fake(), False), (Collector(), True)])
def test_prequential_is_off_on_request_and_for_learners_that_collect(
    learner: Fake, prequential: bool, easy: tuple[Array, Array, Array, Array]
) -> None:
    outcome = run(learner, easy, prequential=prequential)
    assert prequential_accuracy(outcome) is None
    assert [name for name, *_ in learner.calls].count("predict") == 3
    assert last_accuracy(outcome) == 1.0


def test_learning_and_prediction_are_timed_apart(easy: tuple[Array, Array, Array, Array]) -> None:
    class Slow(Fake):
        def partial_fit(self, *args: Any, **kwargs: Any) -> Self:
            sleep(0.004)
            return super().partial_fit(*args, **kwargs)

        def predict(self, *args: Any, **kwargs: Any) -> Array:
            sleep(0.03)
            return super().predict(*args, **kwargs)

    outcome = run(Slow(), easy, prequential=False)
    assert outcome.learning_seconds >= 24 * 0.004
    assert outcome.prediction_seconds >= 3 * 0.03
    quick = run(Fake(), easy, prequential=False)
    assert quick.learning_seconds < outcome.learning_seconds
    assert quick.prediction_seconds < outcome.prediction_seconds


def test_state_is_measured_in_bytes(easy: tuple[Array, Array, Array, Array]) -> None:
    assert run(Fake(), easy).state_bytes == 3 * 4 * 4 + 2 * 8


def test_progress_is_told_after_each_batch(easy: tuple[Array, Array, Array, Array]) -> None:
    moments: list[Moment] = []
    run(Fake(), easy, progress=moments.append)
    assert [moment.batches for moment in moments] == list(range(1, 25))
    assert {moment.n_batches for moment in moments} == {24}
    assert moments[-1].samples == 240
    assert [moment.accuracy for moment in moments] == [None] * 7 + [1.0] * 17


def test_outcome_is_the_same_again_but_for_the_times(easy: tuple[Array, Array, Array, Array]) -> None:
    once, again = (
        dataclasses.replace(run(Fake(), easy, "gaussian"), learning_seconds=0.0, prediction_seconds=0.0)
        for _ in range(2)
    )
    assert once == again


@pytest.mark.parametrize("kind", [str, object])
def test_text_labels(kind: type, easy: tuple[Array, Array, Array, Array]) -> None:
    X, y, X_test, y_test = easy
    names: Array = np.array(["ant", "bee", "cat", "dog", "elephant", "a much longer name"]).astype(kind)
    outcome = run(Fake(), (X, names[y], X_test, names[y_test]))
    assert last_accuracy(outcome) == 1.0
    assert set(outcome.classes) == set(names)
    assert all(type(label) is str for label in outcome.classes)
    assert Outcome.from_dict(outcome.to_dict()) == outcome


def test_classes_may_be_missing_on_either_side(easy: tuple[Array, Array, Array, Array]) -> None:
    X, y, X_test, y_test = easy
    outcome = run(Fake(), (X[y != 5], y[y != 5], X_test[y_test != 0], y_test[y_test != 0]), "step:1")
    assert outcome.test_counts == (0, 6, 7, 8, 9, 10)
    assert last_accuracy(outcome) == pytest.approx(30 / 40)
    assert accuracy_per_class(outcome) == {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 0.0}


def test_prediction_in_blocks_gives_the_same_counts(
    easy: tuple[Array, Array, Array, Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(AlwaysLatest(), easy)
    # The package offers the function under the name of the module, hence the import by name.
    monkeypatch.setattr(import_module("i2cansay.evaluate.play"), "PREDICTION_ROWS", 3)
    blocks = run(AlwaysLatest(), easy)
    assert blocks.checkpoints == whole.checkpoints


def test_a_prediction_of_a_wrong_shape_is_refused(easy: tuple[Array, Array, Array, Array]) -> None:
    class Scores(Fake):
        def predict(self, *args: Any, **kwargs: Any) -> Array:
            return np.zeros((len(args[0]), 2))

    with pytest.raises(ValueError, match="one label per row"):
        run(Scores(), easy)


def test_inputs_that_do_not_fit_are_refused_before_learning(easy: tuple[Array, Array, Array, Array]) -> None:
    X, y, X_test, y_test = easy
    stream = make_stream("iid", y)
    learner = Fake()
    with pytest.raises(ValueError, match=r"X and y of shapes \(n, d\) and \(n,\)"):
        play(learner, X[:-1], y, stream, X_test=X_test, y_test=y_test)
    with pytest.raises(ValueError, match="X_test and y_test of shapes"):
        play(learner, X, y, stream, X_test=X_test[:, 0], y_test=y_test)
    with pytest.raises(ValueError, match="test features of width 4 as in the stream, got 3"):
        play(learner, X, y, stream, X_test=X_test[:, :3], y_test=y_test)
    with pytest.raises(ValueError, match="at least one test row"):
        play(learner, X, y, stream, X_test=X_test[:0], y_test=y_test[:0])
    with pytest.raises(ValueError, match="same type as in the stream"):
        play(learner, X, y, stream, X_test=X_test, y_test=y_test.astype(str))
    with pytest.raises(ValueError, match="built from the labels y"):
        play(learner, X, y[::-1].copy(), stream, X_test=X_test, y_test=y_test)
    assert learner.calls == []


@pytest.mark.parametrize("spec", ["step:1", "step:5", "gaussian", "iid", "si_blurry"])
def test_a_real_learner_keeps_what_it_learnt_of_real_digits(spec: str) -> None:
    X, y = load_digits(return_X_y=True)
    X = X / 16
    learner: Learner = make_learner("i2cansay", random_state=0)
    stream = make_stream(spec, y[:1500], seed=0)
    outcome = play(learner, X[:1500], y[:1500], stream, X_test=X[1500:], y_test=y[1500:])
    assert last_accuracy(outcome) > 0.8
    assert forgetting(outcome) < 0.15
    assert outcome.state_bytes == sum(array.nbytes for array in learner.state().values())


class Told(Fake):
    needs_boundaries: ClassVar[bool] = True


@pytest.mark.parametrize("spec", ["step:2", "step:2,epochs=3"])
def test_a_learner_that_needs_boundaries_is_given_whole_sessions(
    easy: tuple[Array, Array, Array, Array], spec: str
) -> None:
    learner = Told()
    outcome = run(learner, easy, spec, prequential=False)
    assert [name for name, *_ in learner.calls] == ["partial_fit", "predict"] * 3
    X, y = easy[:2]
    given = [args for name, args, _ in learner.calls if name == "partial_fit"]
    stream = make_stream(spec, y, batch_size=10)
    for session, (features, labels) in enumerate(given):
        rows = np.concatenate([batch.rows for batch in stream if batch.session == session])
        assert len(labels) == 2 * PER_CLASS  # every row once, however many passes the stream has
        first = list(dict.fromkeys(rows.tolist()))
        np.testing.assert_array_equal(features, X[first])
        np.testing.assert_array_equal(labels, y[first])
    assert outcome.told_sessions
    assert [checkpoint.session for checkpoint in outcome.checkpoints] == [0, 1, 2]
    assert outcome.checkpoints[-1].samples == stream.n_samples


def test_whoever_waits_for_the_end_of_a_session_can_name_none_of_its_classes_before(
    easy: tuple[Array, Array, Array, Array],
) -> None:
    outcome = run(Told(), easy, "step:2", prequential=True)
    assert prequential_accuracy(outcome) == 0
    assert last_accuracy(outcome) > 0.5


def test_no_other_learner_is_told(easy: tuple[Array, Array, Array, Array]) -> None:
    learner = Fake()
    assert not run(learner, easy, "step:2").told_sessions
    given = [args for name, args, _ in learner.calls if name == "partial_fit"]
    assert max(len(labels) for _, labels in given) == 10
    assert {name for name, *_ in learner.calls} == {"partial_fit", "predict"}


def test_a_stream_without_sessions_has_none_to_give(easy: tuple[Array, Array, Array, Array]) -> None:
    learner = Told()
    with pytest.raises(
        ValueError, match="Told has to be given whole sessions, and the stream 'gaussian' has none"
    ):
        run(learner, easy, "gaussian")
    assert learner.calls == []
