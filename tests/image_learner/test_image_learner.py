"""Images in, labels out: all of them or, when asked, those that can be read; never half a lesson."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from sklearn.exceptions import NotFittedError

import i2cansay
from i2cansay import I2CANSAY, ImageLearner, SharedI2CANSAY, make_learner
from i2cansay.encoders import get_encoder
from i2cansay.encoders.encoder import Encoder
from i2cansay.encoders.image_error import ImageError
from i2cansay.image_learner import Guess, LessonReport, SkippedImages, UnreadableImages
from i2cansay.image_learner import parts as parts_module
from i2cansay.learners import learner_class
from i2cansay.testing.requirements import state_difference
from tests.image_learner.images import file_of, small_images

BAD = b"no image"


def fresh(**parameters: Any) -> ImageLearner:
    return ImageLearner("pixels", I2CANSAY(random_state=0, lr=0.01, **parameters), size=4)


def unchanged(before: dict[str, NDArray[Any]], model: ImageLearner) -> bool:
    return state_difference(before, model.learner.state()) is None


@pytest.fixture
def taught() -> ImageLearner:
    model = fresh()
    model.learn(*small_images(60))
    return model


@pytest.fixture
def no_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail as soon as an image is opened."""

    def refuse(*_: object) -> None:
        raise AssertionError("an image was opened")

    monkeypatch.setattr(Encoder, "prepare", refuse)


def test_it_learns(taught: ImageLearner) -> None:
    images, labels = small_images(50, seed=1)
    assert taught.classes_.tolist() == ["blue", "green", "red"]
    assert taught.predict(images).tolist() == labels


def test_it_is_the_encoder_followed_by_the_learner() -> None:
    images, labels = small_images(120)
    model, learner, encoder = fresh(), I2CANSAY(random_state=0, lr=0.01), get_encoder("pixels", size=4)
    assert model.learn(images, labels) == LessonReport(120)
    for start in range(0, 120, 50):
        rows = slice(start, start + 50)
        learner.partial_fit(encoder.encode(images[rows]), labels[rows])
    assert unchanged(learner.state(), model)
    asked = small_images(20, seed=1)[0]
    features = encoder.encode(asked)
    assert np.array_equal(model.predict(asked), learner.predict(features))
    assert np.array_equal(model.predict_proba(asked), learner.predict_proba(features))


