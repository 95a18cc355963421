"""Encoders: images to feature vectors, on ONNX Runtime.

Examples
--------
>>> import numpy as np
>>> encoder = get_encoder("pixels", size=4)
>>> encoder.encode([np.zeros((8, 8), np.uint8), np.full((8, 8), 255, np.uint8)]).mean(axis=1)
array([0., 1.], dtype=float32)
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from i2cansay.core.import_by_name import is_import_name
from i2cansay.encoders.encoder_spec import EncoderSpec
from i2cansay.encoders.encoder_table import ENCODERS, entry_of
from i2cansay.encoders.stages import FEATURES

if TYPE_CHECKING:
    from i2cansay.encoders.encoder import Encoder

__all__ = ["ENCODERS", "get_encoder", "is_listed"]


def get_encoder(
    name: str | Path,
    *,
    features: str | None = None,
    views: str | None = None,
    device: str = "cpu",
    size: int | None = None,
    threads: int | None = None,
    weights: str | Path | None = None,
) -> Encoder:
    """Open an encoder.

    Parameters
    ----------
    name : str or Path
        A name of `ENCODERS`, one added with `i2cansay encoder add`, the path of an `.onnx` file with a TOML
        file beside it, or an entry of your own as "package.module:NAME". It may say features, views and size, too:
        `NAME[+stages|+pixels][+mirror][@SIZE]`, as "efficientnet-lite0+stages@128".
    features : {"last", "stages", "pixels"}, optional
        What is read of the network: its last layer, or the earlier maps that its recipe names as well; or the last
        layer and the pixels that the network saw, for learners that read images. By default what the name says,
        else "last".
    views : {"single", "mirror"}, optional
        With "mirror" the features are the mean of those of an image and its mirror image, at twice the time.
    device : str
        Where the network runs: "cpu", "cuda", "tensorrt", "openvino", "coreml", or the name of an execution provider
        of ONNX Runtime. Not part of the fingerprint.
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
    >>> get_encoder("pixels+mirror@4").name
    'pixels+mirror'
    >>> get_encoder("resnet19")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: no encoder is called 'resnet19'; there are clip_vitb32, ...
    """
    spec = EncoderSpec.parse(name).with_choices(features=features, views=views, size=size)
    if spec.features not in FEATURES:
        raise ValueError(f"features is one of {', '.join(FEATURES)}, got {spec.features!r}")
    if spec.size is not None and spec.size < 1:
        raise ValueError(f"expected a size of at least 1 pixel, got {spec.size}")
    options: dict[str, Any] = {"size": spec.size, "threads": threads}
    # Only where they are chosen: an entry of a user's own need not know of them.
    options |= {"features": spec.features} if spec.features == "stages" else {}
    options |= {} if device == "cpu" else {"device": device}
    encoder = _open(spec.base, options, weights).with_views(spec.views)
    return encoder.with_pixels() if spec.features == "pixels" else encoder


def is_listed(name: str) -> bool:
    """Whether a name is one of the table or of an added encoder, with or without stages and views.

    A name out of a file or a request is looked up only: it must not make us open a path, import a module, or take
    a size that somebody else has chosen.

    Examples
    --------
    >>> [is_listed(name) for name in ("pixels+mirror", "other.onnx", "os:path", "pixels@9999", "pixels+pixels")]
    [True, False, False, False, False]
    """
    from i2cansay.encoders.added import added_names

    try:
        spec = EncoderSpec.parse(name)
    except ValueError:
        return False
    # Pixels are images: whoever may not keep images does not want them as features.
    return spec.size is None and spec.features != "pixels" and spec.base in {*ENCODERS, *added_names()}


def _open(name: str, options: dict[str, Any], weights: str | Path | None) -> Encoder:
    if name.lower().endswith(".onnx"):
        if weights is not None:
            raise ValueError("an ONNX file has its weights inside; leave out weights=")
        from i2cansay.encoders.onnx_file import open_onnx

        return open_onnx(Path(name), **options)
    own = is_import_name(name)
    if weights is None and not own:
        from i2cansay.encoders.added import added_names, open_added

        added = added_names()
        if name in added:
            return open_added(name, **options)
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
    entry = entry_of(name)
    known_options = inspect.signature(entry.open).parameters
    for option in ("features", "device"):
        if option in options and option not in known_options:
            raise ValueError(f"{name} leaves no choice of {option}; leave out {options[option]!r}")
    encoder: Encoder = entry.open(weights=weights, **options)
    return encoder
