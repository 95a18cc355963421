"""An inverse that follows its matrix by rank-one updates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.core.linalg.precision import PrecisionMatrix
from i2cansay.core.linalg.symmetric import SymmetricMatrix


@settings(max_examples=40, deadline=None)
@given(size=st.integers(1, 12), n=st.integers(0, 20), seed=st.integers(0, 1000))
def test_it_stays_the_inverse(size: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = SymmetricMatrix(size)
    matrix.add_gram(rng.standard_normal((size + 2, size)))
    precision = PrecisionMatrix(matrix.inverse(shift=0.5))
    for row in rng.standard_normal((n, size)):
        precision.add(row)
        matrix.add_gram(row[None])
    identity = precision.times(matrix.dense() + 0.5 * np.eye(size))
    np.testing.assert_allclose(identity, np.eye(size), atol=1e-10)


def test_it_gives_what_it_was_multiplied_with() -> None:
    matrix = SymmetricMatrix(3)
    precision = PrecisionMatrix(matrix.inverse(shift=2.0))
    z, q = precision.add(np.array([2.0, 0.0, 0.0]))
    np.testing.assert_allclose(z, [1.0, 0.0, 0.0])
    assert q == pytest.approx(3.0)


def test_a_row_of_zeros_changes_nothing() -> None:
    matrix = SymmetricMatrix(4)
    matrix.add_gram(np.arange(8.0).reshape(2, 4))
    precision = PrecisionMatrix(matrix.inverse(shift=1.0))
    before = precision.times(np.eye(4))
    precision.add(np.zeros(4))
    np.testing.assert_array_equal(precision.times(np.eye(4)), before)


def test_the_inverse_it_was_made_of_is_not_changed() -> None:
    inverse = SymmetricMatrix(3).inverse(shift=1.0)
    PrecisionMatrix(inverse).add(np.ones(3))
    np.testing.assert_array_equal(inverse.dense(), np.eye(3))


def test_dimensions_that_are_left_out_stay_out() -> None:
    inverse = SymmetricMatrix(3).inverse(shift=1.0)
    inverse.scale_by(np.array([1.0, 0.0, 1.0]))
    precision = PrecisionMatrix(inverse)
    precision.add(np.array([1.0, 5.0, -1.0]))
    assert not precision.times(np.eye(3))[1].any()
