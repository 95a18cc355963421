"""Searching the disk for what was taught."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from i2cansay.encoders import get_encoder
from i2cansay.service.model.requests import Forget, Learn, Undo
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.storage import database_file
from i2cansay.service.storage.database import Database
from tests.service.material import SHARED, WIDTH, make_image, new_model, rows, teach
from tests.service.process import Process
from tests.service.sending import form


def raw_bytes(folder: Path) -> bytes:
    """Return every byte of every file in a folder."""
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def windows(values: NDArray[Any], length: int = 4) -> Iterator[bytes]:
    """Yield every stretch of a few consecutive values, as bytes."""
    flat = np.ascontiguousarray(values).reshape(-1)
    for start in range(len(flat) - length + 1):
        yield flat[start : start + length].tobytes()


def found(raw: bytes, values: NDArray[Any], length: int = 4) -> bool:
    """Tell whether a stretch of the values lies in the bytes, in single or double precision."""
    return any(
        window in raw for kind in (np.float32, np.float64) for window in windows(values.astype(kind), length)
    )


def test_no_image_no_name_no_feature_on_disk_or_in_the_log(process: Process, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    encoder = get_encoder("pixels")
    images = [
        make_image(colour, rng, kind=kind) for colour in ("red", "green") for kind in ("PNG", "JPEG", "PNG")
    ]
    images.append(make_image("blue", rng))  # a class of one
    process.start()
    process.client.create("line-3")
    for number, data in enumerate(images):
        label = ("red", "green", "blue")[number // 3]
        body, kind = form([("images", f"secret-name-{number}.png", data)], {"labels": label})
        headers = {"content-type": kind, "idempotency-key": f"secret-name-{number}.png"}
        process.client.call("POST", "/v1/models/line-3/learn", body, headers=headers)
        bad, kind = form([("images", f"secret-name-{number}.png", data[:40])], {"labels": label})
        with pytest.raises(Exception, match="image 1"):
            process.client.call("POST", "/v1/models/line-3/learn", bad, headers={"content-type": kind})
    process.client.model("line-3").predict(images=images)
    while_running = raw_bytes(tmp_path)
    process.kill()
    after = raw_bytes(tmp_path)
    assert b"green" in after  # what may be there is found
    for raw in (while_running, after):
        assert b"secret-name" not in raw
        for data in images:
            pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
            assert not found(raw, encoder.encode([data])[0])
            assert not any(window in raw for window in windows(encoder.prepare(data), 12))
            assert not any(window in raw for window in windows(pixels, 12))
            assert data[40:72] not in raw
            assert base64.b64encode(data)[60:90] not in raw


def previous_states(
    model: ServedModel, folder: Path, taught: int
) -> Iterator[tuple[bytes, dict[str, Any], dict[str, Any]]]:
    """Teach one sample after the other; yield the raw files with the state before and after each."""
    rng = np.random.default_rng(1)
    teach(model, ["a", "a", "b", "b", "c", "c"], rng)
    for number in range(taught):
        before = model.state().learner.state()
        teach(model, ["abc"[number % 3]], rng)
        yield raw_bytes(folder), before, model.state().learner.state()


STATISTICS = {
    "paper": ({"learner": "i2cansay"}, ("moments.mean", "moments.m2", "head.weights")),
    **{name: (made, ("scatter.mean", "scatter.matrix")) for name, made in SHARED.items()},
}


@pytest.mark.parametrize("kind", STATISTICS)
def test_of_two_successive_states_only_the_later_is_on_disk(tmp_path: Path, kind: str) -> None:
    made, statistics = STATISTICS[kind]
    model = new_model(tmp_path, **made)
    for raw, before, after in previous_states(model, tmp_path, 30):
        for name in statistics:
            for old, new in zip(*(np.atleast_2d(state[name]) for state in (before, after)), strict=True):
                if not np.array_equal(old, new):
                    assert not found(raw, old)
            assert found(raw, np.atleast_2d(after[name])[0])  # the search does find what is there
    model.close()
    assert not found(raw_bytes(tmp_path), np.atleast_2d(before[statistics[-1]])[0])


def test_large_states_leave_no_older_pages_either(tmp_path: Path) -> None:
    # Rows of several pages each, classes that come and go: pages are freed and used again.
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    seen: list[NDArray[Any]] = []
    for round_ in range(4):
        for label in (f"x{round_}", f"y{round_}"):
            X = rows([label] * 2, rng, width=1500)
            model.teach(Learn(X, (label, label))).result()
            seen.append(model.state().learner.state()["moments.mean"][-1].copy())
            lesson: Any = model.teach(Learn(rows([label], rng, width=1500), (label,))).result()
            model.teach(Undo(lesson.lesson)).result()
            model.teach(Learn(rows([label], rng, width=1500), (label,))).result()
    raw = raw_bytes(tmp_path)
    assert not any(found(raw, old[::1][:200]) for old in seen)
    model.close()


def reconstructions(raw: bytes, mean: NDArray[np.float64], count: int, x: NDArray[Any]) -> int:
    """Try to take a sample from two successive means: how many of its values come out?

    If the mean before were anywhere in the bytes, n m_n - (n - 1) m_(n-1) would give the sample.
    """
    hits = 0
    needed = (count * mean - x.astype(np.float64)) / (count - 1)
    values = [
        np.frombuffer(raw[shift : len(raw) - (len(raw) - shift) % 8], dtype="<f8") for shift in range(8)
    ]
    with np.errstate(invalid="ignore"):
        for value in needed:
            hits += any(bool(np.any(np.abs(array - value) < 1e-9 * abs(value))) for array in values)
    return hits


def last_sample_hits(model: ServedModel, folder: Path) -> int:
    rng = np.random.default_rng(2)
    for _ in range(6):
        teach(model, ["a"], rng)
    x = rows(["a"], rng)
    model.teach(Learn(x, ("a",))).result()
    state = model.state().learner.state()
    return reconstructions(raw_bytes(folder), state["moments.mean"][0], 7, x[0])


def test_the_sample_between_two_means_cannot_be_reconstructed(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    assert last_sample_hits(model, tmp_path) == 0
    model.close()


def stored_vectors(folder: Path) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]:
    """Return every stored vector as wide as a feature, and the sums of the classes, from the file alone."""
    database = Database.in_memory(database_file.copy_of(folder / "tested.sqlite"))
    state = database.read().state
    database.close()
    wide = [array.astype(np.float64) for array in state.values() if array.ndim and array.shape[-1] == WIDTH]
    vectors = [vector for array in wide for vector in array.reshape(-1, WIDTH) if vector.any()]
    sums = [n * mean for n, mean in zip(state["moments.count"], state["moments.mean"], strict=True)]
    return vectors, sums


def giveaways(vectors: list[NDArray[Any]], sums: list[NDArray[Any]], secrets: list[NDArray[Any]]) -> int:
    """Count the secrets that one stored vector and the sums of the classes give away.

    A secret is x = s - k v for a sum s of classes (or none, or its negative), a stored v, or the sum or difference
    of two, and any number k: that is, s - x is parallel to v.
    """
    pairs = [one + sign * other for one, other in combinations(vectors, 2) for sign in (1, -1)]
    known = np.array([v / np.linalg.norm(v) for v in [*vectors, *pairs] if np.linalg.norm(v) > 1e-6])
    bases = [np.zeros(WIDTH), *sums, np.sum(sums, axis=0)]
    return sum(
        any(
            bool((np.abs(known @ target) > (1 - 1e-7) * np.linalg.norm(target)).any())
            for base in bases
            for target in (base - secret, base + secret)
            if np.linalg.norm(target) > 1e-6
        )
        for secret in secrets
    )


@pytest.mark.parametrize("classes", ["a", "ab"])
@pytest.mark.parametrize("before", ["nothing", "undo", "forget"])
def test_no_stored_vectors_together_give_a_sample_away(tmp_path: Path, classes: str, before: str) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(4)
    secrets: list[NDArray[Any]] = []

    def learn(label: str, n: int) -> str:
        X = rows([label] * n, rng)
        secrets.extend(X.astype(np.float64))
        lesson: Any = model.teach(Learn(X, (label,) * n)).result()
        assert lesson.durable == (True,) * n
        return str(lesson.lesson)

    for n in range(2, 21):
        for label in classes:
            learn(label, 2 if n == 2 else 1)
            last = secrets[-1]
            if before == "undo":
                model.teach(Undo(learn(label, 1))).result()
            if before == "forget":
                learn("gone", 2)
                secrets.append(secrets[-1] + secrets[-2])
                model.teach(Forget("gone")).result()
            vectors, sums = stored_vectors(tmp_path)
            assert len(vectors) >= 2 * len(sums)  # at least the mean and the spread of every class
            assert giveaways(vectors, sums, secrets) == 0
            # The search would find it: the mean of everything before the last sample, stored beside these.
            careless = (np.sum(sums, axis=0) - last) / 7
            assert giveaways([*vectors, careless], sums, secrets) >= 1
    model.close()


def test_a_careless_store_would_give_it_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Database, "sweep", lambda _: True)
    careless = tuple(setting for setting in database_file.SETTINGS if "secure_delete" not in setting)
    monkeypatch.setattr(database_file, "SETTINGS", careless)
    model = new_model(tmp_path)
    assert last_sample_hits(model, tmp_path) == 40
    model.close()


@pytest.mark.parametrize("kind", STATISTICS)
def test_a_class_of_one_leaves_no_trace_in_what_is_written(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(0)
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    states = []
    for folder in ("with", "without"):
        model = new_model(tmp_path / folder, **STATISTICS[kind][0])
        model.state().learner.set_params(random_state=0)
        rng = np.random.default_rng(3)
        teach(model, ["a", "b"] * 3, rng)
        if folder == "with":
            x = rows(["single"], np.random.default_rng(9))
            lesson: Any = model.teach(Learn(x, ("single",))).result()
            assert lesson.durable == (False,)
        teach(model, ["a", "b"], rng)
        states.append(model.state().learner.state())
        raw = raw_bytes(tmp_path / folder)
        assert not found(raw, rows(["single"], np.random.default_rng(9))[0])
        assert b"single" not in raw
        model.close()
    # Neither its statistics nor its steps: every array is as if it had never been taught.
    assert all(np.array_equal(states[0][name], states[1][name]) for name in states[0])


def test_undoing_down_to_one_sample_takes_the_class_off_the_disk(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 2, rng)
    first = rows(["c"], rng)
    model.teach(Learn(first, ("c",))).result()
    lesson: Any = model.teach(Learn(rows(["c"], rng), ("c",))).result()
    assert lesson.durable == (True,)
    done: Any = model.teach(Undo(lesson.lesson)).result()
    assert done.not_durable == ("c",)
    assert not found(raw_bytes(tmp_path), first[0])
    assert [line.label for line in model.snapshot.classes] == ["a", "b", "c"]  # still known, in memory
    model.close()
