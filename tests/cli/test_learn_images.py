"""`i2cansay learn` with images: from folders, files, lists and stores; all of it or nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from i2cansay import ImageLearner
from i2cansay.cli.learn import CHOICES_HELP
from i2cansay.encoders import get_encoder
from i2cansay.learners.choices import CHOICES
from tests.cli.shell import command, good, refused, write_folder
from tests.encoders.test_onnx_file import several_outputs
from tests.image_learner.images import small_images

PIXELS = ("--encoder", "pixels@4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("colours")
    write_folder(folder, 120)
    return folder


def accuracy(model: Path) -> float:
    return ImageLearner.load(model).score(*small_images(30, seed=9))


def test_a_folder_with_a_subfolder_per_class(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.i2cs"
    assert good("learn", model, folder, *PIXELS) == f"{model}: learnt 120 images, knows 3 classes\n"
    assert accuracy(model) == 1.0
    assert "learnt 120 images, knows 3 classes" in good("learn", model, folder)
    learner = ImageLearner.load(model).learner
    assert learner.class_counts_.sum() == 240


def test_the_order_of_a_folder_does_not_decide(folder: Path, tmp_path: Path) -> None:
    """A linear layer that is trained class by class knows only the last class."""
    model = tmp_path / "m.i2cs"
    good("learn", model, folder, *PIXELS, "--learner", "naive")
    assert accuracy(model) > 0.8


def test_images_with_a_label_and_a_pattern(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.i2cs"
    for label in ("blue", "green", "red"):
        good("learn", model, folder / label / "*.png", "--label", label, *(PIXELS if label == "blue" else ()))
    good("learn", model, folder / "red", "--label", "crimson")
    assert ImageLearner.load(model).classes_.tolist() == ["blue", "crimson", "green", "red"]
    assert "without a label; add --label" in refused("learn", model, *(folder / "red").glob("*.png"))


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_list_of_paths_and_labels(ending: str, folder: Path, tmp_path: Path) -> None:
    """Paths are relative to the list."""
    here = Path(os.path.relpath(folder, tmp_path))
    rows = [
        (str(here / file.relative_to(folder)), file.parent.name) for file in sorted(folder.rglob("*.png"))
    ]
    listed = tmp_path / f"list.{ending}"
    if ending == "csv":
        listed.write_text("label,path\n" + "".join(f"{label},{path}\n" for path, label in rows))
    else:
        listed.write_text("".join(json.dumps({"file": path, "label": label}) + "\n" for path, label in rows))
    good("learn", tmp_path / "m.i2cs", listed, *PIXELS)
    assert accuracy(tmp_path / "m.i2cs") == 1.0


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("list.csv", "path,label\na.png,\n", "line 2: expected a label"),
        ("list.csv", "path,what\na.png,red\n", "--label-column"),
        ("list.csv", "path,label\na.png\n", "line 2: expected as many cells"),
        ("list.csv", "path,label\n", "names no images"),
        ("list.jsonl", '{"label": "red"}\n', "line 1: expected the path"),
        ("list.jsonl", "red\n", "line 1: expected an object"),
        ("list.csv", "path,label\ngone.png,red\n", "gone.png"),
    ],
)
def test_a_bad_list_is_one_sentence(name: str, content: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert sentence in refused("learn", tmp_path / "m.i2cs", tmp_path / name, *PIXELS)
    assert not (tmp_path / "m.i2cs").exists()


def test_a_feature_store_teaches_its_encoder(folder: Path, tmp_path: Path) -> None:
    good(
        "encode", "image_folder", "--data", folder, *PIXELS, "--split", "train", "--out", tmp_path / "stores"
    )
    (store,) = (tmp_path / "stores").iterdir()
    model = tmp_path / "m.i2cs"
    assert "at 8 px" in refused("learn", model, store)  # a store does not say the size
    good("learn", model, store, *PIXELS)
    assert accuracy(model) == 1.0
    good("learn", model, folder)


def test_wrong_labels_are_listed_by_file(tmp_path: Path) -> None:
    write_folder(tmp_path / "day", 150, wrong=(140, 145))
    said = good("learn", tmp_path / "m.i2cs", tmp_path / "day", *PIXELS)
    listed = {line.split()[0].rsplit("/", 1)[1] for line in said.splitlines() if ".png" in line}
    assert listed == {"140.png", "145.png"}
    assert "Labels to check" not in good(
        "learn", tmp_path / "n.i2cs", tmp_path / "day", *PIXELS, "--doubts", "0"
    )


def test_bad_images_stop_everything_or_are_skipped(folder: Path, tmp_path: Path) -> None:
    model, extra = tmp_path / "m.i2cs", tmp_path / "extra" / "red"
    good("learn", model, folder, *PIXELS)
    before = model.read_bytes()
    extra.mkdir(parents=True)
    Image.new("RGB", (9, 9), (200, 0, 0)).save(extra / "good.png")
    (extra / "bad.png").write_bytes(b"no image")
    said = refused("learn", model, tmp_path / "extra")
    assert "bad.png" in said
    assert "--skip-bad" in said
    assert model.read_bytes() == before
    result = command("learn", model, tmp_path / "extra", "--skip-bad")
    assert (result.returncode, result.stdout) == (0, f"{model}: learnt 1 image, knows 3 classes\n")
    assert "bad.png" in result.stderr
    (extra / "good.png").unlink()
    assert "none of the images can be read" in refused("learn", model, tmp_path / "extra", "--skip-bad")


def test_an_interrupt_leaves_the_file(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "m.i2cs"
    good("learn", model, folder, *PIXELS)
    before = model.read_bytes()

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("i2cansay.encoders.encoder.Encoder.encode_each", interrupted)
    assert command("learn", model, folder).returncode != 0
    assert model.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["m.i2cs"]


def test_what_another_process_taught_meanwhile_is_not_lost(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "m.i2cs"
    good("learn", model, folder, *PIXELS)
    learn = ImageLearner.learn

    def slowly(self: ImageLearner, *arguments: object, **options: object) -> object:
        ImageLearner.load(model).rename("red", "crimson").save(model)
        return learn(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(ImageLearner, "learn", slowly)
    assert "another process has changed" in refused("learn", model, folder)
    assert "crimson" in ImageLearner.load(model).classes_


def test_the_wrong_kind_is_told(folder: Path, tmp_path: Path) -> None:
    images, features, table = tmp_path / "images.i2cs", tmp_path / "features.i2cs", tmp_path / "x.csv"
    table.write_text("label,a,b\nx,1,2\ny,3,4\n")
    good("learn", images, folder, *PIXELS)
    good("learn", features, table)
    for verb in ("learn", "test", "unlearn"):
        assert "is a model of images" in refused(verb, images, table)
        assert "is a model of features" in refused(verb, features, folder)
    assert "is a model of images" in refused("predict", images, table)
    assert "is a model of features" in refused("predict", features, folder)
    assert "one kind" in refused("learn", tmp_path / "new.i2cs", folder, table)
    assert "one kind" in refused("merge", images, features, "-o", tmp_path / "both.i2cs")
    assert "model of features" in refused("watch", folder, "--model", features)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{tmp}/m.i2cs", "{tmp}/nowhere"], "there is no file or folder"),
        (["{tmp}/nowhere/m.i2cs", "{folder}"], "there is no folder"),
        (["{tmp}", "{folder}"], "is a folder; expected the path of a model file"),
        (["{tmp}/m.i2cs", "{folder}/red"], "no subfolder per class"),
        (["{tmp}/m.i2cs", "{folder}", "--learner", "oracle"], "there is no learner"),
        (["{tmp}/m.i2cs", "{folder}", "--encoder", "oracle"], "no encoder is called"),
        (["{tmp}/m.i2cs", "{folder}", "--set", "speed=9"], "no parameter speed"),
        (["{tmp}/m.i2cs", "{folder}", "--batch-size", "9"], "files of features"),
    ],
)
def test_a_wrong_call_is_one_sentence(folder: Path, tmp_path: Path, words: list[str], sentence: str) -> None:
    assert sentence in refused("learn", *(word.format(tmp=tmp_path, folder=folder) for word in words))


def test_train_and_test_folders(tmp_path: Path) -> None:
    write_folder(tmp_path / "data" / "train", 60)
    write_folder(tmp_path / "data" / "test", 30, seed=1)
    model = tmp_path / "m.i2cs"
    assert "learnt 60 images, knows 3 classes" in good("learn", model, tmp_path / "data", *PIXELS)
    assert "of 30 samples" in good("test", model, tmp_path / "data")


def test_whole_numbers_of_a_model_stay_numbers(tmp_path: Path) -> None:
    images, _ = small_images(6)
    model = ImageLearner("pixels", size=4)
    model.learn(images, [1, 1, 1, 2, 2, 2])
    model.save(tmp_path / "m.i2cs")
    for label in ("2", "3"):
        folder = tmp_path / "more" / label
        folder.mkdir(parents=True)
        Image.fromarray(np.asarray(images[0])).save(folder / "a.png")
    good("learn", tmp_path / "m.i2cs", tmp_path / "more")
    assert ImageLearner.load(tmp_path / "m.i2cs").classes_.tolist() == [1, 2, 3]
    (tmp_path / "more" / "2").rename(tmp_path / "more" / "two")
    assert "whole numbers" in refused("learn", tmp_path / "m.i2cs", tmp_path / "more")


def test_the_help_says_what_the_choices_say() -> None:
    assert "; ".join(f"{name} ({choice.words})" for name, choice in CHOICES.items()) == CHOICES_HELP


def test_the_real_encoder_end_to_end(tmp_path: Path) -> None:
    """The default learner on stages, at a size that is quick."""
    write_folder(tmp_path / "day", 12)
    model = tmp_path / "m.i2cs"
    good("learn", model, tmp_path / "day", "--encoder", "efficientnet-lite0+stages@32")
    learner = ImageLearner.load(model).learner
    assert learner.get_params()["blocks"] == (1280, 1152, 1152, 672)
    assert "accuracy" in good("test", model, tmp_path / "day")


def test_a_model_of_images_takes_no_other_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's own network by its added name and by its path; it takes 10 pixels."""
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    write_folder(tmp_path / "day", 6)
    net, by_path = several_outputs(tmp_path / "net.onnx"), tmp_path / "by_path.i2cs"
    good("encoder", "add", "mynet", "--weights", net)
    for model, base in ((tmp_path / "m.i2cs", "mynet"), (by_path, str(net))):
        good("learn", model, tmp_path / "day", "--learner", "ncm", "--encoder", f"{base}+stages")
        before = model.read_bytes()
        for other in ("mynet", f"{net}@10"):
            sentence = refused("learn", model, tmp_path / "day", "--encoder", other)
            assert (
                f"+stages' at 10 px (fingerprint {get_encoder(f'{net}+stages').fingerprint[:12]})" in sentence
            )
            assert f"but {other!r} is the encoder " in sentence
            assert (f"leave {other!r} out" if base == "mynet" else "as PATH+stages@10, or") in sentence
            assert f"but {other!r} is" in refused("predict", model, tmp_path / "day", "--encoder", other)
        sentence = refused("learn", model, tmp_path / "day", "--encoder", f"{base}+stages@20")
        assert f"and '{base}+stages@20' cannot be opened here: " in sentence
        assert "size=10" not in sentence
        assert model.read_bytes() == before
    assert "followed by +stages@10, or add it" in refused("learn", by_path, tmp_path / "day")
    for spelling in ("mynet+stages", f"{net}+stages@10", str(net)):
        assert "learnt 6 images" in good("learn", by_path, tmp_path / "day", "--encoder", spelling)
