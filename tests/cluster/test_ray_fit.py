"""Learning on a real cluster equals learning on one machine, also if a node is killed in the middle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from i2cansay import load
from i2cansay.engines.ray_engine import RayEngine
from i2cansay.fitting import ArrayRows, fit_parts
from i2cansay.learners.base import OnlineClassifier
from tests.cli.shell import good
from tests.cluster.two_nodes import TwoNodes
from tests.cluster.work import TracedRows, traces

X, Y = load_digits(return_X_y=True)
ROWS, ASKED = ArrayRows(X[:1500], Y[:1500]), X[1500:]


# Random projections are products in single precision, which round otherwise for another number of rows.
ROUNDING, ROUNDING_OF_LIFT = 1e-9, 1e-4


def assert_same(one: OnlineClassifier, other: OnlineClassifier, within: float = ROUNDING) -> None:
    np.testing.assert_allclose(one.class_scores(ASKED), other.class_scores(ASKED), rtol=within, atol=within)
    np.testing.assert_allclose(one.predict_proba(ASKED), other.predict_proba(ASKED), atol=within)
    assert one.verdicts(ASKED).tolist() == other.verdicts(ASKED).tolist()
    assert one.classes_.tolist() == other.classes_.tolist()


@pytest.mark.parametrize(("learner", "analogies"), [("best", None), ("i2cansay_shared", 0.3), ("slda", None)])
def test_the_model_is_that_of_one_machine(nodes: TwoNodes, learner: str, analogies: float | None) -> None:
    parameters = {"lift": 32} if learner == "i2cansay_shared" else {}
    here = fit_parts(ROWS, learner, parameters, parts=1, analogies=analogies)
    with RayEngine(nodes.address) as engine:
        there = fit_parts(ROWS, learner, parameters, parts=6, analogies=analogies, engine=engine)
    assert there.parts == 6
    assert_same(here.learner, there.learner, ROUNDING_OF_LIFT if parameters else ROUNDING)


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
