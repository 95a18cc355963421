from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from i2cansay.datasets.arrays import ArraySplit
from i2cansay.datasets.dataset import Dataset


def make(
    pixels: NDArray[np.uint8], labels: NDArray[np.int64], names: tuple[str, ...] = ("a", "b")
) -> Dataset:
    return Dataset("toy", names, {"train": ArraySplit(lambda: (pixels, labels))}, "in memory")


PIXELS = np.arange(4 * 2 * 2 * 3, dtype=np.uint8).reshape(4, 2, 2, 3)
LABELS = np.array([0, 1, 1, 0])


def test_images_come_in_the_order_of_the_rows_asked_for() -> None:
    images = list(make(PIXELS, LABELS).images("train", [3, 0, 3]))
    assert np.array_equal(np.array(images), PIXELS[[3, 0, 3]])


def test_all_images_come_without_rows() -> None:
    dataset = make(PIXELS, LABELS)
    assert np.array_equal(np.array(list(dataset.images("train"))), PIXELS)
    assert dataset.n("train") == 4
    assert dataset.labels("train").dtype == np.int64


@pytest.mark.parametrize("rows", [[4], [-1]])
def test_rows_that_do_not_exist_are_refused(rows: list[int]) -> None:
    with pytest.raises(ValueError, match="rows 0 to 3"):
        make(PIXELS, LABELS).images("train", rows)


def test_unknown_split_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="has the splits train; got 'dev'"):
        make(PIXELS, LABELS).labels("dev")


def test_a_copy_that_is_not_complete_is_refused() -> None:
    dataset = replace(make(PIXELS, LABELS), counts={"train": 5})
    with pytest.raises(ValueError, match="expected 5 images, found 4"):
        dataset.labels("train")
    with pytest.raises(ValueError, match="expected 5 images, found 4"):
        dataset.images("train")


def test_labels_beyond_the_class_names_are_refused() -> None:
    with pytest.raises(ValueError, match="expected labels from 0 to 1, found 0 to 2"):
        make(PIXELS, np.array([0, 1, 2, 0])).n("train")


def test_fingerprint_changes_with_everything_that_matters() -> None:
    brighter = PIXELS.copy()
    brighter[2, 1, 1, 1] += 1
    variants = [
        make(PIXELS, LABELS),
        make(brighter, LABELS),
        make(PIXELS, LABELS[::-1] ^ 1),
        make(PIXELS, LABELS, ("a", "c")),
        make(PIXELS[::-1], LABELS),
        make(PIXELS.reshape(4, 1, 4, 3), LABELS),
    ]
    assert len({variant.fingerprint for variant in variants}) == len(variants)


def test_fingerprint_does_not_change_with_place_layout_or_memory_order() -> None:
    dataset = make(PIXELS, LABELS)
    elsewhere = replace(dataset, location=Path("elsewhere"), layout="another")
    assert elsewhere.fingerprint == dataset.fingerprint
    assert make(np.asfortranarray(PIXELS), LABELS).fingerprint == dataset.fingerprint