@pytest.mark.parametrize("part_size", [1, 7, 50, 64])
@pytest.mark.parametrize("as_iterator", [False, True])
def test_the_size_of_the_parts_changes_nothing(
    part_size: int, as_iterator: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    images, labels = small_images(130)
    images[5] = images[77] = BAD
    whole = fresh()
    whole.learn(images, labels, on_error="skip")
    monkeypatch.setattr(parts_module, "PART_SIZE", part_size)
    model = fresh()
    report = model.learn(iter(images) if as_iterator else images, labels, on_error="skip")
    assert report.learnt == 128
    assert sorted(report.skipped) == [5, 77]
    assert unchanged(whole.learner.state(), model)
    answers = model.predict_proba(
        iter(small_images(30, seed=1)[0]) if as_iterator else small_images(30, seed=1)[0]
    )
    # The features are equal bit for bit; how many rows are scored at once may move the last bits.
    np.testing.assert_allclose(answers, whole.predict_proba(small_images(30, seed=1)[0]), rtol=1e-5)


def test_every_kind_of_image_is_accepted(taught: ImageLearner, tmp_path: Path) -> None:
    image = small_images(1, seed=3)[0][0]
    data = file_of(image)
    path = tmp_path / "image of any ending"
    path.write_bytes(data)
    sources: list[Any] = [
        image,
        data,
        bytearray(data),
        io.BytesIO(data),
        path,
        str(path),
        Image.fromarray(image),
    ]
    probabilities = taught.predict_proba(sources)
    np.testing.assert_allclose(probabilities, probabilities[[0] * len(sources)], rtol=1e-5)
    assert len(set(taught.predict(np.array([str(path)] * 2)))) == 1
    assert len(taught.predict(np.stack([image, image, image]))) == 3


@pytest.mark.parametrize(
    "single",
    [
        "cat.jpg",
        b"bytes",
        Path("cat.jpg"),
        np.zeros((8, 8), np.uint8),
        np.zeros((8, 8, 3), np.uint8),
        Image.new("RGB", (4, 4)),
        io.BytesIO(b"lines\nof a file"),
    ],
)
def test_a_single_image_belongs_in_a_list(single: Any, taught: ImageLearner) -> None:
    for ask in (lambda: taught.predict(single), lambda: taught.learn(single, ["red"])):
        with pytest.raises(ValueError, match=r"expected several images, got a single .*put it in a list"):
            ask()


def test_images_without_an_order_are_refused(taught: ImageLearner) -> None:
    with pytest.raises(ValueError, match="in an order"):
        taught.learn({"a.png", "b.png"}, ["red", "blue"])


# -- images that cannot be read ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [40, 130])  # less than one batch, and several
def test_raise_names_every_bad_image_and_learns_nothing(n: int, taught: ImageLearner) -> None:
    images, labels = small_images(n, seed=2)
    images[3], images[n - 1], images[n - 2] = b"", "/nowhere/cat.jpg", BAD
    before = taught.learner.state()
    with pytest.raises(UnreadableImages) as caught:
        taught.learn(images, [*labels[:-4], "new", "new", "new", "new"])
    assert unchanged(before, taught)
    assert list(caught.value.reasons) == [3, n - 2, n - 1]
    for sentence in ("image 3: the image has no bytes", f"image {n - 1}: cannot open '/nowhere/cat.jpg'"):
        assert sentence in str(caught.value)
    assert isinstance(caught.value, ImageError)
    with pytest.raises(UnreadableImages, match=r"^3 images"):
        taught.predict(images)


def test_an_untaught_learner_stays_untaught() -> None:
    model = fresh()
    images, labels = small_images(120)
    with pytest.raises(UnreadableImages):
        model.learn([*images, BAD], [*labels, "red"])
    assert model.learner.state() == {}
    assert not hasattr(model, "classes_")


def test_a_bad_file_is_named(taught: ImageLearner, tmp_path: Path) -> None:
    (tmp_path / "cat.jpg").write_bytes(BAD)
    with pytest.raises(UnreadableImages, match=r"image 0: .*cat\.jpg: the file is damaged"):
        taught.predict([tmp_path / "cat.jpg"])


def test_skip_learns_as_if_the_bad_ones_had_not_been_there() -> None:
    images, labels = small_images(130)
    clean, dirty = fresh(), fresh()
    assert clean.learn(images, labels) == LessonReport(130, {})
    report = dirty.learn(
        [BAD, *images[:60], b"", *images[60:]], ["red", *labels[:60], "red", *labels[60:]], on_error="skip"
    )
    assert report.learnt == 130
    assert list(report.skipped) == [0, 61]
    assert report.skipped[61] == "the image has no bytes"
    assert unchanged(clean.learner.state(), dirty)


def test_skip_answers_for_the_rest_and_warns(taught: ImageLearner) -> None:
    images, _ = small_images(4, seed=1)
    expected = taught.predict(images).tolist()
    sources = [images[0], BAD, *images[1:], b""]
    with pytest.warns(SkippedImages, match=r"image 1: .*not an image.*; image 5: the image has no bytes"):
        assert taught.predict(sources, on_error="skip").tolist() == [expected[0], None, *expected[1:], None]
    with pytest.warns(SkippedImages):
        missing = np.isnan(taught.predict_proba(sources, on_error="skip"))
    assert missing.all(axis=1).tolist() == missing.any(axis=1).tolist() == [i in (1, 5) for i in range(6)]
    with pytest.warns(SkippedImages):
        guesses = taught.top(sources, 2, on_error="skip")
    assert [len(each) for each in guesses] == [2, 0, 2, 2, 2, 0]
    assert guesses[1] is not guesses[5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert taught.predict(images, on_error="skip").tolist() == expected


def test_nothing_readable(taught: ImageLearner) -> None:
    before = taught.learner.state()
    assert taught.learn([BAD, b""], ["red", "new"], on_error="skip").learnt == 0
    with pytest.warns(SkippedImages):
        assert taught.predict([BAD], on_error="skip").tolist() == [None]
    assert unchanged(before, taught)


def test_another_word_for_on_error_is_refused(taught: ImageLearner) -> None:
    with pytest.raises(ValueError, match='on_error is "raise" or "skip"'):
        taught.predict(small_images(2)[0], on_error="ignore")  # type: ignore[arg-type]


# -- labels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["red"], "got 2 images and 1 labels"),
        (["red"] * 3, "got 2 images and 3 labels"),
        ("red", "expected a list of labels"),
        (None, "expected a list of labels"),
        (np.array(3), "expected a list of labels"),
        ([1, 2], "the labels so far are strings"),
        (["red", 3], "all strings or all whole numbers"),
        ([0.5, 1.5], "continuous"),
    ],
)
def test_labels_are_checked_before_an_image_is_opened(
    labels: Any, sentence: str, taught: ImageLearner, request: pytest.FixtureRequest
) -> None:
    before = taught.learner.state()
    request.getfixturevalue("no_opening")
    with pytest.raises(ValueError, match=sentence):
        taught.learn(small_images(2)[0], labels)
    assert unchanged(before, taught)


