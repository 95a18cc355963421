"""`i2cansay learn` and `predict` with features: a shell user teaches a model file in steps."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import i2cansay
from i2cansay.core.types import Float64
from tests.cli.shell import command, refused


def test_the_installed_script_is_that_command() -> None:
    script = Path(sys.executable).with_name("i2cansay")
    result = subprocess.run([script, "predict", "nowhere", "x"], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr == "i2cansay: there is no model file nowhere\n"


def write_csv(path: Path, X: Float64, labels: list[str] | None, label: str = "label") -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*([label] if labels else []), *(f"f{i}" for i in range(X.shape[1]))])
        for row, x in enumerate(X.tolist()):
            writer.writerow([*([labels[row]] if labels else []), *x])
    return path


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the digits below five and the others as CSV, the rest as NPZ to ask about."""
    folder = tmp_path_factory.mktemp("digits")
    X, y = load_digits(return_X_y=True)
    X, names = X / 16, [f"digit {label}" for label in y]
    early = np.flatnonzero(y[:900] < 5)
    late = np.flatnonzero(y[:900] >= 5)
    write_csv(folder / "monday.csv", X[early], [names[i] for i in early])
    write_csv(folder / "tuesday.csv", X[late], [names[i] for i in late], label="what")
    np.savez(folder / "ask.npz", X=X[900:1100], y=np.array(names[900:1100]))
    return folder


def test_teach_in_steps_and_ask(digits: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.i2cs"
    first = command("learn", model, digits / "monday.csv")
    assert (first.returncode, first.stderr) == (0, "")
    assert "knows 5 classes" in first.stdout
    second = command("learn", model, digits / "tuesday.csv", "--label-column", "what")
    assert "knows 10 classes" in second.stdout
    asked = command("predict", model, digits / "ask.npz", "--top", "3")
    rows = list(csv.DictReader(asked.stdout.splitlines()))
    assert len(rows) == 200
    assert all(row["label_1"].startswith("digit ") for row in rows)
    assert all(float(row["probability_1"]) >= float(row["probability_2"]) for row in rows)
    right = float(asked.stderr.split("%")[0])
    assert right > 80


def test_the_answer_can_go_to_a_file(digits: Path, tmp_path: Path) -> None:
    model, out = tmp_path / "model.i2cs", tmp_path / "answer.csv"
    command("learn", model, digits / "monday.csv", "--set", "beta=1.5")
    assert command("predict", model, digits / "ask.npz", "--out", out).stdout == ""
    assert out.read_text().startswith("label,probability\n")
    assert i2cansay.load(model).get_params()["beta"] == 1.5


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("label,a,b\nx,1,2\ny,3\n", "line 3: expected 3 cells"),
        ("label,a,b\nx,1,two\n", "expected a number, got 'two'"),
        (f"label,{','.join(f'f{i}' for i in range(64))}\nx,nan{',1' * 63}\n", "NaN"),
        ("a,b\n1,2\n", "no labels"),
        ("label,a,a\nx,1,2\n", "occurs twice"),
        ("label,a,b\n", "no rows"),
        ("", "is empty"),
        ("label,a,b\n,1,2\n", "line 2: the label is empty"),
        ("label,a,b\nx,1,2\n", "other columns"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_the_model(
    digits: Path, tmp_path: Path, content: str, sentence: str
) -> None:
    model, bad = tmp_path / "model.i2cs", tmp_path / "bad.csv"
    command("learn", model, digits / "monday.csv")
    before = model.read_bytes()
    bad.write_text(content)
    result = command("learn", model, bad)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("i2cansay: ")
    assert sentence in result.stderr
    assert model.read_bytes() == before


def test_a_good_file_before_a_bad_one_is_not_half_learnt(digits: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.i2cs"
    command("learn", model, digits / "monday.csv")
    before = model.read_bytes()
    assert command("learn", model, digits / "ask.npz", tmp_path / "missing.csv").returncode == 2
    assert model.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["learn", "{model}", "{data}", "--set", "beta=1"], "leave out"),
        (["learn", "new.i2cs", "{data}", "--learner", "oracle"], "there is no learner"),
        (["learn", "new.i2cs", "{data}", "--set", "speed=9"], "no parameter speed"),
        (["learn", "new.i2cs", "{data}", "--set", "speed"], "like lr=0.01"),
        (["predict", "nowhere.i2cs", "{data}"], "no model file"),
        (["predict", "{data}", "{data}"], "not a model file"),
    ],
)
def test_a_wrong_call_is_one_sentence(digits: Path, tmp_path: Path, words: list[str], sentence: str) -> None:
    model = tmp_path / "model.i2cs"
    i2cansay.I2CANSAY().partial_fit(np.zeros((1, 64)), ["digit 1"]).save(model)
    places = {"model": model, "data": digits / "monday.csv"}
    result = command(*(word.format(**places) for word in words))
    assert result.returncode == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr


