"""Encoders: images to feature vectors, on ONNX Runtime.

Examples
--------
>>> import numpy as np
>>> encoder = get_encoder("pixels", size=4)
>>> encoder.encode([np.zeros((8, 8), np.uint8), np.full((8, 8), 255, np.uint8)]).mean(axis=1)
array([0., 1.], dtype=float32)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from i2cansay.core.import_by_name import is_import_name
from i2cansay.encoders.encoder_table import ENCODERS, entry_of

if TYPE_CHECKING:
    from i2cansay.encoders.encoder import Encoder

__all__ = ["ENCODERS", "get_encoder"]


def get_encoder(
    name: str | Path,
    *,
    size: int | None = None,
    threads: int | None = None,
    weights: str | Path | None = None,
) -> Encoder:
    """Open an encoder.

    Parameters
    ----------
    name : str or Path
        A name of `ENCODERS`, one added with `i2cansay encoder add`, the path of an `.onnx` file with a TOML
        file beside it, or an entry of your own as "package.module:NAME".
    size : int, optional
        Side of the square that the encoder sees, in pixels; the encoder's own by default.
    threads : int, optional
        Cores to use; by default those that this process may use.
    weights : path, optional
        A checkpoint for a name of the table.

    Examples
    --------
    >>> get_encoder("pixels").dim
    192
    >>> get_encoder("resnet19")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: no encoder is called 'resnet19'; there are deit_tiny, dino_vits8, ...
    """
    if size is not None and size < 1:
        raise ValueError(f"expected a size of at least 1 pixel, got {size}")
    if str(name).lower().endswith(".onnx"):
        if weights is not None:
            raise ValueError("an ONNX file has its weights inside; leave out weights=")
        from i2cansay.encoders.onnx_file import open_onnx

        return open_onnx(Path(name), size=size, threads=threads)
    name = str(name)
    own = is_import_name(name)
    if weights is None and not own:
        from i2cansay.encoders.added import added_names, open_added

        added = added_names()
        if name in added:
            return open_added(name, size=size, threads=threads)
        if name not in ENCODERS:
            known = ", ".join(sorted({*ENCODERS, *added}))
            raise ValueError(
                f"no encoder is called {name!r}; there are {known}; "
                'one of your own goes by "package.module:NAME"'
            )
    elif name not in ENCODERS and not own:
        raise ValueError(
            f"weights= goes with one of {', '.join(ENCODERS)}; add {name!r} with `i2cansay encoder add`"
        )
    encoder: Encoder = entry_of(name).open(size=size, threads=threads, weights=weights)
    return encoder