@pytest.mark.parametrize("n_labels", [20, 70, 139, 141])
def test_an_iterator_of_another_length_is_learnt_not_at_all(n_labels: int, taught: ImageLearner) -> None:
    images, labels = small_images(140)
    before = taught.learner.state()
    with pytest.raises(ValueError, match=f"images and {n_labels} labels"):
        taught.learn(iter(images), [*labels, "red"][:n_labels])
    assert unchanged(before, taught)


def test_new_classes_and_longer_labels_at_any_time(taught: ImageLearner) -> None:
    white = [np.full((5, 5), 255, np.uint8)] * 3
    assert taught.learn(white, ["white as snow"] * 3).learnt == 3
    assert taught.predict(white).tolist() == ["white as snow"] * 3
    numbers = fresh()
    numbers.learn(small_images(3)[0], [7, 8, 9])
    assert numbers.predict(small_images(3)[0]).dtype == np.int64


# -- all or nothing -----------------------------------------------------------------------------------------


class Interruption(Exception):
    """Stands for Ctrl-C."""


@pytest.mark.parametrize("after", [0, 30, 60, 119])
def test_an_interrupted_lesson_leaves_no_trace(after: int, taught: ImageLearner) -> None:
    images, labels = small_images(120, seed=5)

    def interrupted() -> Iterator[NDArray[np.uint8]]:
        yield from images[:after]
        raise Interruption

    before, learner = taught.learner.state(), taught.learner
    with pytest.raises(Interruption):
        taught.learn(interrupted(), labels)
    assert unchanged(before, taught)
    taught.learn(images, labels)
    assert taught.learner is learner  # who holds the learner sees what it has learnt


