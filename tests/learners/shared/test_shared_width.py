"""Features that `SharedI2CANSAY` reduces to a width."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay import SharedI2CANSAY, load
from i2cansay.testing.memory import check_size_is_told_beforehand
from i2cansay.testing.requirements import state_difference
from tests.learners.shared.material import closed_form, shared, taught

WIDTHS = (60, 40, 20)
C, D = 5, sum(WIDTHS)


def draw(n: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % C
    X = rng.standard_normal((n, D)) + 0.6 * np.random.default_rng(99).standard_normal((C, D))[y]
    return X.astype(np.float32), y


def test_statistics_are_as_wide_as_asked_for() -> None:
    X, y = draw()
    for width, expected in ((30, 30), (D, D), (1000, D), (None, D)):
        assert shared(width=width).partial_fit(X, y).class_means_.shape == (C, expected)
    assert shared(width=30, blocks=WIDTHS).partial_fit(X, y)._scatter.blocks.widths.tolist() == [15, 10, 5]
    assert shared(width=30, lift=7).partial_fit(X, y).class_means_.shape == (C, 37)
    # Who asks for a width gets it, and no lift beside it unless it is asked for as well.
    assert SharedI2CANSAY(width=30).partial_fit(X, y).class_means_.shape == (C, 30)


@pytest.mark.parametrize("analogies", [True, False])
def test_half_of_the_width_still_tells_classes_apart(analogies: bool) -> None:
    X, y = draw(600)
    model = taught(shared(width=60, blocks=WIDTHS, analogies=analogies), X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.9


def test_unit_of_a_block_changes_no_bit() -> None:
    X, y = draw()
    units = np.repeat([4.0**6, 1.0, 4.0**-9], WIDTHS).astype(np.float32)
    plain, other = (
        taught(closed_form(width=30, blocks=WIDTHS), Z, y).class_scores(Z) for Z in (X, X * units)
    )
    np.testing.assert_array_equal(plain, other)


@pytest.mark.parametrize("blocks", [None, WIDTHS])
def test_parts_that_have_agreed_on_nothing_but_the_width_are_merged_to_one_pass(blocks: Any) -> None:
    X, y = draw()
    whole = taught(closed_form(width=30, blocks=blocks), X, y)
    parts = [
        closed_form(width=30, blocks=blocks, random_state=seed).partial_fit(X[seed::2], y[seed::2])
        for seed in range(2)
    ]
    merged = parts[0].merge(parts[1])
    np.testing.assert_allclose(merged.class_scores(X), whole.class_scores(X), rtol=1e-8, atol=1e-8)
    with pytest.raises(ValueError, match="differ in width"):
        merged.merge(closed_form(width=31, blocks=blocks).partial_fit(X, y))


def test_reduced_rows_are_taken_back_exactly() -> None:
    X, y = draw()
    never = closed_form(width=30, blocks=WIDTHS).partial_fit(X[80:], y[80:])
    model = taught(closed_form(width=30, blocks=WIDTHS), X, y).unlearn(X[:80], y[:80])
    np.testing.assert_allclose(model.class_scores(X), never.class_scores(X), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("parameters", [{}, {"blocks": WIDTHS}, {"lift": 9, "blocks": WIDTHS}])
def test_saved_and_loaded_it_goes_on_bit_for_bit(tmp_path: Path, parameters: dict[str, Any]) -> None:
    X, y = draw()
    model = taught(shared(width=30, **parameters), X[:100], y[:100])
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    for each in (model, loaded):
        each.partial_fit(X[100:], y[100:])
    assert state_difference(model.state(), loaded.state()) is None
    np.testing.assert_array_equal(model.class_scores(X), loaded.class_scores(X))


@pytest.mark.parametrize("parameters", [{"width": 3}, {"width": 50}, {"width": 50, "lift": 20}])
def test_its_size_is_told_beforehand(parameters: dict[str, Any]) -> None:
    check_size_is_told_beforehand(shared(**parameters))


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"width": 0}, "width must be a whole number of at least 1, got 0"),
        ({"width": 20.0}, r"width must be a whole number of at least 1, got 20\.0"),
        ({"width": "small"}, "width must be a whole number of at least 1, got 'small'"),
        ({"width": 2, "blocks": WIDTHS}, "a dimension each, got 3 blocks for a width of 2"),
    ],
)
def test_width_that_makes_no_sense_is_refused(parameters: dict[str, Any], match: str) -> None:
    model = shared(**parameters)
    with pytest.raises(ValueError, match=match):
        model.partial_fit(*draw())
    assert not hasattr(model, "classes_")


def test_width_waits_for_a_new_beginning(tmp_path: Path) -> None:
    X, y = draw()
    model = shared(width=30).partial_fit(X, y).set_params(width=20)
    assert model.partial_fit(X, y).class_means_.shape == (C, 30)
    with pytest.raises(ValueError, match="width changed after learning began"):
        model.save(tmp_path / "model")
    assert model.fit(X, y).class_means_.shape == (C, 20)
