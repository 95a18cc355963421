"""Lessons of the shell: images, tables of features or feature stores, learnt whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from i2cansay.cli.image_progress import image_progress
from i2cansay.cli.material import Material
from i2cansay.cli.model import FeatureModel, known_labels
from i2cansay.cli.text_table import several
from i2cansay.features import FeatureStore, load_features
from i2cansay.image_learner import Doubt, Examination, ImageLearner, UnreadableImages
from i2cansay.image_learner.atomic_lesson import AtomicLesson
from i2cansay.image_learner.doubts import Doubts
from i2cansay.learners.labels import KINDS, same_kind
from i2cansay.learners.lessons import check_takes_lessons

if TYPE_CHECKING:
    from i2cansay.encoders.encoder import Encoder


@dataclass(frozen=True)
class Lesson:
    """What was learnt: how many samples of which noun, doubts by the name of the sample, and what was left out."""

    learnt: int
    noun: str
    doubts: list[tuple[str, Doubt]]
    skipped: list[str] = field(default_factory=list)


def learn_images(model: ImageLearner, material: Material, *, skip_bad: bool, doubts: int) -> Lesson:
    """Teach images; those of folders are shuffled, since they come class by class, in an order nobody chose."""
    order = np.arange(len(material.images))
    if material.shuffled:
        order = np.random.default_rng(0).permutation(order)
    paths = [material.paths[index] for index in order]
    labels = known_labels(material.labels, model.learner)
    with image_progress("encoding", len(paths)) as progress, unreadable_told():
        report = model.learn(
            paths,
            [labels[index] for index in order],
            on_error="skip" if skip_bad else "raise",
            doubts=doubts,
            progress=progress,
        )
    named = [(str(paths[doubt.index]), doubt) for doubt in report.doubts]
    return Lesson(report.learnt, "image", named, list(report.skipped.values()))


def examine_images(
    model: ImageLearner, material: Material, *, skip_bad: bool, error: float, new_error: float
) -> Examination:
    """Compare the answers to images with their labels."""
    with image_progress("encoding", len(material.images)) as progress, unreadable_told():
        return model.examine(
            material.paths,
            known_labels(material.labels, model.learner),
            error=error,
            new_error=new_error,
            on_error="skip" if skip_bad else "raise",
            progress=progress,
        )


@contextmanager
def unreadable_told(advice: str = "--skip-bad leaves out what cannot be read") -> Iterator[None]:
    """Name images that cannot be read as the shell does: by file, with what to do."""
    try:
        yield
    except UnreadableImages as error:
        reasons = list(error.reasons.values())
        raise ValueError(
            f"{several(len(reasons), 'image')} cannot be read, so nothing was done ({advice}): {'; '.join(reasons)}"
        ) from error


def learn_tables(
    model: FeatureModel, tables: Sequence[Path], *, label_column: str, batch_size: int | None, doubts: int
) -> Lesson:
    """Teach the rows of CSV and NPZ files, in their order."""
    check_takes_lessons(model.learner)
    found, names, starts = Doubts(doubts), list[str](), list[int]()
    lesson = AtomicLesson(model.learner, doubts=found, batch_size=batch_size)
    kind, learnt = model.learner.label_kind, 0
    for path in tables:
        file = load_features(path, label=label_column)
        y, file = file.labels(), file.ordered_as(model.columns)
        y = y.astype(str) if kind == "U" else y
        if kind is not None and not same_kind(kind, y.dtype.kind):
            raise ValueError(
                f"{path}: the labels so far are {KINDS[kind]}, these are {KINDS.get(y.dtype.kind, 'others')}; "
                "use one type of label in one model"
            )
        kind, model.columns = kind or y.dtype.kind, model.columns or file.columns
        lesson.add(file.X, y)
        names.append(str(path))
        starts.append(learnt)
        learnt += len(y)
    lesson.finish()

    def name(index: int) -> str:
        which = int(np.searchsorted(starts, index, side="right")) - 1
        return f"{names[which]}, row {index - starts[which] + 1}"

    return Lesson(learnt, "row", [(name(doubt.index), doubt) for doubt in found.found()])


def learn_stores(model: ImageLearner, stores: Sequence[FeatureStore], doubts: int) -> Lesson:
    """Teach feature stores of the model's own encoder, shuffled: they come in the order of their data set."""
    found, names = Doubts(doubts), list[str]()
    lesson = AtomicLesson(model.learner, doubts=found)
    for store in stores:
        check_store(store, model.encoder)
        order = np.random.default_rng(0).permutation(len(store))
        labels = np.array(known_labels(store.class_names, model.learner))
        for start in range(0, len(order), 1024):
            rows = order[start : start + 1024]
            X = np.asarray(store.features[rows][:, : model.encoder.dim], dtype=np.float32)
            lesson.add(X, labels[store.labels[rows]])
        names += [f"{store.path.name}, row {row}" for row in store.rows[order].tolist()]
    lesson.finish()
    return Lesson(len(names), "row", [(names[doubt.index], doubt) for doubt in found.found()])


def check_store(store: FeatureStore, encoder: Encoder) -> None:
    """Raise unless the features of a store are those of an encoder, or begin with them."""
    if encoder.fingerprint not in (store.header.encoder_fingerprint, store.header.last_fingerprint):
        raise ValueError(
            f"{store.path} was encoded with {store.header.encoder}, whose features are not those of {encoder.name} "
            f"at {encoder.preprocessing.size} px; name the store's own encoder with --encoder (NAME@SIZE), or "
            "encode the images anew"
        )
