"""Real processes: killed without warning, and two at once."""

import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from i2cansay.disk.file_lock import exclusive
from i2cansay.features import encode_dataset
from tests.features.synthetic import FakeEncoder, make_dataset

ROOT = Path(__file__).parents[2]
PARTS = ("features.npy", "labels.npy", "rows.npy", "header.json", "journal.json")


def start(folder: Path, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.features.synthetic", str(folder), str(seconds)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def finished(folder: Path) -> dict[str, bytes]:
    (path,) = folder.iterdir()
    return {name: (path / name).read_bytes() for name in PARTS}


@pytest.fixture
def expected(tmp_path: Path) -> dict[str, bytes]:
    encode_dataset(make_dataset(), FakeEncoder(), "train", folder=tmp_path / "undisturbed", chunk_rows=8)
    return finished(tmp_path / "undisturbed")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_killed_at_random_moments_it_ends_with_the_same_bytes(
    tmp_path: Path, expected: dict[str, bytes]
) -> None:
    rng = np.random.default_rng(0)
    folder = tmp_path / "killed"
    begun = []
    for _ in range(3):
        with start(folder, 0.05) as process:
            assert process.stdout is not None
            begun.append(int(process.stdout.readline()))
            # A few batches, so that a chunk was committed, and then any moment of the next batch.
            for _ in range(rng.integers(3, 6)):
                process.stdout.readline()
            time.sleep(rng.uniform(0, 0.05))
            process.kill()
            assert process.wait() == -signal.SIGKILL
    with start(folder, 0.0) as process:
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0
    begun.append(int(output.split()[0]))
    assert finished(folder) == expected
    # Every run went on behind what the one before had committed, and the last one had work left.
    assert all(earlier < later for earlier, later in pairwise(begun))
    assert begun[-1] < 100


def test_two_at_once_encode_every_image_once(tmp_path: Path, expected: dict[str, bytes]) -> None:
    folder = tmp_path / "shared"
    (undisturbed,) = (tmp_path / "undisturbed").iterdir()
    with ExitStack() as held:
        # Hold the store's lock until both processes have met it; then they go for it together.
        held.enter_context(exclusive(folder / undisturbed.name / "lock"))
        processes = [start(folder, 0.0) for _ in range(2)]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "waiting\n"
        held.close()
        outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    # One encoded everything, the other read the result.
    idle, busy = sorted(outputs)
    assert idle == ""
    assert [int(line) for line in busy.split()] == list(range(0, 101, 4))
    assert finished(folder) == expected
