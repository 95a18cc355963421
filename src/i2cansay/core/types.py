"""Names for the arrays that are passed around."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Features: TypeAlias = NDArray[np.floating[Any]]
"""Rows of features, (n, d), float32 or float64."""

Float32: TypeAlias = NDArray[np.float32]
Float64: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]
"""Row numbers: of samples in a batch, or of classes in the order in which they arrived."""

State: TypeAlias = dict[str, NDArray[Any]]
"""Everything an object needs to go on, as named arrays."""
