from pathlib import Path

import numpy as np
import pytest

from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.run.reproduction import reproduce_table, with_defaults
from i2cansay.experiments.run.shared_features import SharedFeatures, share_features


@pytest.fixture
def tiny_cifar10(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    for split, n in (("train", 400), ("test", 100)):
        y = np.arange(n) % 10
        X = 3 * np.eye(12)[y] + rng.normal(size=(n, 12))
        np.savez(tmp_path / f"cifar10_eyes_{split}.npz", X=X.astype(np.float32), y=y)
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path))
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_a_column_whose_data_are_missing_says_so_and_the_others_are_played(tiny_cifar10: Path) -> None:
    choice = Choice(encoder="eyes", rows=["i2cansay"], seeds=1)
    done = reproduce_table("table2", choice, tiny_cifar10 / "records", jobs=1)
    reasons = [entry.why_empty for entry in done.measured.rows[0].entries]
    assert reasons == ["", "", *["not testable here: no core50 with eyes"] * 2]
    assert len(done.unavailable) == 1
    assert "core50" in done.unavailable[0]
    assert "--stand-in plays its columns on 50 classes of cifar100" in done.unavailable[0]
    assert not done.failures


def test_when_nothing_can_be_played_the_reason_is_raised(tiny_cifar10: Path) -> None:
    with pytest.raises(OSError, match=r"(cub200|cifar100) was not found"):
        reproduce_table("table3", Choice(encoder="pixels", seeds=1), tiny_cifar10 / "records", jobs=1)


def test_a_failing_method_costs_no_other_row(tiny_cifar10: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from i2cansay.learners.bounds.naive import Naive

    def fail(self: Naive, n_classes: int) -> None:
        raise RuntimeError("out of ideas")

    monkeypatch.setattr(Naive, "_grow", fail)
    choice = Choice(encoder="eyes", rows=["naive", "i2cansay"], seeds=1)
    done = reproduce_table("sessions", choice, tiny_cifar10 / "records", jobs=1)
    assert [bool(row.records) for row in done.measured.rows] == [False, True]
    assert "out of ideas" in done.failures[0]


def test_digits_default_to_pixels_and_three_seeds_and_others_to_the_declared() -> None:
    assert with_defaults(Choice(dataset="digits")) == Choice(dataset="digits", encoder="pixels", seeds=3)
    assert with_defaults(Choice(dataset="digits", encoder="eyes", seeds=1)).encoder == "eyes"
    assert with_defaults(Choice()) == Choice()


def test_offline_passes_over_a_session_several_times(tiny_cifar10: Path) -> None:
    choice = Choice(encoder="eyes", dataset="cifar10", rows=["i2cansay"], seeds=1)
    done = reproduce_table("table3", choice, tiny_cifar10 / "records", jobs=1)
    for record in done.measured.records:
        assert record.outcome.checkpoints[-1].samples == 40 * 400
        assert record.parameters["lr"] == 0.001
        assert not record.parameters["memory_size"]


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("i2cansay.learners.torch_extra.find_spec", lambda name: None)


@pytest.mark.usefixtures("no_torch")
def test_without_torch_it_says_which_extra_before_anything_is_encoded(
    tiny_cifar10: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []

    def share(dataset: str, encoder: str, **options: object) -> SharedFeatures:
        events.append(f"{dataset} with {encoder}")
        return share_features(dataset, "eyes")

    monkeypatch.setattr("i2cansay.experiments.run.reproduction.share_features", share)
    choice = Choice(dataset="cifar10", rows=["l2p", "single_prompt", "slda"], seeds=1)
    done = reproduce_table("prompts", choice, tiny_cifar10 / "records", jobs=1, report=events.append)
    assert events == [
        "l2p, single_prompt need torch, which is not installed: pip install 'i2cansay[torch]'; "
        "only the other rows are played",
        "cifar10 with deit_tiny@96",
        "cifar10 with deit_tiny@160",
    ]
    reasons = [row.entries[0].why_empty for row in done.measured.rows]
    assert reasons == [*["not testable here: needs the extra torch"] * 2, ""]


@pytest.mark.usefixtures("no_torch")
def test_where_all_rows_need_torch_the_extra_is_what_is_raised(tiny_cifar10: Path) -> None:
    with pytest.raises(ImportError, match=r"^l2p needs torch, .* pip install 'i2cansay\[torch\]'$"):
        reproduce_table("prompts", Choice(rows=["l2p", "l2p_alone"]), tiny_cifar10 / "records", jobs=1)
