"""Speed of an encoder: its two parts alone, and the whole way from bytes to features.

    python benchmarks/encoder.py --encoder efficientnet-lite0 --images 256 --rounds 5
    python benchmarks/encoder.py --encoder efficientnet-lite0+stages --against efficientnet-lite0 --rounds 200

Preparing (opening and resizing, one thread) and inference (bare ONNX Runtime on squares that lie ready) are
timed alone; then the pipeline, which does both. The cores allow 1 / (t_inference + t_preparation / cores)
images a second. Rounds are interleaved, so that a busy machine disturbs all parts alike. Times are medians, and a
ratio is the median of the ratios of the rounds.

Bare inference is timed in both ways that a user might write it, one call at a time with all threads on it and
one thread per core with its own calls; the ratios are to the faster of the two. On a machine that others use,
the last two lines say most: the processor time of the parts over that of the pipeline (below 1, the pipeline adds
work of its own), and the share of the time for which its workers had a batch in hand (below 1, they waited).

With --against only inference is timed, of two encoders that take turns with batches of squares on one thread; the
figure is the ratio of the medians.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

from i2cansay.encoders import get_encoder
from i2cansay.encoders.encoder import BATCH_SIZE, EncodedImages, Encoder
from i2cansay.encoders.preprocessing import Pixels

# Batch of a single call that has all threads to itself
LARGE_BATCH = 16
PREPARATION, PIPELINE = "preparation", "pipeline"
ALL_THREADS, ONE_PER_CORE = "inference, all threads", "inference, one per core"
RATIOS = (
    "pipeline / what the cores allow",
    "pipeline / bare inference",
    "processor time, parts / pipeline",
    "workers with a batch in hand",
)


def small_pngs(n: int) -> list[bytes]:
    """Return n PNG files of 32 x 32 pixels, cut from photographs."""
    photographs = [Image.fromarray(array) for array in load_sample_images().images]
    rng = np.random.default_rng(0)
    files = []
    for i in range(n):
        left, top = int(rng.integers(0, 640 - 128)), int(rng.integers(0, 427 - 128))
        files.append(
            _saved(photographs[i % 2].resize((32, 32), box=(left, top, left + 128, top + 128)), "PNG")
        )
    return files


def photographs(n: int) -> list[bytes]:
    """Return n JPEG files of 640 x 427 pixels."""
    files = [_saved(Image.fromarray(array), "JPEG") for array in load_sample_images().images]
    return [files[i % 2] for i in range(n)]


def _saved(image: Image.Image, kind: str) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **({"quality": 92} if kind == "JPEG" else {}))
    return stream.getvalue()


def one_call_at_a_time(encoder: Encoder, squares: Pixels) -> None:
    """Bare inference, every call with all threads."""
    for start in range(0, len(squares), LARGE_BATCH):
        encoder.infer(squares[start : start + LARGE_BATCH], threads=encoder.threads)


def one_thread_per_core(encoder: Encoder, squares: Pixels) -> None:
    """Bare inference, as many calls at a time as there are cores."""
    with ThreadPoolExecutor(encoder.threads) as pool:
        batches = [squares[start : start + BATCH_SIZE] for start in range(0, len(squares), BATCH_SIZE)]
        for _ in pool.map(lambda batch: encoder.infer(batch, threads=1), batches):
            pass


def measure(encoder: Encoder, files: list[bytes], rounds: int) -> dict[str, float]:
    """Return the median seconds per image of each part, and the ratios between them."""
    squares = np.stack([encoder.prepare(file) for file in files])
    parts: dict[str, Callable[[], object]] = {
        PREPARATION: lambda: [encoder.prepare(file) for file in files],
        ALL_THREADS: lambda: one_call_at_a_time(encoder, squares),
        ONE_PER_CORE: lambda: one_thread_per_core(encoder, squares),
        PIPELINE: lambda: list(encoder.encode_batches(iter(files))),
    }
    for work in parts.values():
        work()
    at_work = watch_workers(encoder)
    walls: list[dict[str, float]] = []
    ratios: dict[str, list[float]] = {name: [] for name in RATIOS}
    for _ in range(rounds):
        wall, processor = dict[str, float](), dict[str, float]()
        at_work.clear()
        for name, work in parts.items():
            begin, begin_processor = time.perf_counter(), time.process_time()
            work()
            wall[name] = (time.perf_counter() - begin) / len(files)
            processor[name] = (time.process_time() - begin_processor) / len(files)
        walls.append(wall)
        inference = min(wall[ALL_THREADS], wall[ONE_PER_CORE])
        allowed = inference + wall[PREPARATION] / encoder.threads
        needed = processor[PREPARATION] + processor[ONE_PER_CORE]
        busy = sum(at_work) / (encoder.threads * wall[PIPELINE] * len(files))
        values = (allowed / wall[PIPELINE], inference / wall[PIPELINE], needed / processor[PIPELINE], busy)
        for name, value in zip(RATIOS, values, strict=True):
            ratios[name].append(value)
    medians = {name: statistics.median(wall[name] for wall in walls) for name in parts}
    return medians | {name: statistics.median(values) for name, values in ratios.items()}


def watch_workers(encoder: Encoder) -> list[float]:
    """Return a list that gets the seconds for which a worker of the encoder had a batch in hand, for each batch."""
    seconds: list[float] = []
    part = encoder._part

    def watched(batch: list[tuple[int, Any]], threads: int) -> EncodedImages:
        begin = time.perf_counter()
        try:
            return part(batch, threads)
        finally:
            seconds.append(time.perf_counter() - begin)

    encoder._part = watched  # type: ignore[method-assign]
    return seconds


def compare(encoders: tuple[Encoder, Encoder], files: list[bytes], rounds: int) -> tuple[float, float]:
    """Return the time of inference of the first over that of the second, on the clock and of the processor."""
    squares = [np.stack([each.prepare(file) for file in files[:BATCH_SIZE]]) for each in encoders]
    walls: dict[str, list[float]] = {"first": [], "second": []}
    processors: dict[str, list[float]] = {"first": [], "second": []}
    turns = list(zip(walls, encoders, squares, strict=True))
    for _, encoder, batch in turns:
        encoder.infer(batch, threads=1)
    for number in range(rounds):
        for name, encoder, batch in turns if number % 2 else reversed(turns):
            wall, processor = time.perf_counter(), time.process_time()
            encoder.infer(batch, threads=1)
            walls[name].append(time.perf_counter() - wall)
            processors[name].append(time.process_time() - processor)
    wall_medians, processor_medians = _medians(walls), _medians(processors)
    return (
        wall_medians["first"] / wall_medians["second"],
        processor_medians["first"] / processor_medians["second"],
    )


def _medians(times: dict[str, list[float]]) -> dict[str, float]:
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--encoder", default="efficientnet-lite0")
    parser.add_argument("--against", help="another encoder; only inference of the two is compared")
    parser.add_argument("--size", type=int)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    arguments = parser.parse_args()
    encoder = get_encoder(arguments.encoder, size=arguments.size, threads=arguments.threads)
    print(f"{encoder!r}, {encoder.threads} threads")
    if arguments.against:
        other = get_encoder(arguments.against, size=arguments.size, threads=arguments.threads)
        wall, processor_time = compare((encoder, other), photographs(BATCH_SIZE), arguments.rounds)
        print(
            f"{encoder.name} / {other.name}: {wall:.3f} of the time, {processor_time:.3f} of processor time"
        )
        return
    figures = []
    for title, files in (
        ("PNG 32 x 32", small_pngs(arguments.images)),
        ("JPEG 640 x 427", photographs(arguments.images)),
    ):
        found = measure(copy.copy(encoder), files, arguments.rounds)
        figures.append({"encoder": encoder.name, "threads": encoder.threads, "images": title, **found})
        print(f"\n{title}")
        for name, value in found.items():
            if name in RATIOS:
                print(f"  {name:<34} {value:.3f}")
            else:
                print(f"  {name:<26} {1e3 * value:7.2f} ms/image  {1 / value:8.1f} images/s")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures))


if __name__ == "__main__":
    main()
