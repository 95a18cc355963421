"""The error that names every image."""

import copy

from i2cansay.image_learner import UnreadableImages


def test_it_comes_home_from_another_process() -> None:
    error = UnreadableImages({2: "the image has no bytes", 9: "damaged"})
    again = copy.copy(error)  # taken apart and put together as on the way between processes
    assert (str(again), again.reasons) == (str(error), error.reasons)
