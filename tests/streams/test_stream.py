"""What holds for every stream in the table."""

import json
import pkgutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.streams import STREAMS, Stream, make_stream
from i2cansay.streams.step import StepStream
from i2cansay.streams.stream import batches_in_stretches, generator

ONE_PASS = [
    "step:1",
    "step:7",
    "gaussian",
    "gaussian:2.0,points=3",
    "iid",
    "core50",
    "si_blurry:4,blurry=0.5",
]
ALL = [*ONE_PASS, "gaussian_schedule", "step:5,epochs=3", "core50:consecutive,max_batches=2"]


def labels_of_50_classes(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.permutation(np.repeat([f"class {k}" for k in range(50)], rng.integers(5, 40, size=50)))


def rows_in_order(stream: Stream) -> list[int]:
    return [int(row) for batch in stream for row in batch.rows]


@pytest.mark.parametrize("spec", ONE_PASS)
@pytest.mark.parametrize("batch_size", [1, 50, 10_000])
def test_every_row_comes_exactly_once(spec: str, batch_size: int) -> None:
    y = labels_of_50_classes()
    assert sorted(rows_in_order(make_stream(spec, y, batch_size=batch_size))) == list(range(y.size))


@pytest.mark.parametrize("spec", ALL)
def test_one_seed_one_order(spec: str) -> None:
    y = labels_of_50_classes()
    once, again, other = (rows_in_order(make_stream(spec, y, seed=seed)) for seed in (3, 3, 4))
    assert once == again
    assert once != other


@pytest.mark.parametrize("spec", ALL)
def test_iterating_twice_gives_the_same_batches(spec: str) -> None:
    stream = make_stream(spec, labels_of_50_classes())
    assert rows_in_order(stream) == rows_in_order(stream)


@pytest.mark.parametrize("spec", ALL)
def test_batches_are_full_except_at_the_end_of_a_pass(spec: str) -> None:
    stream = make_stream(spec, labels_of_50_classes(), batch_size=16)
    sizes = [batch.rows.size for batch in stream]
    assert max(sizes) <= 16
    assert min(sizes) >= 1
    assert all(batch.rows.dtype == np.int64 for batch in stream)
    passes = stream.n_sessions * getattr(stream, "epochs", 1) if stream.has_sessions else 1
    assert sum(size < 16 for size in sizes) <= passes


@pytest.mark.parametrize("spec", ALL)
def test_sessions_are_numbered_without_gap_and_in_order(spec: str) -> None:
    stream = make_stream(spec, labels_of_50_classes())
    sessions = [batch.session for batch in stream]
    assert sessions == sorted(sessions)
    assert set(sessions) == set(range(stream.n_sessions))


@pytest.mark.parametrize("spec", ALL)
def test_description_tells_what_comes(spec: str) -> None:
    stream = make_stream(spec, labels_of_50_classes(), batch_size=20, seed=9)
    described = stream.describe()
    assert described["n_batches"] == len(list(stream))
    assert described["n_samples"] == len(rows_in_order(stream))
    assert (described["batch_size"], described["seed"]) == (20, 9)
    assert described["has_sessions"] is stream.has_sessions


def test_description_goes_into_json_whatever_the_type_of_the_seed() -> None:
    stream = make_stream("step:1", np.repeat([0, 1], 10), seed=3)
    same = StepStream(y=stream.y, classes_per_session=1, seed=np.int64(3))  # type: ignore[arg-type]
    assert json.dumps(same.describe()) == json.dumps(stream.describe())


@pytest.mark.parametrize("spec", ALL)
def test_spec_builds_the_same_stream_again(spec: str) -> None:
    y = labels_of_50_classes()
    stream = make_stream(spec, y)
    again = make_stream(stream.spec, y)
    assert again.spec == stream.spec
    assert rows_in_order(again) == rows_in_order(stream)


@pytest.mark.parametrize("name", STREAMS)
def test_table_agrees_with_the_classes(name: str) -> None:
    kind: type[Stream] = pkgutil.resolve_name(STREAMS[name])
    assert issubclass(kind, Stream)
    assert kind.name == name
    assert kind.parameters()


def test_one_seed_means_one_class_order_in_every_stream_with_sessions() -> None:
    y = np.repeat(np.arange(50), 8)
    step = [np.unique(y[batch.rows]).item() for batch in make_stream("step:1", y, seed=2)]
    core50 = make_stream("core50", y, seed=2)
    first = np.concatenate([batch.rows for batch in core50 if batch.session == 0])
    assert set(y[first]) == set(step[:10])


@pytest.mark.parametrize("spec", ONE_PASS)
def test_order_does_not_depend_on_how_labels_are_written(spec: str) -> None:
    y = np.repeat(np.arange(50), 6)
    texts = np.array([f"{label:02d}" for label in y])
    assert rows_in_order(make_stream(spec, y)) == rows_in_order(make_stream(spec, texts))
    assert rows_in_order(make_stream(spec, y)) == rows_in_order(make_stream(spec, texts.astype(object)))


def test_later_changes_of_the_labels_do_not_reach_the_stream() -> None:
    y = np.repeat([0, 1], 10)
    stream = make_stream("step:1", y)
    expected = rows_in_order(make_stream("step:1", y.copy()))
    y[:] = 0
    assert rows_in_order(stream) == expected


def test_batches_cannot_be_written_to() -> None:
    batch = next(iter(make_stream("iid", np.zeros(5, dtype=int))))
    with pytest.raises(ValueError, match="read-only"):
        batch.rows[0] = 3


def test_stream_draws_other_numbers_than_a_learner_of_the_same_seed() -> None:
    drawn = generator(5, "stream").random(4).tolist()
    assert drawn != np.random.default_rng(5).random(4).tolist()
    assert drawn != generator(5, "low_data").random(4).tolist()


@settings(deadline=None, max_examples=60)
@given(n_batches=st.integers(1, 60), points=st.integers(1, 20))
def test_stretches_are_equal_to_within_one_batch(n_batches: int, points: int) -> None:
    batches = batches_in_stretches([np.arange(1)] * n_batches, points)
    lengths = np.bincount([batch.session for batch in batches])
    assert len(lengths) == min(points, n_batches)
    assert lengths.max() - lengths.min() <= 1


@pytest.mark.parametrize("y", [np.zeros((3, 2)), np.array([]), np.array(3)])
def test_labels_of_a_wrong_shape_are_refused(y: np.ndarray) -> None:
    with pytest.raises(ValueError, match="expected labels of shape"):
        make_stream("iid", y)


@pytest.mark.parametrize(("batch_size", "seed", "message"), [(0, 0, "batch_size"), (5, -1, "seed")])
def test_batch_size_and_seed_are_checked(batch_size: int, seed: int, message: str) -> None:
    with pytest.raises(ValueError, match=f"expected {message} to be"):
        make_stream("iid", np.zeros(5), batch_size=batch_size, seed=seed)
