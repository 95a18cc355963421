"""Every class gets its share, whenever it comes, and no class more than that once the others need it."""

import numpy as np
import pytest
from scipy import stats

from i2cansay.core.types import Rows
from i2cansay.learners.replay.greedy_buffer import GreedyBuffer


def shown(size: int, classes: Rows, rng: np.random.Generator, *, batch: int = 7) -> GreedyBuffer:
    buffer = GreedyBuffer(size, 1)
    for start in range(0, len(classes), batch):
        part = np.arange(start, min(len(classes), start + batch))
        buffer.add(part[:, None].astype(np.float32), classes[part], rng)
    return buffer


def literal(size: int, classes: Rows, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Run the published algorithm on plain lists; return (sample, class) of what is held, sorted."""
    held: dict[int, list[int]] = {}
    places: list[tuple[int, int]] = []
    for sample, row in enumerate(classes.tolist()):
        share = size / len({*held, row})
        if row in held and len(held[row]) >= share:
            continue
        if sum(map(len, held.values())) >= size:
            most = max(map(len, held.values()))
            largest = min(known for known, members in held.items() if len(members) == most)
            mine = [place for place, (_, known) in enumerate(places) if known == largest]
            place = mine[int(rng.integers(len(mine)))]
            held[largest].remove(places[place][0])
            places[place] = (sample, row)
        else:
            places.append((sample, row))
        held.setdefault(row, []).append(sample)
    return sorted(places)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_published_algorithm(seed: int) -> None:
    classes = np.random.default_rng(seed).choice(5, size=300, p=[0.5, 0.3, 0.1, 0.06, 0.04])
    classes = np.sort(classes) if seed == 0 else classes
    buffer = shown(23, classes, np.random.default_rng(seed))
    held = sorted(
        zip(buffer.memory.rows.ravel().astype(int).tolist(), buffer.memory.classes.tolist(), strict=True)
    )
    assert held == literal(23, classes, np.random.default_rng(seed))


@pytest.mark.parametrize("order", ["by class", "backwards", "shuffled"])
def test_it_is_balanced(order: str) -> None:
    classes = np.repeat([0, 1, 2, 3], [200, 60, 90, 40])
    if order != "by class":
        shuffled = np.random.default_rng(1).permutation(classes)
        classes = classes[::-1] if order == "backwards" else shuffled
    for size in (40, 30):
        counts = shown(size, classes, np.random.default_rng(0)).memory.class_counts(4)
        assert counts.sum() == size
        assert np.ptp(counts) <= 1


def test_whoever_leaves_a_full_class_is_chosen_at_random() -> None:
    classes = np.repeat([0, 1], [10, 5])
    counts = np.zeros(10)
    for seed in range(2000):
        rows = shown(10, classes, np.random.default_rng(seed)).memory.rows.ravel().astype(int)
        counts[rows[rows < 10]] += 1
    assert counts.sum() == 2000 * 5
    assert stats.chisquare(counts).pvalue > 1e-3


def test_batches_do_not_matter() -> None:
    classes = np.random.default_rng(3).integers(0, 3, 100)
    one, other = (shown(9, classes, np.random.default_rng(0), batch=batch) for batch in (1, 100))
    np.testing.assert_array_equal(one.memory.rows, other.memory.rows)


def test_more_classes_than_places_and_no_place_at_all() -> None:
    classes = np.arange(60) % 10
    assert shown(3, classes, np.random.default_rng(0)).memory.class_counts(10).max() == 1
    assert len(shown(0, classes, np.random.default_rng(0))) == 0


def test_a_forgotten_class_leaves_its_share_to_the_others() -> None:
    buffer = shown(12, np.arange(60) % 4, np.random.default_rng(0))
    buffer.drop(0)
    assert buffer.memory.class_counts(3).tolist() == [3, 3, 3]
    buffer.add(np.full((10, 1), 99.0), np.arange(10) % 3, np.random.default_rng(0))
    assert buffer.memory.class_counts(3).tolist() == [4, 4, 4]
    buffer.discard(np.array([[99.0]]), np.array([1]))
    assert buffer.memory.class_counts(3).tolist() == [4, 3, 4]


def test_state_restores_and_counts_its_bytes() -> None:
    classes = np.arange(50) % 3
    buffer, again = shown(7, classes, np.random.default_rng(0)), GreedyBuffer(7, 1)
    again.restore(buffer.state(), 3)
    for one in (buffer, again):
        one.add(np.arange(100.0, 150.0)[:, None], classes + 1, np.random.default_rng(5))
    np.testing.assert_array_equal(buffer.memory.rows, again.memory.rows)
    assert buffer.n_bytes == 7 * (4 + 8)
    with pytest.raises(ValueError, match="beyond"):
        GreedyBuffer(7, 1).restore(buffer.state(), 3)
