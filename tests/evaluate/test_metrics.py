"""Metrics against tiny examples worked out by hand."""

import pytest

from i2cansay.evaluate import (
    Checkpoint,
    Outcome,
    accuracy_curve,
    accuracy_per_class,
    average_accuracy,
    forgetting,
    last_accuracy,
    prequential_accuracy,
    summarise,
)
from i2cansay.evaluate.metrics import Convention


def outcome_of(
    *correct: tuple[int, ...],
    new_classes: tuple[tuple[int, ...], ...],
    test_counts: tuple[int, ...],
    every_session: bool = True,
    predicted: tuple[int, int] = (0, 0),
    has_sessions: bool = True,
) -> Outcome:
    first = len(new_classes) - len(correct)
    checkpoints = tuple(
        Checkpoint(first + position, 10 * (position + 1), row, *predicted)
        for position, row in enumerate(correct)
    )
    return Outcome(
        stream={"has_sessions": has_sessions},
        classes=tuple("abcdef"[: len(test_counts)]),
        test_counts=test_counts,
        new_classes=new_classes,
        checkpoints=checkpoints,
        every_session=every_session,
        learning_seconds=1.5,
        prediction_seconds=0.5,
        state_bytes=64,
    )


# Sessions {b}, {a, c}, {d}; a, b, c, d have 10, 10, 20, 40 test samples.
THREE = outcome_of(
    (0, 10, 0, 0),
    (8, 6, 10, 0),
    (9, 2, 12, 40),
    new_classes=((1,), (0, 2), (3,)),
    test_counts=(10, 10, 20, 40),
    predicted=(200, 150),
)


def test_last_pools_all_test_samples() -> None:
    assert last_accuracy(THREE) == pytest.approx(63 / 80)


def test_last_by_sessions_gives_each_session_the_same_weight() -> None:
    assert last_accuracy(THREE, "sessions") == pytest.approx((2 / 10 + 21 / 30 + 40 / 40) / 3)


def test_curves_count_only_the_classes_seen_so_far() -> None:
    assert accuracy_curve(THREE) == pytest.approx([10 / 10, 24 / 40, 63 / 80])
    assert accuracy_curve(THREE, "sessions") == pytest.approx(
        [1.0, (6 / 10 + 18 / 30) / 2, (0.2 + 0.7 + 1) / 3]
    )


@pytest.mark.parametrize("convention", ["samples", "sessions"])
def test_average_is_the_mean_of_the_curve(convention: Convention) -> None:
    curve = accuracy_curve(THREE, convention)
    assert average_accuracy(THREE, convention) == pytest.approx(sum(curve) / 3)


def test_first_session_of_core50_weighs_a_ninth_or_a_fifth() -> None:
    sizes = [10] + [5] * 8
    starts = [sum(sizes[:k]) for k in range(9)]
    groups = tuple(tuple(range(start, start + size)) for start, size in zip(starts, sizes, strict=True))
    outcome = Outcome(
        stream={},
        classes=tuple(range(50)),
        test_counts=(7,) * 50,
        new_classes=groups,
        checkpoints=(Checkpoint(8, 100, (7,) * 10 + (0,) * 40, 0, 0),),
        every_session=False,
        learning_seconds=0.0,
        prediction_seconds=0.0,
        state_bytes=0,
    )
    assert last_accuracy(outcome, "samples") == pytest.approx(1 / 5)
    assert last_accuracy(outcome, "sessions") == pytest.approx(1 / 9)


def test_conventions_agree_for_sessions_of_equal_size() -> None:
    equal = outcome_of((4, 0), (3, 5), new_classes=((0,), (1,)), test_counts=(8, 8))
    assert average_accuracy(equal, "samples") == pytest.approx(average_accuracy(equal, "sessions"))
    assert last_accuracy(equal, "samples") == pytest.approx(last_accuracy(equal, "sessions"))


