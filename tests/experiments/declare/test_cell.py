from dataclasses import replace

import pytest

from i2cansay.experiments.declare.cell import Cell, hash_of

CELL = Cell("digits", "pixels", "step:2", "i2cansay")


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": "cifar10"},
        {"encoder": "efficientnet-lite0"},
        {"stream": "gaussian"},
        {"learner": "naive"},
        {"parameters": {"beta": 1.0}},
        {"seed": 1},
        {"fraction": 0.1},
        {"n_classes": 5},
        {"batch_size": 10},
        {"every_session": False},
        {"prequential": True},
        {"held_out": "fifth"},
        {"root": True},
    ],
)
def test_whatever_can_move_a_number_makes_a_new_cell(change: dict[str, object]) -> None:
    assert replace(CELL, **change).key("f") != CELL.key("f")  # type: ignore[arg-type]


def test_other_features_make_a_new_cell() -> None:
    assert CELL.key("f") != CELL.key("g")


def test_a_default_spelt_out_is_the_same_cell() -> None:
    assert replace(CELL, parameters={"beta": 2.0, "pseudo": "ican"}).key("f") == CELL.key("f")


def test_the_learners_own_seed_is_no_part_of_the_cell() -> None:
    assert "random_state" not in CELL.all_parameters()


def test_other_defaults_do_not_fit() -> None:
    assert CELL.fits({**CELL.all_parameters(), "since_removed": 1})
    assert not CELL.fits({**CELL.all_parameters(), "beta": 1.0})


def test_an_unknown_parameter_is_named() -> None:
    with pytest.raises(ValueError, match="naive has no parameter beta"):
        replace(CELL, learner="naive", parameters={"beta": 1.0}).key("f")


def test_values_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="plain JSON values only"):
        hash_of({"lr": float("nan")})


def test_a_plain_cell_is_the_cell_it_was_before_more_could_be_asked() -> None:
    assert not {"held_out", "root"} & set(CELL.identity())
    assert CELL.key("f") == "37c5c90ada17a4524ccfc6f5"
