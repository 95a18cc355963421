"""Learning on a real cluster equals learning on one machine, also if a node is killed in the middle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from i2cansay import ImageLearner, load
from i2cansay.core.types import Features
from i2cansay.engines.ray_engine import RayEngine
from i2cansay.fitting import ArrayRows, fit_parts
from i2cansay.learners.base import OnlineClassifier
from tests.cli.shell import good, write_folder
from tests.cluster.two_nodes import TwoNodes
from tests.cluster.work import TracedRows, traces

X, Y = load_digits(return_X_y=True)
ROWS, ASKED = ArrayRows(X[:1500], Y[:1500]), X[1500:]


# Shares of the largest score. A lift is a product in single precision, which rounds otherwise for another number of
# rows: measured on three kernels of OpenBLAS, 1e-7 to 3e-7, and twice that in probabilities.
ROUNDING, ROUNDING_OF_LIFT = 1e-9, 1e-6


def assert_same(
    one: OnlineClassifier, other: OnlineClassifier, within: float = ROUNDING, asked: Features = ASKED
) -> None:
    scores, others = one.class_scores(asked), other.class_scores(asked)
    np.testing.assert_allclose(scores, others, rtol=0, atol=within * np.abs(scores).max())
    np.testing.assert_allclose(one.predict_proba(asked), other.predict_proba(asked), rtol=0, atol=10 * within)
    assert one.verdicts(asked).tolist() == other.verdicts(asked).tolist()
    assert one.classes_.tolist() == other.classes_.tolist()


@pytest.mark.parametrize(
    ("learner", "parameters", "analogies"),
    [
        ("best", {}, None),
        ("small", {"width": 24}, None),
        ("i2cansay_shared", {"lift": 32}, 0.3),
        ("slda", {}, None),
    ],
)
def test_the_model_is_that_of_one_machine(
    nodes: TwoNodes, learner: str, parameters: dict[str, Any], analogies: float | None
) -> None:
    here = fit_parts(ROWS, learner, parameters, parts=1, analogies=analogies)
    with RayEngine(nodes.address) as engine:
        there = fit_parts(ROWS, learner, parameters, parts=6, analogies=analogies, engine=engine)
    assert there.parts == 6
    assert_same(here.learner, there.learner, ROUNDING_OF_LIFT if "lift" in parameters else ROUNDING)


def test_images_stores_and_shards_are_learnt_as_on_one_machine(nodes: TwoNodes, tmp_path: Path) -> None:
    write_folder(tmp_path / "images", 60)
    encoder = ("--encoder", "pixels@4")
    cluster = ("--engine", "ray", "--address", nodes.address)
    stored = ("encode", "image_folder", "--data", tmp_path / "images", *encoder, "--dtype", "float32")
    good(*stored, "--out", tmp_path / "whole", "--split", "train")
    for number in (1, 2):
        good(*stored, "--out", tmp_path / "shards", "--split", "train", "--shard", f"{number}/2")
    (whole,), shards = (sorted((tmp_path / name).glob("image_folder-*")) for name in ("whole", "shards"))
    models = {"images": [tmp_path / "images"], "store": [whole], "shards": shards}
    for name, what in models.items():
        here, there = tmp_path / f"{name}-here.i2cs", tmp_path / f"{name}-there.i2cs"
        good("fit", *what, "-o", here, *encoder)
        said = good("fit", *what, "-o", there, *encoder, *cluster, "--parts", 3)
        assert "in 3 parts, knows 3 classes" in said
        one, other = (ImageLearner.load(path) for path in (here, there))
        asked = one.encoder.encode([path for path, _ in write_folder(tmp_path / "asked", 10, seed=3)])
        assert_same(one.learner, other.learner, asked=asked)


def test_a_node_killed_in_the_middle_changes_nothing(nodes: TwoNodes, tmp_path: Path) -> None:
    here = fit_parts(ROWS, "best", parts=1).learner
    tracks = tmp_path / "traces"
    tracks.mkdir()
    parts = 24
    rows = TracedRows(ROWS, tracks, seconds=0.3)
    with (
        RayEngine(nodes.address) as engine,
        nodes.second_killed_when(lambda: len({process for process, _ in traces(tracks)}) >= 3) as killed,
    ):
        there = fit_parts(rows, "best", parts=parts, engine=engine).learner
    assert killed, "the node was not killed before the work was done"
    # One look in this process, then every part at least once: of two workers, one died with what it had in hand.
    assert len(traces(tracks)) > parts + 1
    assert_same(here, there)


def test_the_command_writes_an_ordinary_file(nodes: TwoNodes, tmp_path: Path) -> None:
    np.savez(tmp_path / "digits.npz", X=ROWS.X, y=ROWS.y)
    said = good(
        "fit", tmp_path / "digits.npz", "-o", tmp_path / "there.i2cs", "--engine", "ray", "--address", nodes.address,
        "--parts", 5,
    )  # fmt: skip
    assert "learnt 1,500 rows in 5 parts, knows 10 classes" in said
    good("fit", tmp_path / "digits.npz", "-o", tmp_path / "here.i2cs")
    assert_same(load(tmp_path / "here.i2cs"), load(tmp_path / "there.i2cs"))
