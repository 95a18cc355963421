"""TensorBoard as a tracker for `evaluate.play`; it needs neither torch nor TensorFlow."""

from __future__ import annotations

import html
from os import PathLike, fspath
from typing import Any

from i2cansay.adapters.peer import import_peer
from i2cansay.evaluate.metrics import summarise
from i2cansay.evaluate.outcome import Outcome
from i2cansay.evaluate.tracking import Measurement, RunFacts


class TensorBoardTracker:
    """Writes the figures of every checkpoint as scalars; the step is the number of samples learnt.

    Parameters
    ----------
    folder : path
        Of this run alone: TensorBoard shows each folder as a run. `tensorboard --logdir` takes the one above it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     tracker = TensorBoardTracker(folder)
    ...     tracker.begin(RunFacts("NCM", {"metric": "cosine"}, {"name": "step"}, n_features=4, n_test=9))
    ...     tracker.checkpoint(Measurement(0, 50, 2, 0.75, None, 0.5, 0.25))
    ...     tracker.close()
    ...     len(list(Path(folder).glob("events.out.tfevents.*")))
    1
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = fspath(folder)
        self._summary = import_peer("tensorboard.summary", '"i2cansay[tracking]"')
        self._writer: Any = None
        self._description = ""
        self._samples = 0

    def begin(self, facts: RunFacts, /) -> None:
        """Open the file; what is played is shown as the description of every scalar."""
        self._writer = self._summary.Writer(self.folder)
        lines = [f"- {html.escape(name)}: {html.escape(str(value))}" for name, value in facts.flat().items()]
        self._description = "\n".join(lines)

    def checkpoint(self, measurement: Measurement, /) -> None:
        """Write the figures."""
        self._samples = measurement.samples
        self._write(measurement.figures())

    def end(self, outcome: Outcome, /) -> None:
        """Write every metric of the whole stream as `end/NAME`, and close the file."""
        found = {f"end/{name}": value for name, value in summarise(outcome).items() if value is not None}
        self._write(found)
        self.close()

    def close(self) -> None:
        """Close the file; `end` does this, so it is needed only where the play was interrupted."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _write(self, figures: dict[str, float]) -> None:
        for name, value in figures.items():
            self._writer.add_scalar(name, float(value), step=self._samples, description=self._description)
        self._writer.flush()  # a play that is killed leaves what it measured
