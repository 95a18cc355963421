"""The one training loop: drives a stream through a learner and counts what it gets right.

The learner is given features and labels, batch by batch, and rows to predict. It is never given a row number, the
number of classes to come or a test label. Only a learner that declares `needs_boundaries` is told where a session
ends: it is given each session whole, in one batch. There is no other call by which a learner could be told, and the
outcome says whether it was.
"""

from collections.abc import Iterable
from dataclasses import asdict
from time import perf_counter
from typing import Any

import numpy as np

from i2cansay.core.types import Features, Rows
from i2cansay.evaluate.bookmark import Bookmark, Place
from i2cansay.evaluate.learner_protocol import Learner
from i2cansay.evaluate.outcome import Checkpoint, Outcome
from i2cansay.evaluate.progress import Moment, Progress
from i2cansay.evaluate.tracking import Measurement, RunFacts, Tracker
from i2cansay.streams import Batch, Stream
from i2cansay.streams.stream import Labels

# Rows predicted at once: their scores stay small compared with the features, and their products suit BLAS.
PREDICTION_ROWS = 4096
# The numbers of a run that a bookmark keeps
COUNTS = ("samples", "predicted", "predicted_correctly", "learning_seconds", "prediction_seconds")


def play(
    learner: Learner,
    X: Features,
    y: Labels,
    stream: Stream,
    *,
    X_test: Features,
    y_test: Labels,
    prequential: bool = True,
    every_session: bool = True,
    progress: Progress | None = None,
    bookmark: Bookmark | None = None,
    trackers: Iterable[Tracker] = (),
) -> Outcome:
    """Teach a learner a stream, measure it on the way, and return the counts.

    Parameters
    ----------
    learner : Learner
        Is changed; it keeps what it has learnt before. If it declares `needs_boundaries`, it is given the distinct
        rows of a session in one batch when the session ends, before it is measured; how often it goes over them is
        up to the learner, not to the stream. This is not task-free, and the outcome says so (`told_sessions`).
    X, y : arrays of shape (n, d) and (n,)
        The samples that the stream is an order of.
    stream : Stream
        Built from the same labels `y`.
    X_test, y_test : arrays of shape (m, d) and (m,)
        Test samples, predicted at the end of each session. Samples of classes that have not come yet count as
        wrong, and are not predicted.
    prequential : bool
        Also predict every row just before it is learnt for the first time (test, then train). This costs a
        prediction per batch: little for most learners, much for a lazy one. Learners that are not `streaming` are
        left out.
    every_session : bool
        Whether to measure after each session. If False, only the end of the stream is measured, for learners that
        are slow to predict; there are then no averages over sessions.
    progress : callable, optional
        Called after each batch; see `show_progress`.
    bookmark : Bookmark, optional
        Where to go on if it was killed, for streams that take long. The learner must be new.
    trackers : iterable of Tracker
        Are told what is played, the figures of every checkpoint, and the outcome: `CsvLog`, `JsonLinesLog`, or
        another with these three methods.

    Examples
    --------
    >>> from i2cansay.evaluate import average_accuracy, last_accuracy
    >>> from i2cansay.learners import make_learner
    >>> from i2cansay.streams import make_stream
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> train, test = np.arange(1500), np.arange(1500, 1797)
    >>> stream = make_stream("step:1", y[train], seed=0)
    >>> learner = make_learner("i2cansay", random_state=0)
    >>> outcome = play(learner, X[train], y[train], stream, X_test=X[test], y_test=y[test])
    >>> last_accuracy(outcome) > 0.75, average_accuracy(outcome) > 0.85  # about 86% and 94%
    (True, True)
    """
    y, y_test = np.asarray(y), np.asarray(y_test)
    _check_arrays(X, y, stream, X_test, y_test)
    if learner.needs_boundaries and not stream.has_sessions:
        raise ValueError(
            f"{type(learner).__name__} has to be given whole sessions, and the stream {stream.name!r} has none; "
            "play a stream with sessions, such as step:5"
        )
    game = _Game(learner, (X, y), (X_test, y_test), ask_first=prequential and learner.streaming)
    batches, trackers = list(stream), tuple(trackers)
    place = None if bookmark is None else bookmark.read()
    start = 0 if place is None else game.go_on(place)
    facts = RunFacts.of(learner, stream.describe(), n_features=X.shape[1], n_test=len(X_test))
    for tracker in trackers:
        tracker.begin(facts)
    accuracy: float | None = None
    for position, batch in enumerate(batches[start:], start):
        game.learn(batch)
        is_last = position + 1 == len(batches)
        if is_last or batches[position + 1].session != batch.session:
            game.end_session()
            if is_last or every_session:
                game.checkpoint()
                accuracy = game.accuracy_on_seen(game.checkpoints[-1])
                for tracker in trackers:
                    tracker.checkpoint(game.measurement(game.checkpoints[-1]))
        if progress is not None:
            progress(Moment(position + 1, len(batches), game.samples, accuracy))
        if bookmark is not None and bookmark.due and not is_last:
            bookmark.write(game.place(position + 1))
    if bookmark is not None:
        bookmark.remove()
    outcome = Outcome(
        stream=stream.describe(),
        classes=tuple(game.classes.tolist()),
        test_counts=tuple(game.test_counts.tolist()),
        new_classes=tuple(game.new_classes),
        checkpoints=tuple(game.checkpoints),
        every_session=every_session,
        learning_seconds=game.learning_seconds,
        prediction_seconds=game.prediction_seconds,
        state_bytes=sum(int(array.nbytes) for array in learner.state().values()),
        stores_samples=learner.stores_samples,
        told_sessions=game.whole_sessions,
    )
    for tracker in trackers:
        tracker.end(outcome)
    return outcome


