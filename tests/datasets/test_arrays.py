import numpy as np
import pytest

from i2cansay.datasets.arrays import ArraySplit
from i2cansay.datasets.dataset import Labels, Pixels


def test_nothing_is_loaded_before_it_is_needed_and_then_once() -> None:
    calls = []

    def load() -> tuple[Pixels, Labels]:
        calls.append(1)
        return np.zeros((2, 4, 4, 3), np.uint8), np.array([0, 1])

    split = ArraySplit(load)
    assert calls == []
    list(split.images([0]))
    assert split.labels.tolist() == [0, 1]
    assert len(calls) == 1


def test_grey_images_have_three_equal_channels() -> None:
    grey = np.arange(16, dtype=np.uint8).reshape(1, 4, 4)
    (image,) = ArraySplit(lambda: (grey, np.array([0]))).images([0])
    assert image.shape == (4, 4, 3)
    assert all(np.array_equal(image[:, :, channel], grey[0]) for channel in range(3))


def test_a_missing_label_is_noticed() -> None:
    split = ArraySplit(lambda: (np.zeros((2, 4, 4), np.uint8), np.array([0])))
    with pytest.raises(ValueError, match="2 images and 1 labels"):
        _ = split.labels
