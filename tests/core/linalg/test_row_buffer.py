"""Rows that come and go, and copies that share no memory."""

from __future__ import annotations

import copy

import numpy as np

from i2cansay.core.linalg.row_buffer import RowBuffer


def test_a_copy_has_rows_of_its_own() -> None:
    rows = RowBuffer(width=2, dtype=np.float32)
    rows.resize(3)
    twin = copy.deepcopy(rows)
    twin.view[1] = 5
    twin.resize(4)
    assert not rows.view.any()
    assert (len(rows), len(twin)) == (3, 4)
    rows.view[0] = 7
    assert twin.view.tolist() == [[0, 0], [5, 5], [0, 0], [0, 0]]