class _Game:
    """The counts of one run of `play`, and the only place that calls the learner."""

    def __init__(
        self,
        learner: Learner,
        train: tuple[Features, Labels],
        test: tuple[Features, Labels],
        *,
        ask_first: bool,
    ) -> None:
        self.learner, self.ask_first = learner, ask_first
        self.whole_sessions = learner.needs_boundaries
        self.held_back: list[Rows] = []  # of the session, for a learner that is given whole ones
        (self.X, self.y), (self.X_test, self.y_test) = train, test
        self.classes = np.unique(np.concatenate([np.unique(self.y), np.unique(self.y_test)]))
        self.class_of_row = np.searchsorted(self.classes, self.y)
        self.class_of_test_row = np.searchsorted(self.classes, self.y_test)
        self.test_counts = np.bincount(self.class_of_test_row, minlength=self.classes.size)
        self.seen = np.zeros(self.classes.size, dtype=np.bool_)
        self.seen_in_past_sessions = self.seen.copy()
        self.new_classes: list[tuple[int, ...]] = []
        self.presented = np.zeros(self.y.size, dtype=np.bool_)
        self.checkpoints: list[Checkpoint] = []
        self.samples = self.predicted = self.predicted_correctly = 0
        self.learning_seconds = self.prediction_seconds = 0.0

    def learn(self, batch: Batch) -> None:
        """Predict the rows that come for the first time, if asked to, then let the learner learn the batch."""
        if self.ask_first:
            self._ask(np.unique(batch.rows[~self.presented[batch.rows]]))
        if self.whole_sessions:
            self.held_back.append(batch.rows)
        else:
            self._teach(batch.rows)
        self.samples += batch.rows.size
        self.presented[batch.rows] = True

    def _teach(self, rows: Rows) -> None:
        # Indexing by rows copies: a learner cannot reach the other rows through the batch.
        X, y = self.X[rows], self.y[rows]
        start = perf_counter()
        self.learner.partial_fit(X, y)
        self.learning_seconds += perf_counter() - start
        self.seen[self.class_of_row[rows]] = True

    def end_session(self) -> None:
        """Note the new classes of the session; give it whole to a learner that needs boundaries, each row once."""
        if self.whole_sessions:
            rows = np.concatenate(self.held_back)
            self._teach(rows[np.sort(np.unique(rows, return_index=True)[1])])
            self.held_back.clear()
        self.new_classes.append(tuple(np.flatnonzero(self.seen & ~self.seen_in_past_sessions).tolist()))
        self.seen_in_past_sessions = self.seen.copy()

    def place(self, position: int) -> Place:
        """Return everything that is needed to go on before the batch at `position`."""
        arrays = {name: getattr(self, name) for name in ("seen", "seen_in_past_sessions", "presented")}
        arrays["held_back"] = np.concatenate([np.zeros(0, np.int64), *self.held_back])
        values = {name: getattr(self, name) for name in COUNTS}
        values |= {"position": position, "new_classes": self.new_classes}
        values["checkpoints"] = [asdict(checkpoint) for checkpoint in self.checkpoints]
        return Place(dict(self.learner.state()), arrays, values)

    def go_on(self, place: Place) -> int:
        """Take over what `place` returned, and return the position of the next batch."""
        learner: Any = self.learner  # only for a bookmark has a learner to take over a state
        learner.set_state(place.learner)
        for name in ("seen", "seen_in_past_sessions", "presented"):
            setattr(self, name, place.arrays[name].astype(np.bool_))
        if place.arrays["held_back"].size:
            self.held_back = [place.arrays["held_back"]]
        for name in COUNTS:
            setattr(self, name, place.values[name])
        self.new_classes = [tuple(classes) for classes in place.values["new_classes"]]
        self.checkpoints = [
            Checkpoint(**{**checkpoint, "correct": tuple(checkpoint["correct"])})
            for checkpoint in place.values["checkpoints"]
        ]
        return int(place.values["position"])

    def checkpoint(self) -> None:
        """Predict the test rows of the classes seen so far and count by class."""
        rows = np.flatnonzero(self.seen[self.class_of_test_row])
        is_right = self._predict(self.X_test, rows) == self.y_test[rows]
        correct = np.bincount(self.class_of_test_row[rows[is_right]], minlength=self.classes.size)
        measured = Checkpoint(
            session=len(self.new_classes) - 1,
            samples=self.samples,
            correct=tuple(correct.tolist()),
            predicted=self.predicted,
            predicted_correctly=self.predicted_correctly,
        )
        self.checkpoints.append(measured)

    def accuracy_on_seen(self, checkpoint: Checkpoint) -> float | None:
        """Return the pooled accuracy on the classes seen so far, None if they have no test rows."""
        total = int(self.test_counts[self.seen].sum())
        return sum(checkpoint.correct) / total if total else None

    def measurement(self, checkpoint: Checkpoint) -> Measurement:
        """Return the figures of a checkpoint that was just made."""
        return Measurement(
            session=checkpoint.session,
            samples=checkpoint.samples,
            classes=int(self.seen.sum()),
            accuracy=self.accuracy_on_seen(checkpoint),
            prequential_accuracy=self.predicted_correctly / self.predicted if self.predicted else None,
            learning_seconds=self.learning_seconds,
            prediction_seconds=self.prediction_seconds,
        )

    def _ask(self, rows: Rows) -> None:
        # Rows of classes not learnt yet are wrong in any case; before the first batch that is all rows.
        known = rows[self.seen[self.class_of_row[rows]]]
        self.predicted += rows.size
        self.predicted_correctly += int(np.sum(self._predict(self.X, known) == self.y[known]))

    def _predict(self, X: Features, rows: Rows) -> Labels:
        """Return the learner's label for each row, shape (n,), a block of rows at a time."""
        answers = [self.y[:0]]
        for start in range(0, rows.size, PREDICTION_ROWS):
            block = X[rows[start : start + PREDICTION_ROWS]]
            begin = perf_counter()
            labels = np.asarray(self.learner.predict(block))
            self.prediction_seconds += perf_counter() - begin
            if labels.shape != (len(block),):
                raise ValueError(
                    f"expected predict to return one label per row, shape ({len(block)},), got {labels.shape}"
                )
            answers.append(labels)
        return np.concatenate(answers)