def test_whole_numbers_stay_numbers_and_names_stay_names(tmp_path: Path) -> None:
    X = np.eye(3)
    numbers, names = tmp_path / "numbers.i2cs", tmp_path / "names.i2cs"
    command("learn", numbers, write_csv(tmp_path / "a.csv", X, ["1", "2", "10"]))
    assert i2cansay.load(numbers).classes_.tolist() == [1, 2, 10]
    command("learn", names, write_csv(tmp_path / "b.csv", X, ["x", "007", "7"]))
    command("learn", names, write_csv(tmp_path / "c.csv", X, ["3", "4", "5"]))
    assert i2cansay.load(names).classes_.tolist() == ["007", "3", "4", "5", "7", "x"]


def test_columns_are_known_by_name_not_by_place(digits: Path, tmp_path: Path) -> None:
    model, turned = tmp_path / "model.i2cs", tmp_path / "turned.csv"
    command("learn", model, digits / "monday.csv")
    rows = list(csv.reader((digits / "monday.csv").read_text().splitlines()))
    with turned.open("w", newline="") as file:
        csv.writer(file).writerows([row[::-1] for row in rows])
    straight, reversed_ = (command("predict", model, path) for path in (digits / "monday.csv", turned))
    assert reversed_.stdout == straight.stdout
    assert i2cansay.load(model).classes_.tolist() == [f"digit {i}" for i in range(5)]


def test_the_default_is_the_best_learner(digits: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.i2cs"
    command("learn", model, digits / "monday.csv")
    learner = i2cansay.load(model)
    assert isinstance(learner, i2cansay.SharedI2CANSAY)
    assert (learner.analogies, learner.lift) == (False, 0)
    paper = tmp_path / "paper.i2cs"
    command("learn", paper, digits / "monday.csv", "--learner", "paper")
    assert type(i2cansay.load(paper)) is i2cansay.I2CANSAY


def test_the_old_spelling_of_the_label_column_is_explained(digits: Path, tmp_path: Path) -> None:
    said = refused("learn", tmp_path / "model.i2cs", digits / "tuesday.csv", "--label", "what")
    assert "--label-column" in said


def test_rows_with_doubtful_labels_are_listed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = ["low", "high"] * 60
    X = np.array([[0.0 if label == "low" else 9.0] * 3 for label in labels]) + rng.normal(size=(120, 3))
    labels[90] = "high"  # was low
    said = command("learn", tmp_path / "m.i2cs", write_csv(tmp_path / "a.csv", X, labels)).stdout
    assert "a.csv, row 91" in said
    assert said.count("a.csv, row") == 1
    assert "row 91" not in command("learn", tmp_path / "n.i2cs", tmp_path / "a.csv", "--doubts", "0").stdout


def test_labels_of_two_kinds_in_two_files_are_not_mixed(tmp_path: Path) -> None:
    X = np.eye(3)
    numbers, names = (
        write_csv(tmp_path / "a.csv", X, ["1", "2", "3"]),
        write_csv(tmp_path / "b.csv", X, ["x", "y", "z"]),
    )
    assert "whole numbers" in refused("learn", tmp_path / "m.i2cs", numbers, names)
    assert not (tmp_path / "m.i2cs").exists()


def test_features_are_unlearnt_and_relabelled(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3)) + np.repeat([[0.0], [6.0]], 20, axis=0)
    y = ["low"] * 20 + ["high"] * 20
    right = write_csv(tmp_path / "right.csv", X, y)
    wrong = write_csv(tmp_path / "wrong.csv", X[:1] + 0.1, ["high"])
    model, clean = tmp_path / "m.i2cs", tmp_path / "clean.i2cs"
    command("learn", clean, right)
    command("learn", model, right, wrong)
    assert command("unlearn", model, wrong).stdout.endswith("1 row unlearnt\n")
    np.testing.assert_allclose(
        i2cansay.load(model).class_scores(X), i2cansay.load(clean).class_scores(X), rtol=1e-4, atol=1e-3
    )
    command("learn", model, wrong)
    command("relabel", model, wrong, "--from", "high", "--to", "low")
    assert i2cansay.load(model).class_counts_.tolist() == [20, 21]


def test_features_need_no_encoder(digits: Path, tmp_path: Path) -> None:
    model, monday = tmp_path / "model.i2cs", digits / "monday.csv"
    assert "--encoder is for images" in refused("learn", model, monday, "--encoder", "pixels")
    command("learn", model, monday)
    before = model.read_bytes()
    assert "--encoder is for images" in refused("learn", model, monday, "--encoder", "pixels")
    assert model.read_bytes() == before
