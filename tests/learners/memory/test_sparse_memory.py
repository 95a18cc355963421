"""The memory in blocks against the same, one sample at a time."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from i2cansay.learners.memory.sparse_memory import SparseMemory

RATE, PACE = 2 / 21, 2 / 11  # periods of 20 and 10: within a short stream much moves


@dataclass
class LiteralMemory:
    """The published loop, written down as it is printed."""

    n_classes: int
    temperature: float
    relative: bool
    A: np.ndarray
    M: np.ndarray = field(init=False)
    radius: float = 0.0

    def __post_init__(self) -> None:
        self.M = np.zeros((len(self.A), self.n_classes))

    def softmin(self, distances: np.ndarray) -> np.ndarray:
        T = self.temperature * (self.radius if self.relative else 1)
        weights = np.exp(-(distances - distances.min()) / T)
        shares: np.ndarray = weights / weights.sum()
        return shares

    def write(self, x: np.ndarray, y: int) -> None:
        target = np.eye(self.n_classes)[y]
        distances = np.linalg.norm(x - self.A, axis=1)
        self.radius += (distances.min() - self.radius) * PACE
        if distances.min() >= self.radius:
            self.A, self.M = np.vstack([self.A, x]), np.vstack([self.M, target])
        else:
            shares = self.softmin(distances)[:, None]
            self.A = self.A + RATE * shares * (x - self.A)
            self.M = self.M + RATE * shares * (target - self.M)

    def read(self, X: np.ndarray) -> np.ndarray:
        return np.stack([self.softmin(np.linalg.norm(x - self.A, axis=1)) @ self.M for x in X])


def stream(n: int = 200, *, offset: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    y = np.sort(rng.integers(0, 4, n))
    return rng.normal(size=(4, 8))[y] * 2 + rng.normal(size=(n, 8)) + offset, y


def make(temperature: float = 0.2, *, relative: bool = True, n_classes: int = 4) -> SparseMemory:
    memory = SparseMemory(8, temperature=temperature, relative=relative, rate=RATE, pace=PACE)
    memory.resize(n_classes)
    return memory


def write(memory: SparseMemory, X: np.ndarray, y: np.ndarray, batch: int, **options: Any) -> None:
    for start in range(0, len(X), batch):
        rows = slice(start, start + batch)
        memory.write(X[rows], y[rows], limit=10_000, **options)


@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize(("temperature", "relative"), [(0.02, True), (0.3, True), (0.7, False)])
@pytest.mark.parametrize("batch", [1, 50, 200])
def test_blocks_give_what_the_literal_loop_gives(
    batch: int, temperature: float, relative: bool, offset: float
) -> None:
    X, y = stream(offset=offset)
    literal = LiteralMemory(4, temperature, relative, np.zeros((1, 8)))
    for x, label in zip(X, y, strict=True):
        literal.write(x, int(label))
    memory = make(temperature, relative=relative)
    write(memory, X, y, batch)
    assert 30 < len(literal.A) < 190  # both storing and moving took place
    assert len(memory) == len(literal.A)
    assert memory.radius == pytest.approx(literal.radius, rel=1e-4)
    np.testing.assert_allclose(memory.addresses[1:], literal.A[1:], atol=1e-3)
    np.testing.assert_allclose(memory.contents, literal.M, atol=1e-4)
    np.testing.assert_allclose(memory.read(X), literal.read(X), atol=1e-3)


def test_it_stops_with_the_sample_that_makes_one_row_too_many() -> None:
    X, y = stream()
    memory, whole = make(), make()
    written = 0
    while len(memory) <= 40:
        written += memory.write(X[written:], y[written:], limit=40)
    assert len(memory) == 41
    write(whole, X[:written], y[:written], 1)
    np.testing.assert_allclose(memory.addresses, whole.addresses, atol=1e-4)
    assert written < len(X)
    assert memory.write(X[written:], y[written:], limit=40) == 0


def test_a_weight_of_two_moves_twice() -> None:
    X = np.array([[1.0] * 8, [-1.0] * 8, [0.9] * 8])
    once, twice, heavy = make(), make(), make()
    for memory in (once, twice, heavy):
        memory.write(X[:2], np.array([0, 1]), limit=99)
    addresses = heavy.addresses
    heavy.write(X[2:], np.array([0]), limit=99, weights=np.array([2.0]))
    once.write(X[2:], np.array([0]), limit=99)
    moved, moved_once = heavy.addresses - addresses, once.addresses - addresses
    nearest = 1
    np.testing.assert_allclose(moved[nearest], (2 - RATE) * moved_once[nearest], rtol=1e-3)
    huge = make()
    write(huge, *stream(), 50)
    huge.write(X, np.array([0, 1, 2]), limit=999, weights=np.full(3, 1e9))
    assert np.isfinite(huge.addresses).all()


def test_what_is_read_is_a_mean_of_what_was_written() -> None:
    X, y = stream()
    memory = make()
    write(memory, X, y, 50)
    answers = memory.read(X * 3)
    assert (answers >= 0).all()
    assert (answers.sum(axis=1) <= 1 + 1e-5).all()
    assert (memory.read(X).argmax(axis=1) == y).mean() > 0.7


def test_pruning_keeps_the_thin_places_and_every_class() -> None:
    X, y = stream()
    memory = make()
    write(memory, X, y, 50)
    before = {row.tobytes() for row in memory.addresses}
    memory.prune(20, n_neighbors=10)
    assert len(memory) == 20
    assert {row.tobytes() for row in memory.addresses} <= before
    assert np.bincount(memory.contents.argmax(axis=1), minlength=4).tolist() == [5, 5, 5, 5]
    memory.prune(18, n_neighbors=10)
    assert np.bincount(memory.contents.argmax(axis=1), minlength=4).min() >= 18 // 4
    memory.prune(30, n_neighbors=10)
    assert len(memory) == 18


def test_dropping_a_class_takes_its_rows_and_its_column() -> None:
    X, y = stream()
    memory = make()
    write(memory, X, y, 50)
    others = memory.addresses[memory.owners != 1]
    memory.drop(1)
    np.testing.assert_array_equal(memory.addresses, others)
    assert memory.contents.shape == (len(others), 3)
    assert (memory.read(X[y == 3]).argmax(axis=1) == 2).mean() > 0.7
    for _ in range(3):
        memory.drop(0)
    memory.resize(2)
    memory.write(X, y % 2, limit=99)
    assert np.isfinite(memory.read(X)).all()


def test_a_memory_taken_over_goes_on_as_before() -> None:
    X, y = stream()
    memory, other = make(), make()
    write(memory, X[:120], y[:120], 50)
    other.restore({name: array.copy() for name, array in memory.state().items()}, 4)
    for part in (memory, other):
        write(part, X[120:], y[120:], 50)
    np.testing.assert_array_equal(memory.addresses, other.addresses)
    np.testing.assert_array_equal(memory.read(X), other.read(X))
    with pytest.raises(ValueError, match="expected contents of 3 classes"):
        make().restore(memory.state(), 3)
    with pytest.raises(ValueError, match="one centre of width 8"):
        make().restore({**memory.state(), "centre": np.zeros(7)}, 4)