def _check_arrays(X: Features, y: Labels, stream: Stream, X_test: Features, y_test: Labels) -> None:
    for name, features, labels in (("X and y", X, y), ("X_test and y_test", X_test, y_test)):
        if features.ndim != 2 or labels.shape != features.shape[:1]:
            raise ValueError(
                f"expected {name} of shapes (n, d) and (n,), got {features.shape} and {labels.shape}"
            )
    if X_test.shape[1] != X.shape[1]:
        raise ValueError(
            f"expected test features of width {X.shape[1]} as in the stream, got {X_test.shape[1]}; "
            "do both come from the same encoder?"
        )
    if y_test.size == 0:
        raise ValueError("expected at least one test row, got none")
    if not np.array_equal(stream.y, y):
        raise ValueError(
            "expected a stream built from the labels y, but its labels differ; build it from the same rows"
        )
    if _is_text(y) != _is_text(y_test):
        raise ValueError(
            f"expected test labels of the same type as in the stream, {y.dtype}, got {y_test.dtype}; "
            "convert one of them, text or numbers"
        )


def _is_text(labels: Labels) -> bool:
    """Tell text labels from numbers, also inside object arrays."""
    return labels.dtype.kind in "US" or (labels.dtype.kind == "O" and isinstance(labels[0], str))
