"""MLflow: a tracker for `evaluate.play`, and learners as MLflow models, saved through skops, not as a pickle."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import sklearn

from i2cansay import __version__
from i2cansay.adapters.peer import import_peer
from i2cansay.adapters.skops_types import trusted_types
from i2cansay.evaluate.metrics import summarise
from i2cansay.evaluate.outcome import Outcome
from i2cansay.evaluate.tracking import Measurement, RunFacts
from i2cansay.learners.base import OnlineClassifier

INSTALL = '"i2cansay[tracking]"'


class MlflowTracker:
    """Writes to the active run: facts as parameters, figures as metrics; the step is the number of samples learnt.

    Examples
    --------
    With a tracking server or folder of yours::

        with mlflow.start_run():
            play(learner, X, y, stream, X_test=X_test, y_test=y_test, trackers=[MlflowTracker()])
            log_learner(learner)
    """

    def __init__(self) -> None:
        self._mlflow = import_peer("mlflow", INSTALL)
        self._samples = 0

    def begin(self, facts: RunFacts, /) -> None:
        """Write what is played; MLflow allows this once per run."""
        if self._mlflow.active_run() is None:
            # MLflow would start one, and leave it open.
            raise ValueError(
                "expected an active MLflow run, there is none; play inside `with mlflow.start_run():`"
            )
        self._mlflow.log_params(facts.flat())

    def checkpoint(self, measurement: Measurement, /) -> None:
        """Write the figures."""
        self._samples = measurement.samples
        self._mlflow.log_metrics(measurement.figures(), step=measurement.samples)

    def end(self, outcome: Outcome, /) -> None:
        """Write every metric of the whole stream as `end.NAME`."""
        found = {f"end.{name}": value for name, value in summarise(outcome).items() if value is not None}
        self._mlflow.log_metrics(found, step=self._samples)


def log_learner(learner: OnlineClassifier, name: str = "learner", **options: Any) -> Any:
    """Save a learner as a model of MLflow; `mlflow.sklearn.load_model` gives it back, and it goes on learning.

    It is `mlflow.sklearn.log_model` with the one type that skops has to trust, and with the requirements that are
    really needed. Left to itself, MLflow runs the model to find them, and lists whatever happens to be imported.

    Parameters
    ----------
    learner : learner
    name : str
        Of the model in MLflow.
    **options
        For `mlflow.sklearn.log_model`, as `input_example` or `registered_model_name`.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its `model_uri` is what `load_model` takes.
    """
    flavour = import_peer("mlflow.sklearn", INSTALL)
    import_peer("skops", INSTALL)
    defaults = {
        "serialization_format": "skops",
        "skops_trusted_types": trusted_types(learner),
        "pip_requirements": requirements(),
    }
    return flavour.log_model(learner, name=name, **{**defaults, **options})


def requirements() -> list[str]:
    """Return what an environment needs to load a learner."""
    return [
        f"i2cansay=={__version__}",
        f"scikit-learn=={sklearn.__version__}",
        f"skops=={version('skops')}",
    ]
