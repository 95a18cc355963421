"""`i2cansay info`: what a model file holds, and what it reveals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from i2cansay.cli.model_options import Model, OwnLearner

if TYPE_CHECKING:
    from i2cansay.learners.base import OnlineClassifier


def info(
    model: Model,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of text.")] = False,
    learner: OwnLearner = None,
) -> None:
    """Say what a model file holds: classes and how many samples of each, encoder, learner, size, what it reveals.

    The encoder need not be there.

    Example: i2cansay info defects.i2cs
    """
    from i2cansay.cli.model import kind_of

    kind = kind_of(model)
    from i2cansay.learners import learner_class
    from i2cansay.learners.model_file import load_with_extra

    known, extra = load_with_extra(model, learner_class(learner) if learner else None)
    facts = _facts(model, kind, known, extra)
    typer.echo(json.dumps(facts) if as_json else _text(facts))


def _facts(model: Path, kind: str, known: OnlineClassifier, extra: dict[str, str]) -> dict[str, Any]:
    labels = known.classes_.tolist() if known._started else []
    counts = (
        known.class_counts_.tolist() if labels and hasattr(known, "class_counts_") else [None] * len(labels)
    )
    usual = type(known)().get_params(deep=False)
    facts: dict[str, Any] = {
        "file": str(model),
        "bytes": model.stat().st_size,
        "taught": kind,
        "learner": type(known).__name__,
        "parameters": {
            name: value for name, value in known.get_params(deep=False).items() if value != usual[name]
        },
        "samples": round(sum(counts)) if None not in counts else known._n_seen,
        "features": known.n_features_in_ if known._started else None,
        "classes": [
            {"label": label, "samples": None if count is None else round(count)}
            for label, count in zip(labels, counts, strict=True)
        ],
        "reveals": reveals(known, [count for count in counts if count is not None]),
    }
    if kind == "images":
        facts["encoder"] = {
            "name": extra["encoder"],
            "size": int(extra["encoder_size"]),
            "fingerprint": extra["encoder_fingerprint"],
        }
    return facts


def reveals(known: OnlineClassifier, counts: list[float]) -> list[str]:
    """Say what somebody who has the file can learn about the samples, a sentence each; docs/service.md says more."""
    said = ["It holds no image and no file name."]
    if known.stores_samples:
        return [*said, "It holds features of single samples: its learner stores some."]
    if single := sum(count < 1.5 for count in counts):
        said.append(
            f"{single} {'class has' if single == 1 else 'classes have'} a single sample, whose feature is the class "
            "mean: teach more of it, or forget it, before you give the file away."
        )
    said.append(
        "Class means are averages of features; with few samples in all, the covariance shows the space they span."
        if hasattr(known, "_scatter")
        else "Class means and spreads are averages of features; with two samples they nearly give both."
    )
    return [
        *said,
        "Two versions of the file give the sum of what was taught between them; of a single sample, its feature.",
        "A feature is no image, but tells what an image shows. Labels are readable.",
    ]


def _text(facts: dict[str, Any]) -> str:
    from i2cansay.cli.text_table import aligned, several

    lines = [f"{facts['file']}: a model of {facts['taught']}, {_size(facts['bytes'])}"]
    if encoder := facts.get("encoder"):
        lines.append(
            f"encoder  {encoder['name']} at {encoder['size']} px, fingerprint {encoder['fingerprint'][:12]}"
        )
    parameters = ", ".join(f"{name}={value!r}" for name, value in facts["parameters"].items())
    lines.append(f"learner  {facts['learner']}({parameters})")
    lines.append(
        f"taught   {several(facts['samples'], 'sample')}, {several(len(facts['classes']), 'class', 'classes')}"
    )
    if facts["classes"]:
        rows = [
            (entry["label"], "-" if entry["samples"] is None else entry["samples"])
            for entry in facts["classes"]
        ]
        lines += ["", aligned([("class", "samples"), *rows], right=[1])]
    return "\n".join(
        [*lines, "", "What the file reveals:", *(f"- {sentence}" for sentence in facts["reveals"])]
    )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:,.0f} kB"
