"""Arguments and options that several commands about model files share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[Path, typer.Argument(help="A model file.")]
OwnLearner = Annotated[
    str | None,
    typer.Option(help="For a model of a learner of your own: its class, as `package.module:Class`."),
]
OpenEncoder = Annotated[
    str | None,
    typer.Option(help="The path of the model's encoder (.onnx), where it is not found by its name."),
]
Threads = Annotated[int | None, typer.Option(min=1, help="Cores to use; by default all.")]
LabelColumn = Annotated[
    str, typer.Option(help="Column of a CSV file that holds the label, or key of a JSONL file.")
]
Error = Annotated[
    float, typer.Option(min=0, max=1, help="Share of wrong answers that is allowed among those called sure.")
]
NewError = Annotated[
    float, typer.Option(min=0, max=1, help="Share of images of known classes that may be called new.")
]
