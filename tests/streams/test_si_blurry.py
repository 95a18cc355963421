"""Si-Blurry."""

import numpy as np
import pytest

from i2cansay.streams.si_blurry import SiBlurryStream


def counts(stream: SiBlurryStream) -> np.ndarray:
    """Rows of each class (columns) in each session (rows)."""
    table = np.zeros((stream.sessions, stream.classes.size), dtype=int)
    for batch in stream:
        table[batch.session] += np.bincount(stream.y[batch.rows], minlength=stream.classes.size)
    return table


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("disjoint", [0.0, 0.5, 0.8, 1.0])
def test_the_share_of_disjoint_classes_keeps_to_one_session(disjoint: float, seed: int) -> None:
    table = counts(SiBlurryStream(y=np.repeat(np.arange(20), 200), disjoint=disjoint, seed=seed))
    assert np.sum(np.sum(table > 0, axis=0) == 1) == 20 * disjoint


@pytest.mark.parametrize("blurry", [0.1, 0.3])
def test_the_share_of_scattered_rows(blurry: float) -> None:
    table = counts(SiBlurryStream(y=np.repeat(np.arange(20), 1000), blurry=blurry))
    spilled = table.sum(axis=0) - table.max(axis=0)
    # A fifth of the scattered rows falls back into the home session by chance.
    assert spilled.sum() / (10 * 1000) == pytest.approx(blurry * 4 / 5, rel=0.1)


def test_scattered_rows_reach_all_sessions_alike() -> None:
    table = counts(SiBlurryStream(y=np.repeat(np.arange(10), 5000), disjoint=0.0, blurry=1.0))
    assert np.abs(table - 1000).max() < 150


def test_nothing_is_scattered_without_blur() -> None:
    table = counts(SiBlurryStream(y=np.repeat(np.arange(10), 30), blurry=0.0))
    assert np.all(np.sum(table > 0, axis=0) == 1)


@pytest.mark.parametrize("n_classes", [5, 7, 12])
def test_home_classes_are_dealt_evenly(n_classes: int) -> None:
    table = counts(SiBlurryStream(y=np.repeat(np.arange(n_classes), 100)))
    homes = np.bincount(table.argmax(axis=0), minlength=5)
    assert homes.max() - homes.min() <= 1
