import pytest

from i2cansay.learners.parameters import check_choice, check_not_negative, check_positive, check_share


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_positive_means_finite_and_above_zero(value: float) -> None:
    with pytest.raises(ValueError, match="lr must be a number above 0"):
        check_positive(lr=value)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_not_negative_means_finite_and_at_least_zero(value: float) -> None:
    check_not_negative(decay=0.0)
    with pytest.raises(ValueError, match="decay must be a number of at least 0"):
        check_not_negative(decay=value)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "0.5", True])
def test_a_share_goes_from_zero_to_one(value: float) -> None:
    check_share(low=0, high=1.0)
    with pytest.raises(ValueError, match="share must be a number from 0 to 1, got"):
        check_share(share=value)


def test_choice_lists_what_is_allowed() -> None:
    check_choice("kind", None, ("a", None))
    with pytest.raises(ValueError, match="kind must be one of 'a', None, got 'b'"):
        check_choice("kind", "b", ("a", None))
