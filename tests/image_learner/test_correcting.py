"""Unlearning and relabelling images: as if it had been taught right from the start, or not at all."""

from __future__ import annotations

import numpy as np
import pytest

from i2cansay import ImageLearner
from i2cansay.image_learner import UnreadableImages
from i2cansay.testing.requirements import state_difference
from tests.image_learner.images import small_images


def taught(labels: list[str], n: int = 60) -> ImageLearner:
    model = ImageLearner("pixels", size=4)
    model.learn(small_images(60)[0][:n], labels[:n])
    return model


def test_a_relabelled_model_is_one_taught_right() -> None:
    images, labels = small_images(60)
    wrong = [{"red": "blue"}.get(label, label) if index < 10 else label for index, label in enumerate(labels)]
    changed = [index for index in range(10) if wrong[index] != labels[index]]
    assert changed
    model = taught(wrong)
    model.relabel([images[i] for i in changed], [wrong[i] for i in changed], [labels[i] for i in changed])
    asked = small_images(30, seed=1)[0]
    np.testing.assert_allclose(
        model.learner.class_scores(model.encoder.encode(asked)),
        taught(labels).learner.class_scores(model.encoder.encode(asked)),
        rtol=1e-4,
        atol=1e-3,
    )


def test_unlearning_leaves_what_is_left() -> None:
    images, labels = small_images(60)
    model = taught(labels).unlearn(images[50:], labels[50:])
    assert np.array_equal(model.learner.class_counts_, taught(labels, 50).learner.class_counts_)
    reds = [index for index in range(50) if labels[index] == "red"]
    model.unlearn([images[index] for index in reds], ["red"] * len(reds))
    assert model.classes_.tolist() == ["blue", "green"]


def test_bad_input_changes_nothing() -> None:
    images, labels = small_images(60)
    model = taught(labels)
    before = model.learner.state()
    with pytest.raises(UnreadableImages):
        model.relabel([images[0], b"no image"], labels[:2], ["red", "red"])
    with pytest.raises(ValueError, match="not a known class"):
        model.unlearn(images[:1], ["violet"])
    with pytest.raises(ValueError, match="at least one image"):
        model.unlearn([], [])
    with pytest.raises(ValueError, match="one label per"):
        model.unlearn(iter(images[:2]), labels[:1])
    with pytest.raises(ValueError, match="one label per row"):
        model.relabel(images[:2], labels[:2], ["red"])
    with pytest.raises(ValueError, match="one type of label"):
        model.relabel(images[:2], labels[:2], [1, 2])
    assert state_difference(before, model.learner.state()) is None


def test_a_learner_that_cannot_unlearn_says_so() -> None:
    images, labels = small_images(20)
    model = ImageLearner("pixels", "ncm", size=4)
    model.learn(images, labels)
    with pytest.raises(ValueError, match="cannot take samples out"):
        model.unlearn(images[:1], labels[:1])
