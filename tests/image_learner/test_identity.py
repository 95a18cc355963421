"""A file names its encoder; with any other it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import i2cansay
from i2cansay import I2CANSAY, ImageLearner, make_learner
from i2cansay.encoders import get_encoder
from i2cansay.learners.model_file import load_with_extra, save
from i2cansay.testing.blobs import blobs
from i2cansay.testing.requirements import state_difference
from tests.image_learner.images import small_images


class Mine(I2CANSAY):
    """A user's own class, in no table."""


@pytest.fixture
def model() -> ImageLearner:
    made = ImageLearner("pixels", I2CANSAY(random_state=0), size=5)
    made.learn(*small_images(60))
    return made


def with_header(path: Path, **changes: str | None) -> None:
    """Write the file again with other lines in its header."""
    with safe_open(path, framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = {**file.metadata(), **changes}
    save_file(arrays, path, metadata={name: text for name, text in header.items() if text is not None})


@pytest.mark.parametrize("name", ["pets.i2cs", "pets", "my pets.safetensors", "猫.jpg"])
def test_saved_and_loaded_it_goes_on_bit_for_bit(name: str, model: ImageLearner, tmp_path: Path) -> None:
    model.save(tmp_path / name)
    loaded = ImageLearner.load(tmp_path / name, threads=1)
    assert loaded.encoder.fingerprint == model.encoder.fingerprint
    assert loaded.encoder.threads == 1
    for each in (model, loaded):
        each.learn(*small_images(120, seed=1))
    assert state_difference(model.learner.state(), loaded.learner.state()) is None
    asked = small_images(20, seed=2)[0]
    assert np.array_equal(model.predict_proba(asked), loaded.predict_proba(asked))


def test_an_untaught_one_has_a_file_too(tmp_path: Path) -> None:
    ImageLearner("pixels", "slda").save(str(tmp_path / "new"))
    loaded = ImageLearner.load(str(tmp_path / "new"))
    assert repr(loaded) == "<ImageLearner: pixels 8 px -> StreamingLDA, 0 classes>"


def test_another_encoder_is_refused(model: ImageLearner, tmp_path: Path) -> None:
    model.save(tmp_path / "pets")
    with pytest.raises(
        ValueError, match=r"pets cannot be opened: it was taught with the encoder 'pixels' at 5"
    ):
        ImageLearner.load(tmp_path / "pets", encoder=get_encoder("pixels", size=6))
    same = get_encoder("pixels", size=5)
    assert ImageLearner.load(tmp_path / "pets", encoder=same).encoder is same
    with pytest.raises(ValueError, match="open already"):
        ImageLearner.load(tmp_path / "pets", encoder=same, threads=1)
    extra = load_with_extra(tmp_path / "pets")[1]
    save(model.learner, tmp_path / "pets", extra={**extra, "encoder_fingerprint": "0" * 64})
    with pytest.raises(ValueError, match="other weights or preprocessing"):
        ImageLearner.load(tmp_path / "pets")


def test_an_encoder_that_is_not_here_is_asked_for(model: ImageLearner, tmp_path: Path) -> None:
    extra = load_with_extra_after_save(model, tmp_path)
    for name in ("net-of-mine", str(tmp_path / "evil.onnx")):
        save(model.learner, tmp_path / "pets", extra={**extra, "encoder": name})
        with pytest.raises(ValueError, match=r"no encoder of that name is here: give the path"):
            ImageLearner.load(tmp_path / "pets")
        # Found under another name it is the same encoder: the fingerprint decides.
        assert ImageLearner.load(tmp_path / "pets", encoder="pixels@5").encoder.name == "pixels"


def test_an_encoder_without_its_weights_says_which(
    model: ImageLearner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("I2CANSAY_DATA", "")
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    extra = load_with_extra_after_save(model, tmp_path)
    save(model.learner, tmp_path / "pets", extra={**extra, "encoder": "resnet18"})
    with pytest.raises(ValueError, match=r"pets.*'resnet18'.*resnet18 needs its weights: get "):
        ImageLearner.load(tmp_path / "pets")


def load_with_extra_after_save(model: ImageLearner, folder: Path) -> dict[str, str]:
    model.save(folder / "pets")
    return load_with_extra(folder / "pets")[1]


@pytest.mark.parametrize(
    "extra",
    ["[]", "no json", '{"encoder": "pixels"}', '{"encoder": "pixels", "encoder_size": "x"}', "{}", None],
)
def test_a_damaged_header_is_a_value_error(extra: str | None, model: ImageLearner, tmp_path: Path) -> None:
    model.save(tmp_path / "pets")
    with_header(tmp_path / "pets", extra=extra)
    with pytest.raises(ValueError, match="pets"):
        ImageLearner.load(tmp_path / "pets")


def test_the_two_kinds_of_file_are_not_taken_for_each_other(model: ImageLearner, tmp_path: Path) -> None:
    model.save(tmp_path / "images")
    with pytest.raises(ValueError, match=r"ImageLearner\.load\(path\)"):
        i2cansay.load(tmp_path / "images")
    learner = make_learner("ncm").partial_fit(*blobs())
    learner.save(tmp_path / "features")
    with pytest.raises(ValueError, match=r"names no encoder: open it with i2cansay\.load"):
        ImageLearner.load(tmp_path / "features")
    assert load_with_extra(tmp_path / "features")[1] == {}


def test_a_class_of_ones_own(tmp_path: Path) -> None:
    made = ImageLearner("pixels", Mine(random_state=0))
    made.learn(*small_images(10))
    made.save(tmp_path / "mine")
    with pytest.raises(ValueError, match="learner=YourClass"):
        ImageLearner.load(tmp_path / "mine")
    assert type(ImageLearner.load(tmp_path / "mine", learner=Mine).learner) is Mine


def test_a_learner_of_features_gets_an_encoder(model: ImageLearner, tmp_path: Path) -> None:
    model.learner.save(tmp_path / "features")
    again = ImageLearner("pixels", i2cansay.load(tmp_path / "features"), size=5)
    asked: list[Any] = list(small_images(10, seed=1)[0])
    assert np.array_equal(again.predict(asked), model.predict(asked))


def test_a_file_remembers_stages_and_views(tmp_path: Path) -> None:
    images, labels = small_images(12)
    made = ImageLearner("efficientnet-lite0+stages+mirror@32", "ncm")
    made.learn(images, labels)
    made.save(tmp_path / "pets")
    loaded = ImageLearner.load(tmp_path / "pets")
    assert loaded.encoder.name == "efficientnet-lite0+stages+mirror"
    assert np.array_equal(loaded.predict_proba(images), made.predict_proba(images))
    with pytest.raises(ValueError, match="other weights or preprocessing"):
        ImageLearner.load(tmp_path / "pets", encoder=get_encoder("efficientnet-lite0@32"))


MADE = "efficientnet-lite0+stages@32"


@pytest.fixture(scope="module")
def of_stages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the stages of an encoder, at a size of its own."""
    path = tmp_path_factory.mktemp("stages") / "pets"
    ImageLearner(MADE, "ncm").save(path)
    return path


@pytest.mark.parametrize(
    "given",
    ["", "@32", "+stages", "+stages@224", "+stages@64", "+mirror@32", "+stages+mirror@32", "+pixels@32"],
)
def test_an_encoder_that_is_given_leaves_nothing_to_the_model(given: str, of_stages: Path) -> None:
    other = get_encoder(f"efficientnet-lite0{given}")
    with pytest.raises(ValueError, match=r"whose features it does not know: leave '.*' out, or") as told:
        ImageLearner.load(of_stages, encoder=f"efficientnet-lite0{given}")
    sentence = str(told.value)
    assert "taught with the encoder 'efficientnet-lite0+stages' at 32 px" in sentence
    assert f"but 'efficientnet-lite0{given}' is the encoder {other.name!r} at " in sentence


def test_a_model_of_the_last_layer_is_not_opened_with_stages(tmp_path: Path) -> None:
    ImageLearner("efficientnet-lite0@32", "ncm").save(tmp_path / "pets")
    with pytest.raises(ValueError, match=r"but 'efficientnet-lite0\+stages@32' is the encoder"):
        ImageLearner.load(tmp_path / "pets", encoder="efficientnet-lite0+stages@32")


def test_the_same_encoder_may_be_spelled_otherwise(of_stages: Path, tmp_path: Path) -> None:
    assert ImageLearner.load(of_stages, encoder=MADE).encoder.preprocessing.size == 32
    ImageLearner("efficientnet-lite0", "ncm").save(tmp_path / "pets")
    assert ImageLearner.load(tmp_path / "pets", encoder="efficientnet-lite0@224").encoder.dim == 1280


def test_a_given_encoder_that_cannot_be_opened_is_named(of_stages: Path) -> None:
    with pytest.raises(ValueError, match="and 'resnet19@32' cannot be opened here: no encoder is called"):
        ImageLearner.load(of_stages, encoder="resnet19@32")
