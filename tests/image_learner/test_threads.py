"""Many threads share one ImageLearner: each call sees what was known before a lesson or after it."""

from copy import copy, deepcopy
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from i2cansay import I2CANSAY, ImageLearner
from i2cansay.image_learner import parts as parts_module
from i2cansay.testing.requirements import state_difference
from tests.image_learner.images import small_images

LONG = 60.0


def fresh(learner: str | None = None) -> ImageLearner:
    return ImageLearner("pixels", learner or I2CANSAY(random_state=0, lr=0.01), size=4)


def held_up(images: list[Any], reached: Event, go: Event) -> Any:
    """Give images one by one, and stop before the last until `go`."""
    yield from images[:-1]
    reached.set()
    assert go.wait(LONG)
    yield images[-1]


def test_a_question_waits_for_no_lesson_and_a_lesson_for_no_question() -> None:
    model = fresh()
    images, labels = small_images(30)
    model.learn(images, labels)
    reached, go = Event(), Event()
    lesson = Thread(target=model.learn, args=(held_up(images, reached, go), ["new"] * 30))
    lesson.start()
    assert reached.wait(LONG)
    assert "new" not in model.predict(images)  # it is not there yet, and nobody waits for it
    assert "new" not in model.classes_
    go.set()
    lesson.join(LONG)
    assert "new" in model.classes_


def test_a_long_question_is_answered_from_one_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_module, "PART_SIZE", 4)
    model = fresh()
    images, labels = small_images(30)
    model.learn(images, labels)
    expected = model.predict_proba(images)
    reached, go = Event(), Event()
    answers: list[Any] = []
    question = Thread(target=lambda: answers.append(model.predict_proba(held_up(images, reached, go))))
    question.start()
    assert reached.wait(LONG)  # the first parts are answered
    model.learn(images, ["new"] * 30)
    model.rename("new", "old")
    model.forget("red")
    go.set()
    question.join(LONG)
    np.testing.assert_allclose(answers[0], expected, rtol=1e-6)


def test_lessons_of_two_threads_are_both_learnt() -> None:
    images, _ = small_images(30)
    model = fresh("ncm")
    reached, go = Event(), Event()
    first = Thread(target=model.learn, args=(held_up(images, reached, go), ["first"] * 30))
    first.start()
    assert reached.wait(LONG)
    second = Thread(target=model.learn, args=(images, ["second"] * 30))
    second.start()
    go.set()
    first.join(LONG)
    second.join(LONG)
    assert model.classes_.tolist() == ["first", "second"]


@pytest.mark.parametrize("learner", ["i2cansay", "slda", "ncm"])
def test_any_calls_from_any_threads(learner: str, tmp_path: Path) -> None:
    model = fresh(learner)
    images, labels = small_images(12)
    model.learn(images, labels)
    done, wrong = Event(), list[object]()

    def ask(number: int) -> None:
        while not done.is_set():
            try:
                guesses = model.top(images[:3], k=100)
                wrong.extend(
                    row for row in guesses if abs(sum(guess.probability for guess in row) - 1) > 1e-6
                )
                model.save(tmp_path / f"{number}")
                ImageLearner.load(tmp_path / f"{number}", encoder=model.encoder)
            except Exception as error:
                wrong.append(error)
                return

    readers = [Thread(target=ask, args=(number,)) for number in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(8):
        model.learn(images, [f"{label} {turn}" for label in labels])
        model.rename(f"{labels[0]} {turn}", f"renamed {turn}")
        model.forget(f"renamed {turn}")
    done.set()
    for reader in readers:
        reader.join(LONG)
    assert wrong == []
    model.save(tmp_path / "end")
    again = ImageLearner.load(tmp_path / "end", encoder=model.encoder)
    np.testing.assert_array_equal(model.predict(images), again.predict(images))
    np.testing.assert_allclose(model.predict_proba(images), again.predict_proba(images), rtol=1e-6)


def test_it_can_be_copied() -> None:
    model = fresh()
    images, labels = small_images(12)
    model.learn(images, labels)
    twin = copy(model)
    assert twin.learner is model.learner
    own = deepcopy(model.learner)
    assert state_difference(own.state(), model.learner.state()) is None
    other = deepcopy(model)
    other.learn(images, ["new"] * 12)
    assert "new" not in model.classes_