def test_forgetting_is_the_drop_from_the_best_earlier_accuracy() -> None:
    # {b}: best 1.0, last 0.2; {a, c}: best 18/30, last 21/30; {d} came last and does not count.
    assert forgetting(THREE) == pytest.approx(((1.0 - 0.2) + (0.6 - 0.7)) / 2)
    # Single classes: b drops by 0.8, a gains 0.1, c gains 0.1.
    assert forgetting(THREE, by="classes") == pytest.approx((0.8 - 0.1 - 0.1) / 3)


def test_nothing_is_forgotten_in_a_single_session() -> None:
    assert forgetting(outcome_of((3, 4), new_classes=((0, 1),), test_counts=(5, 5))) == 0.0


def test_best_is_sought_at_all_earlier_checkpoints() -> None:
    rising = outcome_of(
        (2, 0, 0), (9, 9, 0), (5, 9, 9), new_classes=((0,), (1,), (2,)), test_counts=(10,) * 3
    )
    assert forgetting(rising) == pytest.approx(((0.9 - 0.5) + 0.0) / 2)


def test_test_classes_that_never_came_count_as_wrong_in_last_only() -> None:
    partly = outcome_of((5, 0), new_classes=((0,),), test_counts=(5, 5))
    assert last_accuracy(partly) == 0.5
    assert average_accuracy(partly) == last_accuracy(partly, "sessions") == 1.0


def test_classes_and_sessions_without_test_samples_are_left_out() -> None:
    gaps = outcome_of((0, 0, 0), (0, 6, 0), (0, 4, 0), new_classes=((0,), (1,), ()), test_counts=(0, 8, 0))
    assert accuracy_per_class(gaps) == {"b": 0.5}
    assert last_accuracy(gaps, "sessions") == 0.5
    assert forgetting(gaps) == pytest.approx(0.25)
    assert accuracy_curve(gaps) == [0.0, 0.75, 0.5]


def test_accuracy_per_class_at_any_checkpoint() -> None:
    assert accuracy_per_class(THREE) == {"a": 0.9, "b": 0.2, "c": 0.6, "d": 1.0}
    assert accuracy_per_class(THREE, 1) == {"a": 0.8, "b": 0.6, "c": 0.5, "d": 0.0}


def test_prequential_is_a_share_or_none() -> None:
    assert prequential_accuracy(THREE) == 0.75
    assert prequential_accuracy(outcome_of((1,), new_classes=((0,),), test_counts=(1,))) is None


def test_averages_need_every_session() -> None:
    at_end = outcome_of((4, 2), new_classes=((0,), (1,)), test_counts=(8, 8), every_session=False)
    for metric in (average_accuracy, forgetting):
        with pytest.raises(ValueError, match="needs a checkpoint after every session"):
            metric(at_end)
    assert last_accuracy(at_end, "sessions") == pytest.approx((4 / 8 + 2 / 8) / 2)
    summary = summarise(at_end)
    assert summary["average"] is summary["average_by_sessions"] is summary["forgetting"] is None
    assert summary["last"] == pytest.approx(6 / 16)


def test_summary_names_every_metric() -> None:
    assert summarise(THREE) == {
        "last": last_accuracy(THREE),
        "last_by_sessions": last_accuracy(THREE, "sessions"),
        "average": average_accuracy(THREE),
        "average_by_sessions": average_accuracy(THREE, "sessions"),
        "forgetting": forgetting(THREE),
        "prequential": 0.75,
        "learning_seconds": 1.5,
        "prediction_seconds": 0.5,
        "state_bytes": 64,
    }


def test_summary_has_no_session_weights_where_there_are_no_sessions() -> None:
    stretches = outcome_of((4, 2), new_classes=((0, 1),), test_counts=(8, 8), has_sessions=False)
    assert summarise(stretches)["last_by_sessions"] is None
    assert summarise(stretches)["average"] == pytest.approx(6 / 16)


def test_unknown_conventions_are_refused() -> None:
    with pytest.raises(ValueError, match="'samples' or 'sessions', got 'classes'"):
        last_accuracy(THREE, "classes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'classes' or 'sessions', got 'samples'"):
        forgetting(THREE, by="samples")  # type: ignore[arg-type]
