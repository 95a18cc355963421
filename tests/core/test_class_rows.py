"""An array with a row per class grows, drops and restores like any part of a state."""

from __future__ import annotations

import numpy as np
import pytest

from i2cansay.core.class_rows import ClassRows
from i2cansay.core.state_parts import StatePart


@pytest.mark.parametrize(("width", "row"), [(2, [1.0, 2.0]), (None, 7.0)])
def test_rows_grow_empty_drop_and_come_back(width: int | None, row: list[float] | float) -> None:
    kept = ClassRows(width)
    assert isinstance(kept, StatePart)
    kept.resize(3)
    assert not kept.rows.any()
    kept.rows[1] = row
    kept.drop(0)
    np.testing.assert_array_equal(kept.rows[0], row)
    again = ClassRows(width)
    again.restore(kept.state(), 2)
    np.testing.assert_array_equal(again.rows, kept.rows)
    again.rows[0] = 0
    np.testing.assert_array_equal(kept.rows[0], row, "the two share no memory")


def test_rows_of_another_number_of_classes_or_width_are_refused() -> None:
    kept = ClassRows(2, np.float32)
    kept.resize(3)
    assert kept.rows.dtype == np.float32
    with pytest.raises(ValueError, match="of shape \\(4, 2\\), not \\(3, 2\\)"):
        ClassRows(2).restore(kept.state(), 4)
    with pytest.raises(ValueError, match="of shape \\(3, 5\\)"):
        ClassRows(5).restore(kept.state(), 3)
