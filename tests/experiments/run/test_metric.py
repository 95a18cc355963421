import pytest

from i2cansay.experiments.run.metric import metric_of
from tests.experiments.samples import make_record


def test_metrics_are_percentages_of_the_record() -> None:
    record = make_record(correct=(9, 7))  # after session 1: 10 of 10; at the end: 16 of 20
    assert metric_of("last")(record) == pytest.approx(80)
    assert metric_of("session:1")(record) == pytest.approx(100)
    assert metric_of("session:2")(record) == pytest.approx(80)
    assert metric_of("average")(record) == pytest.approx(90)
    assert metric_of("average_by_sessions")(record) == pytest.approx(90)
    assert metric_of("forgetting")(record) == pytest.approx(30)


@pytest.mark.parametrize("name", ["best", "session:", "session:x"])
def test_an_unknown_metric_is_named(name: str) -> None:
    with pytest.raises(ValueError, match="there is no metric"):
        metric_of(name)


@pytest.mark.parametrize("name", ["session:0", "session:3"])
def test_a_session_that_never_was_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="has 2 sessions"):
        metric_of(name)(make_record())
