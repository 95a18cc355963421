"""`i2cansay fit`: a whole data set in parts, from stores, tables and images; an ordinary model file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from i2cansay import ImageLearner, load
from i2cansay.features import FeatureStore
from tests.cli.shell import command, good, refused, write_folder

X, Y = load_digits(return_X_y=True)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    np.savez(tmp_path / "digits.npz", X=X[:900], y=Y[:900])
    return tmp_path / "digits.npz"


def test_a_table_is_learnt_and_the_file_is_an_ordinary_one(table: Path, tmp_path: Path) -> None:
    one, many = tmp_path / "one.i2cs", tmp_path / "many.i2cs"
    said = good("fit", table, "-o", one)
    assert "one.i2cs: learnt 900 rows in 1 part, knows 10 classes, calibrated by" in said
    assert "in 6 parts" in good("fit", table, "-o", many, "--parts", 6)
    np.testing.assert_allclose(load(one).predict_proba(X[900:]), load(many).predict_proba(X[900:]), atol=1e-9)
    np.savez(tmp_path / "more.npz", X=X[900:1000], y=Y[900:1000])
    assert "learnt 100 rows" in good("learn", many, tmp_path / "more.npz")
    assert load(many).class_counts_.sum() == 1000


def test_columns_and_labels_of_several_tables_agree(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "x,y,label\n" + "".join(f"{n},{n % 3},cat\n{-n},1,dog\n" for n in range(30))
    )
    (tmp_path / "b.csv").write_text("label,y,x\n" + "".join(f"7,{n % 4},{20 + n}\n" for n in range(30)))
    good("fit", tmp_path / "a.csv", tmp_path / "b.csv", "-o", tmp_path / "m.i2cs", "--parts", 4)
    model = load(tmp_path / "m.i2cs")
    assert model.classes_.tolist() == ["7", "cat", "dog"]
    # "7" is far out in x, which is the second column of its own table.
    assert model.predict([[35.0, 1.0]]).tolist() == ["7"]
    sentence = refused("fit", tmp_path / "b.csv", tmp_path / "a.csv", "-o", tmp_path / "n.i2cs")
    assert "use one type of label" in sentence


def test_values_and_widths_that_cannot_be_learnt_are_told_with_their_file(
    table: Path, tmp_path: Path
) -> None:
    damaged = X[900:1200].copy()
    damaged[211, 3] = np.inf
    np.savez(tmp_path / "more.npz", X=damaged, y=Y[900:1200])
    sentence = refused("fit", table, tmp_path / "more.npz", "-o", tmp_path / "m.i2cs")
    assert "more.npz: row 211 (the first is 0) has infinity in column 3" in sentence
    np.savez(tmp_path / "narrow.npz", X=X[:50, :60], y=Y[:50])
    sentence = refused("fit", table, tmp_path / "narrow.npz", "-o", tmp_path / "m.i2cs")
    assert "has 64 features in a row, this file has 60" in sentence


def test_images_give_the_model_of_their_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    write_folder(tmp_path / "images", 60)
    options = ("--encoder", "pixels@4")
    good("fit", tmp_path / "images", "-o", tmp_path / "images.i2cs", *options, "--parts", 3)
    good(
        "encode",
        "image_folder",
        "--data",
        tmp_path / "images",
        *options,
        "--dtype",
        "float32",
        "--out",
        tmp_path,
    )
    stores = sorted(tmp_path.glob("image_folder-*"))
    good("fit", *stores, "-o", tmp_path / "stores.i2cs", *options)
    good("learn", tmp_path / "learn.i2cs", tmp_path / "images", *options)
    images, stored, learnt = (
        ImageLearner.load(tmp_path / f"{name}.i2cs") for name in ("images", "stores", "learn")
    )
    assert images.classes_.tolist() == stored.classes_.tolist() == ["blue", "green", "red"]
    assert stored.learner.class_counts_.sum() == learnt.learner.class_counts_.sum() == 60
    asked = images.encoder.encode([path for path, _ in write_folder(tmp_path / "asked", 10, seed=3)])
    for other in (stored, learnt):
        np.testing.assert_allclose(
            images.learner.class_scores(asked), other.learner.class_scores(asked), rtol=1e-6, atol=1e-6
        )


def test_what_is_wrong_is_told_before_anything_is_learnt(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.i2cs"
    assert "depends on the order" in refused("fit", table, "-o", out, "--learner", "paper")
    assert "--analogies" in refused("fit", table, "-o", out, "--learner", "i2cansay_shared")
    assert "no head" in refused("fit", table, "-o", out, "--learner", "slda", "--analogies", 0.1)
    assert "expected an engine of local, ray" in refused("fit", table, "-o", out, "--engine", "spark")
    assert "add --engine ray" in refused("fit", table, "-o", out, "--address", "10.0.0.1:6379")
    assert "--encoder is for images" in refused("fit", table, "-o", out, "--encoder", "pixels")
    assert not out.exists()
    good("fit", table, "-o", out, "--learner", "i2cansay_shared", "--set", "lift=0", "--analogies", 0.2)
    assert "exists" in refused("fit", table, "-o", out)


def test_an_unreadable_image_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    files = [path for path, _ in write_folder(tmp_path / "images", 30)]
    os.truncate(files[4], 60)
    sentence = refused("fit", tmp_path / "images", "-o", tmp_path / "m.i2cs", "--encoder", "pixels@4")
    assert files[4].name in sentence
    assert not (tmp_path / "m.i2cs").exists()


def test_shards_give_the_model_of_the_whole_store(tmp_path: Path) -> None:
    words = ("encode", "digits", "--encoder", "pixels@8", "--split", "train")
    good(*words, "--out", tmp_path / "whole")
    for number in (1, 2, 3):
        good(*words, "--out", tmp_path / "shards", "--shard", f"{number}/3")
    (whole,), shards = (sorted((tmp_path / name).glob("digits-*")) for name in ("whole", "shards"))
    good("fit", whole, "-o", tmp_path / "whole.i2cs")
    good("fit", *shards, "-o", tmp_path / "shards.i2cs")
    one, many = (ImageLearner.load(tmp_path / f"{name}.i2cs").learner for name in ("whole", "shards"))
    asked = FeatureStore.open(whole).features[:200].astype(np.float32)
    np.testing.assert_allclose(one.predict_proba(asked), many.predict_proba(asked), rtol=0, atol=1e-12)
    assert one.class_counts_.tolist() == many.class_counts_.tolist()
    for command_ in ("fit", "learn"):
        model = tmp_path / f"two-{command_}.i2cs"
        arguments = (*shards[:2], "-o", model) if command_ == "fit" else (model, *shards[:2])
        done = command(command_, *arguments)
        assert done.returncode == 0
        assert "digits train comes in 3 shards, of which these are not given: 3/3" in done.stderr
    sentence = refused("fit", shards[0], whole, "-o", tmp_path / "twice.i2cs")
    assert "both hold row 0 of digits train, which would be learnt twice" in sentence


def test_what_is_given_twice_is_refused(table: Path, tmp_path: Path) -> None:
    folder, link = tmp_path / "images", tmp_path / "link"
    write_folder(folder, 6)
    link.symlink_to(folder)
    for words in (("fit", "-o", tmp_path / "m.i2cs"), ("learn", tmp_path / "m.i2cs")):
        assert f"{folder} is given twice" in refused(*words, folder, folder)
        assert f"{folder} and {link} are the same" in refused(*words, folder, link)
        assert f"{table} is given twice" in refused(*words, table, table)
    assert not (tmp_path / "m.i2cs").exists()
