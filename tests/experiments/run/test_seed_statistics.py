import pytest

from i2cansay.experiments.run.seed_statistics import changed_share, spread
from tests.experiments.samples import make_record


def test_spread_of_one_has_no_deviation() -> None:
    assert str(spread([59.44])) == "59.4"
    assert str(spread([1.0, 3.0])) == "2.0 ± 1.4"


def test_spread_of_nothing_raises() -> None:
    with pytest.raises(ValueError, match="no value"):
        spread([])


def test_the_same_predictions_have_changed_nowhere() -> None:
    assert changed_share(make_record(0), make_record(1)) == 0
