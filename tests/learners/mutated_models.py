"""Model files that were changed, with and without a checksum that is right again, of every learner.

Each must be refused with a sentence (ValueError) or give a model whose scores are finite; anything else is a
failure, printed and counted.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from i2cansay.core.types import State
from i2cansay.learners.model_file import load
from tests.learners.forged import joined, parts, taught_file

NUMBERS = (0, 1, -1, 2, 255, 4096, 2**31 - 1, 2**31, 2**53, 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-300, 1e15, 1e30, 1e38, 1e60, 1e300, -1e300, np.inf, -np.inf, np.nan)
ODD: tuple[Any, ...] = (None, True, "", "auto", "wide", "\ud800", "a\0", [], {}, [[1]], 2**70, "x" * 300)
VALUES: tuple[Any, ...] = (*NUMBERS, *FLOATS, *ODD)
DTYPES = ("f2", "f4", "f8", "i1", "i4", "i8", "u1", "u8", "?")


def flipped(data: bytes, rng: np.random.Generator) -> bytes:
    """Return the bytes with some changed, cut, or put in again, as a disk or a network may."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        if not changed:
            break
        at = int(rng.integers(len(changed)))
        match int(rng.integers(5)):
            case 0:
                changed[at] ^= 1 << int(rng.integers(8))
            case 1:
                changed[at] = int(rng.integers(256))
            case 2:
                del changed[at : at + int(rng.integers(1, 40))]
            case 3:
                changed[at:at] = changed[at : at + int(rng.integers(1, 40))]
            case 4:
                del changed[max(at, 1) :]
    return bytes(changed)


def forged(data: bytes, rng: np.random.Generator) -> bytes:
    """Return a file of other numbers, types, shapes, names, labels or parameters, and the checksum of those."""
    header, state = parts(data)
    for _ in range(int(rng.integers(1, 4))):
        if rng.random() < 0.2:
            pick((other_parameter, other_header), rng)(header, rng)
        elif state:
            pick((numbers, numbers, numbers, types, bytes_of_types, shape, names, label_text), rng)(
                state, rng
            )
    return joined(header, state)


def numbers(state: State, rng: np.random.Generator) -> None:
    name = pick(sorted(state), rng)
    array = state[name] = state[name].copy()
    if array.size:
        with np.errstate(all="ignore"):
            value = np.asarray(pick(FLOATS if array.dtype.kind == "f" else NUMBERS, rng)).astype(array.dtype)
        array.reshape(-1)[int(rng.integers(array.size)) :][: int(rng.integers(1, 4))] = value


def types(state: State, rng: np.random.Generator) -> None:
    name = pick(sorted(state), rng)
    with np.errstate(all="ignore"):
        state[name] = state[name].astype(pick(DTYPES, rng))


def bytes_of_types(state: State, rng: np.random.Generator) -> None:
    name = pick(sorted(state), rng)
    raw, kind = state[name].reshape(-1).view(np.uint8), np.dtype(pick(DTYPES, rng))
    state[name] = raw[: len(raw) // kind.itemsize * kind.itemsize].view(kind)


def shape(state: State, rng: np.random.Generator) -> None:
    name = pick(sorted(state), rng)
    array = state[name]
    state[name] = pick(
        [array[:-1], np.concatenate([array, array[:1]]), array.T, array.reshape(-1), array[:0]], rng
    )


def names(state: State, rng: np.random.Generator) -> None:
    name = pick(sorted(state), rng)
    array = state.pop(name)
    if rng.random() < 0.5:
        state[name + "x"] = array


def other_parameter(header: dict[str, str], rng: np.random.Generator) -> None:
    try:
        parameters: dict[str, Any] = dict(json.loads(header["parameters"]))
    except (ValueError, TypeError, RecursionError):  # changed before
        return
    parameters[pick([*parameters, "speed"], rng)] = pick(VALUES, rng)
    header["parameters"] = json.dumps(parameters)


def other_header(header: dict[str, str], rng: np.random.Generator) -> None:
    texts = [
        "",
        "ncm",
        "slda",
        "i2cansay_shared",
        "er",
        "1",
        "-1",
        "[]",
        "{}",
        "[" * 5000,
        "null",
        "9" * 5000,
    ]
    header[pick(["learner", "version", "format", "parameters", "extra"], rng)] = pick(texts, rng)


def label_text(state: State, rng: np.random.Generator) -> None:
    name = pick(["labels", "feature_names"], rng)
    other = pick(
        [[], ["a"], ["a", "a", "b"], [1, 2, 3], ["\ud800", "b", "c"], ["a\0", "b", "c"], 3, None, "abc"], rng
    )
    content: Any = (
        {"kind": pick(["U", "i", "b", None, "x"], rng), "labels": other} if name == "labels" else other
    )
    state[name] = np.frombuffer(json.dumps(content).encode(), np.uint8)


def pick(choices: Any, rng: np.random.Generator) -> Any:
    return choices[int(rng.integers(len(choices)))] if len(choices) else None


def attack(count: int, seed: int, learners: list[str]) -> dict[str, Any]:
    """Open `count` changed files and return what came of it; the first of each kind of failure is printed."""
    rng, outcomes, failures = np.random.default_rng(seed), Counter[str](), Counter[str]()
    questions = rng.normal(size=(4, 5))
    with tempfile.TemporaryDirectory() as folder:
        files = {learner: taught_file(learner, Path(folder)) for learner in learners}
        path = Path(folder) / "changed.i2cs"
        for data in files.values():
            path.write_bytes(data)
            load(path).predict_proba(questions)
        before, begun, slowest = peak_megabytes(), time.perf_counter(), 0.0
        for number in range(count):
            learner = learners[number % len(learners)]
            path.write_bytes((flipped if rng.random() < 0.3 else forged)(files[learner], rng))
            start = time.perf_counter()
            outcome = ask(path, questions)
            slowest = max(slowest, time.perf_counter() - start)
            outcomes[outcome if outcome in ("refused", "answers") else "FAILED"] += 1
            if outcome not in ("refused", "answers"):
                failures[f"{learner}: {outcome}"] += 1
                if failures[f"{learner}: {outcome}"] == 1:
                    print(f"{learner}, file {number}: {outcome}", flush=True)
    return {
        **dict(outcomes),
        "seconds": round(time.perf_counter() - begun, 1),
        "slowest, s": round(slowest, 2),
        "memory before, MB": before,
        "peak memory, MB": peak_megabytes(),
    }


def ask(path: Path, questions: Any) -> str:
    """Return "refused", "answers", or what went wrong."""
    try:
        model = load(path)
    except ValueError as error:
        return "refused" if len(str(error)) > 20 else f"the sentence {error}"
    except Exception as error:
        return f"load raised {type(error).__name__}: {str(error)[:150]}"
    if (
        not hasattr(model, "classes_")
        or not len(model.classes_)
        or model.n_features_in_ != questions.shape[1]
    ):
        return "answers"
    try:
        with np.errstate(all="ignore"):
            finite = (
                np.isfinite(model.class_scores(questions)).all()
                and np.isfinite(model.predict_proba(questions)).all()
            )
    except Exception as error:
        return f"asking raised {type(error).__name__}: {str(error)[:150]}"
    return "answers" if finite else "scores are not finite"


def peak_megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (
        2**20 if sys.platform == "darwin" else 2**10
    )
