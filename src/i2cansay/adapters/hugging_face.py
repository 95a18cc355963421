"""Images of the Hugging Face library `datasets`, as lessons for an `ImageLearner`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from i2cansay.adapters.peer import import_peer

INSTALL = "datasets"
LESSON_SIZE = 1024


def lessons(
    dataset: Any, *, image: str = "image", label: str = "label", size: int = LESSON_SIZE
) -> Iterator[tuple[list[bytes | str], list[Any]]]:
    """Yield the rows of a data set as pairs of images and labels, for `ImageLearner.learn`, `score` or `examine`.

    Images stay files until the model opens them, with its limits and the right side up. Labels of the type
    `ClassLabel` get their names.

    Parameters
    ----------
    dataset : datasets.Dataset or datasets.IterableDataset
        A split; a streaming one is read once, and never whole.
    image, label : str
        Names of the columns.
    size : int
        Rows per lesson. A lesson is learnt whole or not at all.

    Examples
    --------
    >>> from datasets import ClassLabel, Dataset, Features, Image
    >>> from sklearn.datasets import load_sample_images
    >>> rows = {"image": load_sample_images().images, "label": [0, 1]}
    >>> features = Features({"image": Image(), "label": ClassLabel(names=["palace", "flower"])})
    >>> dataset = Dataset.from_dict(rows, features=features)
    >>> from i2cansay import ImageLearner
    >>> model = ImageLearner("pixels")
    >>> for images, labels in lessons(dataset):
    ...     report = model.learn(images, labels)
    >>> model.classes_
    array(['flower', 'palace'], dtype='<U6')
    """
    library = import_peer("datasets", INSTALL)
    columns = dataset.features
    if columns is None:
        raise ValueError(
            "expected a data set that knows its features, this one does not; pass features= where you load it"
        )
    _check_column(columns, image)
    _check_column(columns, label)
    if not isinstance(columns[image], library.Image):
        raise ValueError(
            f"expected images in the column {image!r}, got {columns[image]!r}; "
            "cast it first: dataset.cast_column(name, datasets.Image())"
        )
    names = columns[label].names if isinstance(columns[label], library.ClassLabel) else None
    files = dataset.select_columns([image, label]).cast_column(image, library.Image(decode=False))
    for batch in files.iter(batch_size=size):
        yield [_file(found) for found in batch[image]], [_named(found, names) for found in batch[label]]


def _check_column(columns: Any, name: str) -> None:
    if name not in columns:
        raise ValueError(
            f"expected a column {name!r}, the data set has {', '.join(columns)}; name one of them"
        )


def _file(found: dict[str, Any] | None) -> bytes | str:
    if found is None:
        raise ValueError("expected an image in every row, got a row without one; filter such rows out first")
    content: bytes | str = found["path"] if found["bytes"] is None else found["bytes"]
    return content


def _named(label: Any, names: list[str] | None) -> Any:
    if names is None:
        return label
    if label is None or label < 0:
        raise ValueError(
            "expected a label in every row, got one without (-1), as hub test sets have them; use another split"
        )
    return names[label]
