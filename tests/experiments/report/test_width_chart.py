"""The chart of widths: what it takes from the runs, and what it leaves out."""

from pathlib import Path

from i2cansay.experiments.report.width_chart import TABLE, draw_widths, points_of

RUNS = {
    (TABLE, "rotation 768, cost", 0): {"MB": 3.0},
    (TABLE, "rotation 1024, cost", 0): {"MB": 5.0},
    (TABLE, "all dimensions, cost", 0): {"MB": 54.0},
    **{(TABLE, "rotation 1024, CIFAR-100 30%, stages", seed): {"accuracy": 70.0 + seed} for seed in range(3)},
    (TABLE, "rotation 768, CIFAR-100 30%, stages", 0): {"accuracy": 69.0},
    (TABLE, "rotation 2048, CIFAR-100 30%, stages", 0): {"accuracy": 72.0},
    (TABLE, "components 768, CIFAR-100 30%, stages", 0): {"accuracy": 69.5},
    (TABLE, "all dimensions, CIFAR-100 30%, stages", 0): {"accuracy": 73.0},
}


def test_points_are_means_over_splits_from_narrow_to_wide() -> None:
    assert [point[:2] for point in points_of(RUNS, "rotation", "CIFAR-100 30%")] == [(3.0, 69.0), (5.0, 71.0)]


def test_a_width_without_a_size_or_an_accuracy_is_left_out() -> None:
    assert 72.0 not in {point.accuracy for point in points_of(RUNS, "rotation", "CIFAR-100 30%")}
    assert points_of(RUNS, "rotation", "CIFAR-10 10%") == []


def test_components_weigh_their_basis_as_well() -> None:
    (point,) = points_of(RUNS, "components", "CIFAR-100 30%")
    assert point.basis == 4256 * 768 * 2 / 1e6


def test_it_is_drawn_from_whatever_is_there(tmp_path: Path) -> None:
    for runs in ({}, RUNS):
        draw_widths(runs, tmp_path / "widths.svg")
        assert "principal components of other images" in (tmp_path / "widths.svg").read_text(encoding="utf-8")
    assert "all dimensions" in (tmp_path / "widths.svg").read_text(encoding="utf-8")
