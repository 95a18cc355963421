"""Suspected wrong labels: found wherever they are in a lesson, without changing what is learnt."""

from __future__ import annotations

import numpy as np
import pytest

from i2cansay import ImageLearner, make_learner
from i2cansay.image_learner import Doubt
from i2cansay.image_learner.atomic_lesson import AtomicLesson
from i2cansay.image_learner.doubts import Doubts
from tests.image_learner.images import small_images

OTHER = {"blue": "green", "green": "red", "red": "blue"}


@pytest.mark.parametrize("wrong", [3, 55, 149])
def test_a_wrong_label_is_found_wherever_it_is(wrong: int) -> None:
    images, labels = small_images(150)
    right, labels[wrong] = labels[wrong], OTHER[labels[wrong]]
    (doubt,) = ImageLearner("pixels", size=4).learn(images, labels, doubts=5).doubts
    assert (doubt.index, doubt.label, doubt.guess) == (wrong, labels[wrong], right)
    assert doubt.probability < 0.5


@pytest.mark.parametrize("name", ["best", "paper"])
def test_asking_for_doubts_changes_no_score(name: str) -> None:
    images, labels = small_images(170)
    models = [ImageLearner("pixels", make_learner(name, random_state=0), size=4) for _ in range(2)]
    for model, doubts in zip(models, (0, 9), strict=True):
        model.learn(images[:130], labels[:130], doubts=doubts)
        model.learn(images[130:], labels[130:], doubts=doubts)
    X = models[0].encoder.encode(small_images(20, seed=1)[0])
    plain, doubted = (model.learner.class_scores(X) for model in models)
    np.testing.assert_allclose(doubted, plain, rtol=1e-6)


def test_the_least_likely_come_first_and_only_so_many() -> None:
    rng = np.random.default_rng(0)
    y = np.array(["a", "b"] * 100)
    X = np.where(y[:, None] == "a", 0.0, 2.0) + rng.normal(size=(200, 2))  # many overlap
    found = Doubts(4)
    learner = make_learner("best")
    lesson = AtomicLesson(learner, doubts=found)
    lesson.add(X, y)
    lesson.finish()
    probabilities = [doubt.probability for doubt in found.found()]
    assert len(probabilities) == 4
    assert probabilities == sorted(probabilities)


def test_indices_count_images_that_could_not_be_read() -> None:
    images, labels = small_images(100)
    images[10] = b"no image"
    labels[70] = OTHER[labels[70]]
    report = ImageLearner("pixels", size=4).learn(images, labels, on_error="skip", doubts=3)
    assert [doubt.index for doubt in report.doubts] == [70]


def test_learners_that_cannot_unlearn_doubt_what_comes_later() -> None:
    images, labels = small_images(150)
    for index in (3, 149):
        labels[index] = OTHER[labels[index]]
    report = ImageLearner("pixels", "ncm", size=4).learn(images, labels, doubts=5)
    assert [doubt.index for doubt in report.doubts] == [149]


def test_a_class_with_few_samples_is_not_doubted() -> None:
    images, labels = small_images(60)
    model = ImageLearner("pixels", size=4)
    model.learn(images, labels)
    report = model.learn(images[:4], ["new"] * 4, doubts=5)
    assert report.doubts == ()


def test_no_rows_no_doubts_and_no_negative_number() -> None:
    assert ImageLearner("pixels").learn([], [], doubts=3).doubts == ()
    with pytest.raises(ValueError, match="at least 0"):
        Doubts(-1)
    assert Doubt(1, "a", "b", 0.1).label == "a"
