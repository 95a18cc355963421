import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.datasets.cifar_pickle import load_batch

PLANES = np.arange(2 * 3072, dtype=np.uint32).astype(np.uint8).reshape(2, 3072)


def batch(**changes: Any) -> bytes:
    content = {b"data": PLANES, b"labels": [3, 8], b"filenames": [b"a.png", b"b.png"], b"batch_label": b"one"}
    content.update({key.encode(): value for key, value in changes.items()})
    return pickle.dumps(content, protocol=2)


@pytest.mark.parametrize("planes", [PLANES, np.asfortranarray(PLANES)], ids=["by rows", "by columns"])
def test_a_batch_comes_back_as_it_was(planes: np.ndarray[Any, Any]) -> None:
    pixels, labels = load_batch(batch(data=planes), b"labels", "toy")
    assert np.array_equal(pixels, PLANES)
    assert labels.tolist() == [3, 8]


def test_strings_of_python_2_are_read() -> None:
    # Python 2 wrote byte strings with the opcodes U and T, as the official files have them.
    def text(content: bytes) -> bytes:
        return b"T" + len(content).to_bytes(4, "little") + content

    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85" + text(b"b") + b"tR"
        b"(K\x01K\x01M\x00\x0c\x86cnumpy\ndtype\n("
        + text(b"u1")
        + b"K\x00K\x01tR(K\x03"
        + text(b"|")
        + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89"
        + text(PLANES[0].tobytes())
        + b"tb"
    )
    content = b"\x80\x02}(" + text(b"data") + array + text(b"labels") + b"]K\x07au."
    pixels, labels = load_batch(content, b"labels", "toy")
    assert np.array_equal(pixels, PLANES[:1])
    assert labels.tolist() == [7]


class Hostile:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_that_wants_to_run_something_is_refused_before_it_runs(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    with pytest.raises(ValueError, match="is not an official CIFAR batch: it asks for"):
        load_batch(batch(filenames=Hostile(trace)), b"labels", "toy")
    assert not trace.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"garbage",
        batch()[:-200],
        batch(data=[1, 2]),
        batch(labels=[1]),
        batch(labels=["x", "y"]),
        batch(data=PLANES.astype(np.int64)),
        batch(data=PLANES[:, :3000]),
        pickle.dumps([1, 2]),
    ],
)
def test_what_is_not_a_batch_gives_one_clear_error(content: bytes) -> None:
    with pytest.raises(ValueError, match="toy"):
        load_batch(content, b"labels", "toy")
