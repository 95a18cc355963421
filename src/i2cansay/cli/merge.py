"""`i2cansay merge`: one model file of several that were taught apart."""

from __future__ import annotations

from filecmp import cmp
from itertools import combinations
from pathlib import Path
from typing import Annotated

import typer

from i2cansay.cli.model_options import OwnLearner


def merge(
    models: Annotated[list[Path], typer.Argument(help="Two or more model files of the same kind.")],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write; it must not be there yet.")],
    learner: OwnLearner = None,
) -> None:
    """Put together models that were taught apart, as if one had been taught everything.

    They must have the same encoder, learner and parameters; the files stay as they are. With best and small the
    result is exactly that of one model; with the paper's learner the statistics are, and the heads are averaged.

    Example: i2cansay merge plant-a.i2cs plant-b.i2cs -o both.i2cs
    """
    from i2cansay.cli.model import check_place, kind_of

    if len(models) < 2:
        raise ValueError(f"expected at least two models to merge, got {len(models)}")
    if twice := [path for path in models if models.count(path) > 1]:
        raise ValueError(f"{twice[0]} is given twice; its samples would count double")
    kinds = {kind_of(path) for path in models}
    if len(kinds) > 1:
        raise ValueError("some of these are models of images and others of features; merge needs one kind")
    if out.exists():
        raise ValueError(f"{out} exists; delete it, or write to another file")
    check_place(out)
    for first, other in combinations(models, 2):
        if cmp(first, other, shallow=False):
            raise ValueError(
                f"{first} and {other} have the same content; its samples would count double, so leave one out"
            )
    from i2cansay.cli.text_table import several
    from i2cansay.learners import learner_class
    from i2cansay.learners.merging import merged
    from i2cansay.learners.model_file import load_with_extra, save

    own = learner_class(learner) if learner else None
    parts, extras = zip(*(load_with_extra(path, own) for path in models), strict=True)
    for path, extra in zip(models[1:], extras[1:], strict=True):
        if extra != extras[0]:
            raise ValueError(_difference(models[0], path, extras[0], extra))
    whole = merged(parts, names=[str(path) for path in models])
    save(whole, out, extra=extras[0])
    typer.echo(
        f"{out}: {several(len(models), 'model')} merged, knows {several(len(whole.classes_), 'class', 'classes')}"
    )


def _difference(first: Path, other: Path, one: dict[str, str], two: dict[str, str]) -> str:
    if "encoder" in one:
        from i2cansay.image_learner.identity import EncoderIdentity

        identities = " and ".join(str(EncoderIdentity.from_header(extra)) for extra in (one, two))
        return f"{first} and {other} were taught with different encoders: {identities}; merge needs the same"
    return f"{first} and {other} were taught different columns, or the same in another order; merge needs the same"
