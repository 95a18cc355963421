"""How fast an encoder is here: photographs a second, and the time of a single one."""

from __future__ import annotations

import io
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from i2cansay.encoders.encoder import Encoder
from i2cansay.encoders.extra import import_extra


@dataclass(frozen=True)
class EncoderSpeed:
    """Medians over several rounds.

    Attributes
    ----------
    images_per_second : float
        Many photographs (JPEG files in memory, 640 x 427 pixels) from bytes to features.
    milliseconds : float
        One photograph alone.
    """

    images_per_second: float
    milliseconds: float


def measure_speed(
    encoder: Encoder,
    *,
    images: int = 32,
    rounds: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> EncoderSpeed:
    """Encode the photographs that come with scikit-learn, again and again.

    Examples
    --------
    >>> from i2cansay.encoders import get_encoder
    >>> ticks = iter(range(0, 100, 2))
    >>> measure_speed(get_encoder("pixels"), images=4, rounds=2, clock=lambda: float(next(ticks)))
    EncoderSpeed(images_per_second=2.0, milliseconds=2000.0)
    """
    if images < 1 or rounds < 1:
        raise ValueError(f"expected at least 1 image and 1 round, got {images} and {rounds}")
    files = _photographs()
    many = [files[i % len(files)] for i in range(images)]
    # The first run pays for sessions and caches.
    encoder.encode(many)
    encoder.encode(files[:1])
    several, alone = [], []
    for _ in range(rounds):
        several.append(_seconds(lambda: encoder.encode(many), clock))
        alone.append(_seconds(lambda: encoder.encode(files[:1]), clock))
    return EncoderSpeed(images / statistics.median(several), 1000 * statistics.median(alone))


def _seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    begin = clock()
    work()
    return clock() - begin


def _photographs() -> list[bytes]:
    from sklearn.datasets import load_sample_images

    pillow = import_extra("PIL.Image")
    files = []
    for pixels in load_sample_images().images:
        stream = io.BytesIO()
        pillow.fromarray(pixels).save(stream, "JPEG", quality=92)
        files.append(stream.getvalue())
    return files
