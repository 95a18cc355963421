"""The features of a data set for a command: read from the store, or encoded now with a progress bar."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import typer

from i2cansay.experiments.run.comparison import FeatureData


def features_of(
    dataset: str, encoder: str, *, size: int | None, fraction: float | None, data: Path | None = None
) -> FeatureData:
    """Return train and test features of a data set by name, from the feature store or encoded now."""
    from i2cansay.cli.encode import Meter, show_encoding
    from i2cansay.datasets import get_dataset
    from i2cansay.encoders import get_encoder
    from i2cansay.features import encode_dataset

    found, model = get_dataset(dataset, root=data), get_encoder(encoder, size=size)
    parts = {}
    for split in ("train", "test"):
        with show_encoding(f"{dataset} {split}", Meter()) as progress:
            share = fraction if split == "train" else None
            parts[split] = encode_dataset(found, model, split, fraction=share, progress=progress)
    names = np.array(found.class_names)
    (X, y), (X_test, y_test) = (
        (np.asarray(part.features, dtype=np.float32), names[part.labels]) for part in parts.values()
    )
    percent = "" if fraction is None else f" {fraction:.0%}"
    title = f"{dataset}{percent} ({len(y):,} train, {len(y_test):,} test), {model.name} {X.shape[1]}-d"
    typer.echo(f"{title}: ready", err=True)
    return FeatureData(title, X, y, X_test, y_test, tuple(block.width for block in model.blocks))
