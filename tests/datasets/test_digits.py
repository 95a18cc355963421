import numpy as np

from i2cansay.datasets import get_dataset


def test_split_is_fixed_balanced_and_leaves_nothing_out() -> None:
    digits = get_dataset("digits")
    train, test = np.bincount(digits.labels("train")), np.bincount(digits.labels("test"))
    assert train.sum() + test.sum() == 1797
    assert np.all(np.abs(test / (train + test) - 0.25) < 0.01)
    seen = {image.tobytes() for image in map(np.asarray, digits.images("train"))}
    assert not seen & {image.tobytes() for image in map(np.asarray, digits.images("test"))}


def test_grey_levels_fill_the_range() -> None:
    images = np.array(list(get_dataset("digits").images("train")))
    assert images.shape == (1352, 8, 8, 3)
    assert images.dtype == np.uint8
    assert (images.min(), images.max()) == (0, 255)