def test_a_learner_that_fails_on_the_way_leaves_no_trace(
    taught: ImageLearner, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = taught.learner.state()
    calls = []
    original: Callable[..., Any] = I2CANSAY.partial_fit

    def failing(self: I2CANSAY, *arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise MemoryError
        return original(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(I2CANSAY, "partial_fit", failing)
        with pytest.raises(MemoryError):
            taught.learn(*small_images(150))
    assert unchanged(before, taught)


def test_images_are_taken_from_an_iterator_as_they_are_needed() -> None:
    images, labels = small_images(600)
    alive: WeakSet[io.BytesIO] = WeakSet()
    peak = 0

    def stream() -> Iterator[io.BytesIO]:
        nonlocal peak
        for image in images:
            file = io.BytesIO(file_of(image))
            alive.add(file)
            peak = max(peak, len(alive))
            yield file

    ImageLearner("pixels", threads=2).learn(stream(), labels)
    assert 1 < peak < 100


# -- asking -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_opening")
def test_who_knows_nothing_says_so_before_an_image_is_opened() -> None:
    model = fresh()
    for ask in (model.predict, model.predict_proba, model.top):
        with pytest.raises(NotFittedError, match="teach it with learn first"):
            ask(small_images(2)[0])


def test_no_images_no_answers(taught: ImageLearner) -> None:
    before = taught.learner.state()
    assert taught.learn([], []) == LessonReport(0)
    assert fresh().learn([], []) == LessonReport(0)
    assert taught.predict([]).shape == (0,)
    assert taught.predict_proba([]).shape == (0, 3)
    assert taught.top([]) == []
    assert unchanged(before, taught)


def test_top_ranks_the_probabilities(taught: ImageLearner) -> None:
    images, _ = small_images(10, seed=4)
    probabilities, labels = taught.predict_proba(images), taught.predict(images)
    for guesses, row, label in zip(taught.top(images), probabilities, labels, strict=True):
        assert [guess.probability for guess in guesses] == sorted(row.tolist(), reverse=True)
        assert guesses[0] == Guess(label, row.max())
        assert {guess.label for guess in guesses} == {"blue", "green", "red"}
    assert [len(guesses) for guesses in taught.top(images, 1)] == [1] * 10
    with pytest.raises(ValueError, match="at least 1"):
        taught.top(images, 0)


def test_forget_and_rename(taught: ImageLearner) -> None:
    images, labels = small_images(30, seed=6)
    assert taught.rename("red", "crimson").classes_.tolist() == ["blue", "crimson", "green"]
    expected = [{"red": "crimson"}.get(label, label) for label in labels]
    assert taught.predict(images).tolist() == expected
    assert taught.forget("crimson").classes_.tolist() == ["blue", "green"]
    assert set(taught.predict(images)) == {"blue", "green"}
    taught.forget("blue").forget("green")
    with pytest.raises(NotFittedError):
        taught.predict(images)


# -- making one ---------------------------------------------------------------------------------------------


def test_it_is_at_the_front_door() -> None:
    assert "ImageLearner" in i2cansay.__all__
    assert repr(fresh()) == "<ImageLearner: pixels 4 px -> I2CANSAY, 0 classes>"
    assert type(ImageLearner("pixels").learner) is SharedI2CANSAY
    assert type(ImageLearner("pixels", "slda").learner) is i2cansay.learners.learner_class("slda")


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in i2cansay.LEARNERS
        if not learner_class(name).needs_boundaries and not learner_class(name).reads_images
    ],
)
def test_every_learner_can_be_inside(name: str) -> None:
    # A lift of thousands of dimensions is solved in seconds, and a small one tells as much here.
    lifted = "n_projections" in make_learner(name).get_params()
    model = ImageLearner("pixels", make_learner(name, n_projections=200) if lifted else name, size=4)
    model.learn(*small_images(120))
    images, labels = small_images(30, seed=1)
    assert (model.predict(images) == labels).mean() > 0.9


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ValueError, match="no encoder is called"):
        ImageLearner("pixel")
    with pytest.raises(ValueError, match="there is no learner"):
        ImageLearner("pixels", "i2can")
    with pytest.raises(TypeError, match="expected a learner"):
        ImageLearner("pixels", I2CANSAY)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="open already"):
        ImageLearner(get_encoder("pixels"), size=4)
    with pytest.raises(ValueError, match=r"width 2, the encoder 'pixels' makes 48"):
        ImageLearner("pixels", make_learner("ncm").partial_fit([[1.0, 2.0]], [0]), size=4)


def test_what_changed_after_learning_began_is_not_saved(tmp_path: Path) -> None:
    model = fresh()
    model.learn(*small_images(10))
    model.learner.set_params(significance=False)
    with pytest.raises(ValueError, match="significance changed after learning began"):
        model.save(tmp_path / "model.i2cs")
    assert not (tmp_path / "model.i2cs").exists()


@pytest.mark.parametrize("name", ["i2cansay", "slda"])
def test_images_given_to_a_learner_of_features_are_sent_here(name: str) -> None:
    images: Any = [Image.new("RGB", (8, 8))] * 2
    with pytest.raises(ValueError, match=r"features, \(n, d\).*use ImageLearner"):
        make_learner(name).partial_fit(images, ["a", "b"])


def test_a_learner_by_name_is_told_of_the_blocks_of_the_encoder() -> None:
    staged = ImageLearner("efficientnet-lite0+stages", "i2cansay_shared", size=64)
    assert staged.learner.get_params()["blocks"] == (1280, 1152, 1152, 672)
    assert (
        ImageLearner("efficientnet-lite0", "i2cansay_shared", size=64).learner.get_params()["blocks"] is None
    )
    own = SharedI2CANSAY(lift=0)
    assert ImageLearner("efficientnet-lite0+stages", own, size=64).learner is own
    assert own.blocks is None
