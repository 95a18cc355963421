"""Data sets: images and labels in fixed splits, found on this machine by name.

Examples
--------
>>> from i2cansay.datasets import get_dataset
>>> get_dataset("digits").class_names
('0', '1', '2', '3', '4', '5', '6', '7', '8', '9')
"""

from __future__ import annotations

from pathlib import Path

from i2cansay.core.import_by_name import import_by_name, is_import_name
from i2cansay.datasets.dataset import Dataset, Image, Labels, Rows, Split
from i2cansay.datasets.definition import Definition, Download

#: Name to "module:definition"; resolved on use.
DATASETS: dict[str, str] = {
    "digits": "i2cansay.datasets.digits:DIGITS",
    "cifar10": "i2cansay.datasets.cifar:CIFAR10",
    "cifar100": "i2cansay.datasets.cifar:CIFAR100",
    "core50": "i2cansay.datasets.core50:CORE50",
    "cub200": "i2cansay.datasets.cub200:CUB200",
    "fashion_mnist": "i2cansay.datasets.fashion_mnist:FASHION_MNIST",
    "image_folder": "i2cansay.datasets.image_folder:IMAGE_FOLDER",
    "huggingface": "i2cansay.datasets.parquet:HUGGINGFACE",
}

__all__ = [
    "DATASETS",
    "Dataset",
    "Definition",
    "Download",
    "Image",
    "Labels",
    "Rows",
    "Split",
    "get_dataset",
    "get_definition",
]


def get_definition(name: str) -> Definition:
    """Return the definition of a data set, without looking for its files."""
    if name not in DATASETS and not is_import_name(name):
        raise ValueError(
            f"expected one of {', '.join(DATASETS)}, or a definition of your own as "
            f'"package.module:NAME"; got {name!r}'
        )
    definition = import_by_name(DATASETS.get(name, name))
    if not isinstance(definition, Definition):
        raise ValueError(f"expected {name} to be a Definition, got {definition!r}")
    return definition


def get_dataset(name: str, *, root: str | Path | None = None) -> Dataset:
    """Find a data set by name.

    Parameters
    ----------
    name : a key of `DATASETS`, or a `Definition` of your own as "package.module:NAME".
    root : the data set's folder, or the one above it. Without it the folders of the search path
        `I2CANSAY_DATA` are tried, for each `<folder>/<name>` and the folder itself.

    Raises
    ------
    FileNotFoundError
        If no folder holds it; the message says where it was looked for and what to fetch.
    ValueError
        If the name is unknown, or the files are damaged or incomplete.
    """
    return get_definition(name).open(None if root is None else Path(root).expanduser())
