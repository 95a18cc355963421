"""A model file with a flipped bit is refused."""

from pathlib import Path

import numpy as np
import pytest

from i2cansay import I2CANSAY, load


def test_a_flipped_bit_anywhere_in_the_numbers_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "model.i2cs"
    I2CANSAY(random_state=0).partial_fit([[0.0, 1.0], [1.0, 0.0]], ["a", "b"]).save(path)
    whole = path.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    for position in np.random.default_rng(0).integers(start, len(whole), 20).tolist():
        damaged = bytearray(whole)
        damaged[position] ^= 0b100
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="checksum"):
            load(path)
