"""How often a model is right: counts add up, and promises are measured on classes that were taught."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix, precision_score, recall_score

from i2cansay import ImageLearner
from i2cansay.image_learner import Examination, UnreadableImages
from tests.image_learner.images import small_images


def examination(labels: list[str], probabilities: Any, verdicts: list[str]) -> Examination:
    """Answers over the classes a, b, c that need no learner."""
    given = np.array(probabilities, dtype=float)
    return Examination(
        np.array(["a", "b", "c"]),
        np.array(labels),
        given,
        given > 0.2,
        np.array(verdicts),
        np.arange(len(labels)),
    )


@pytest.fixture
def found() -> Examination:
    return examination(
        ["a", "a", "b", "c", "z"],
        [[0.9, 0.1, 0.0], [0.3, 0.6, 0.1], [0.1, 0.8, 0.1], [0.7, 0.2, 0.1], [0.1, 0.0, 0.9]],
        ["sure", "unsure", "sure", "sure", "new"],
    )


def test_it_agrees_with_scikit_learn(found: Examination) -> None:
    labels, counts = found.confusion
    assert labels.tolist() == ["a", "b", "c", "z"]
    assert np.array_equal(counts, confusion_matrix(found.labels, found.predicted, labels=labels))
    assert found.accuracy == 0.4
    results = found.by_class()
    options: Any = {"labels": labels, "average": None, "zero_division": np.nan}
    np.testing.assert_equal(
        [result.recall for result in results], recall_score(found.labels, found.predicted, **options)
    )
    np.testing.assert_equal(
        [result.precision for result in results], precision_score(found.labels, found.predicted, **options)
    )


def test_mistakes_are_sorted_and_confusions_counted(found: Examination) -> None:
    assert found.mistakes().tolist() == [4, 3, 1]
    assert sorted(found.confused()) == [("a", "b", 1), ("c", "a", 1), ("z", "c", 1)]


def test_promises_are_about_known_classes(found: Examination) -> None:
    assert found.sure_error == pytest.approx(1 / 3)
    assert found.coverage == pytest.approx(3 / 4)
    assert found.set_size == pytest.approx((1 + 2 + 1 + 1) / 4)
    assert (found.share("new"), found.share("new", known=False)) == (0.0, 1.0)
    assert found.share("sure") == 0.75


def test_calibration_error_by_hand() -> None:
    sure = examination(["a"] * 4, [[0.75, 0.25, 0.0]] * 4, ["sure"] * 4)
    assert sure.calibration_error == pytest.approx(0.25)
    half = examination(["a", "a", "a", "b"], [[0.75, 0.25, 0.0]] * 4, ["sure"] * 4)
    assert half.calibration_error == pytest.approx(0.0)
    strange = examination(["z"], [[0.75, 0.25, 0.0]], ["new"])
    assert np.isnan(strange.calibration_error)
    assert np.isnan(strange.coverage)


@pytest.fixture(scope="module")
def taught() -> ImageLearner:
    model = ImageLearner("pixels", size=4)
    model.learn(*small_images(90))
    return model


def test_images_are_examined_as_they_are_predicted(taught: ImageLearner) -> None:
    images, labels = small_images(40, seed=2)
    labels[7] = "violet"
    found = taught.examine(images, labels)
    assert np.array_equal(found.predicted, taught.predict(images))
    assert taught.score(images, labels) == found.accuracy == (taught.predict(images) == labels).mean()
    assert taught.confusion(images, labels).labels.tolist() == ["blue", "green", "red", "violet"]
    assert np.array_equal(found.sets, taught.predict_set(images))
    assert np.array_equal(found.verdicts, taught.verdicts(images))
    answers = taught.answer(images, 2)
    assert [answer.label for answer in answers] == found.predicted.tolist()
    assert [answer.verdict for answer in answers] == found.verdicts.tolist()
    assert [list(answer.guesses) for answer in answers] == taught.top(images, 2)


def test_what_cannot_be_read(taught: ImageLearner) -> None:
    images, labels = small_images(10, seed=2)
    images[4] = b"no image"
    with pytest.raises(UnreadableImages):
        taught.score(images, labels)
    found = taught.examine(images, labels, on_error="skip")
    assert list(found.skipped) == [4]
    assert found.indices.tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    answers = taught.answer(images)
    assert (answers[4].verdict, answers[4].label, answers[4].probability) == ("unreadable", None, 0.0)
    assert "not an image" in answers[4].reason
    assert all(answer.label == label for answer, label in zip(answers, labels, strict=True) if answer.label)


def test_progress_counts_every_image(taught: ImageLearner) -> None:
    images, labels = small_images(40, seed=2)
    told: list[int] = []
    taught.answer(images, progress=told.append)
    taught.examine(images, labels, progress=told.append)
    assert told.count(40) == 2
    assert told == sorted(told[: len(told) // 2]) * 2


def test_what_does_not_fit_is_refused(taught: ImageLearner) -> None:
    images, labels = small_images(4)
    with pytest.raises(ValueError, match="one label per image"):
        taught.examine(images, labels[:3])
    with pytest.raises(ValueError, match="one label per image"):
        taught.examine(iter(images), labels[:3])
    with pytest.raises(ValueError, match="no sample"):
        taught.examine([], [])
    with pytest.raises(ValueError, match="labels are like"):
        taught.examine(images, [1, 2, 3, 4])
    with pytest.raises(NotFittedError):
        ImageLearner("pixels").score(images, labels)
