"""What learners say they will take, before they take it, against what they do take."""

from __future__ import annotations

from typing import Any

import pytest

from i2cansay import LEARNERS, make_learner
from i2cansay.testing.memory import check_size_is_told_beforehand

UNBOUNDED = {"joint", "cndpm", "dsdm_sessions"}
"""They keep more with every sample, or with every stretch of the stream that is unlike those before."""
MEMORIES: list[dict[str, Any]] = [{"memory_size": 1}, {"memory_size": 30}, {"memory_size": 300}]
VARIED: dict[str, list[dict[str, Any]]] = {
    "i2cansay": [
        {"momentum": 0.9},
        {"significance": False},
        {"memory_size": 50},
        {"pseudo": None},
        {"n_pseudo": 4.0},
    ],
    "i2cansay_shared": [
        {"lift": 0},
        {"lift": 40},
        {"lift": 70},
        {"lift": 500},
        {"lift": 40, "analogies": False},
        {"lift": 300, "analogies": False},
    ],
    "naive": [{"momentum": 0.9}],
    "ncm": [{"metric": "cosine"}],
    "slda": [{"shrinkage": "oas"}],
    "ridge": [{"penalty": "gcv"}, {"fit_intercept": False}],
    "ranpac": [{"n_projections": 1}, {"n_projections": 40}, {"n_projections": 300}],
    "ranpac_recent": [{"n_projections": 1}, {"n_projections": 40}],
    "gacl": [{"n_projections": 1}, {"n_projections": 40}, {"n_projections": 300}],
    "foal": [{"n_projections": 1}, {"n_projections": 40}],
    "air": [
        {"n_projections": 1},
        {"n_projections": 40},
        {"n_projections": 300},
        {"n_projections": 40, "covariance": "class"},
    ],
    "rff_lda": [{"n_projections": 1}, {"n_projections": 40}, {"n_projections": 300}],
    "klda": [{"n_projections": 1}, {"n_projections": 40, "n_members": 3}],
    "fecam": [{"covariance": "common"}],
    "ensemble": [{"n_classifiers": 1}, {"n_classifiers": 64}],
    "gss": [*MEMORIES, {"memory_size": 30, "selection": "iqp"}],
    "cope": [{"embedding_size": 3, "memory_size": 30}, {"memory_size": 1}],
    "dsdm": [{"memory_size": 1}, {"memory_size": 50}],
    **dict.fromkeys(("er", "agem", "mir", "aser", "gdumb", "cv"), MEMORIES),
}
# Matrices of thousands of rows, or thousands of samples.
SLOW = {"i2cansay_shared", "cope"}
LIFTED = {name for name in LEARNERS if "n_projections" in make_learner(name).get_params()}


@pytest.mark.parametrize(
    ("learner", "parameters"),
    [(learner, parameters) for learner, several in VARIED.items() for parameters in several]
    + [
        pytest.param(learner, {}, marks=[pytest.mark.slow] if learner in SLOW else [])
        for learner in LEARNERS
        # Those with a lift differ from the cases above in the size of a matrix alone, up to half a gigabyte.
        if learner not in UNBOUNDED | LIFTED
    ],
)
def test_the_size_told_bounds_the_size_taken(learner: str, parameters: dict[str, Any]) -> None:
    made = make_learner(learner, **parameters)
    assert made.state_bytes(6, 1) is not None
    check_size_is_told_beforehand(made)


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_every_learner_declares_its_size(learner: str) -> None:
    assert (make_learner(learner).state_bytes(4, 2) is None) == (learner in UNBOUNDED)


@pytest.mark.parametrize("name", ["auto", "wide"])
def test_a_lift_by_name_is_as_large_as_the_number_it_stands_for(name: str) -> None:
    number = {"auto": 3584, "wide": 7680}[name] - 1280
    told = [make_learner("i2cansay_shared", lift=lift).state_bytes(1280, 10) for lift in (name, number)]
    assert told[0] == told[1]


def test_asking_makes_nothing() -> None:
    # A matrix of so many columns would take terabytes.
    assert make_learner("ranpac", n_projections=10**6).state_bytes(1280, 10) > 4 * 10**12  # type: ignore[operator]
    assert make_learner("i2cansay_shared", lift=10**6).state_bytes(1280, 10) > 8 * 10**12  # type: ignore[operator]


@pytest.mark.parametrize(
    ("learner", "parameters"),
    [
        ("i2cansay_shared", {"lift": "widest"}),
        ("i2cansay", {"n_pseudo": 3e6}),
        ("ranpac", {"n_projections": 2.5}),
        ("er", {"memory_size": -1}),
        ("cndpm", {"epochs": 2**31}),
        ("cndpm", {"lr": 1e300}),
        ("fecam", {"gamma1": 1e300}),
        ("fecam", {"covariance": "none"}),
        ("joint", {"C": "best"}),
    ],
)
def test_parameters_are_checked_before_the_size_is_told(learner: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} must be"):
        make_learner(learner, **parameters).state_bytes(4, 2)
