"""Rows of files, as tasks of an engine read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.encoders import get_encoder
from i2cansay.engines import ray_engine
from i2cansay.fitting import ImageFileRows, file_rows
from tests.cli.shell import write_folder


@pytest.mark.parametrize("call", [ray_engine._call, ray_engine._call_and_sign])
def test_a_task_that_has_one_core_encodes_with_one_thread(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int | None] = []

    def opening(name: str, *, size: int | None, threads: int | None = None) -> Any:
        opened.append(threads)
        return get_encoder(name, size=size, threads=threads)

    monkeypatch.setattr(file_rows, "get_encoder", opening)
    paths, labels = zip(*write_folder(tmp_path, 3), strict=True)
    rows = ImageFileRows(paths, labels, "pixels@4", get_encoder("pixels@4").fingerprint)
    file_rows._encoder.cache_clear()
    rows.take(np.arange(3))
    call(rows.take, np.arange(3), 1)
    rows.take(np.arange(3))
    assert opened == [None, 1, None]
    file_rows._encoder.cache_clear()
