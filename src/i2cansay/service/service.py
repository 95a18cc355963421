"""A data folder and the models in it."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from i2cansay.disk.atomic import sync_folder
from i2cansay.disk.file_lock import exclusive
from i2cansay.image_learner.identity import EncoderIdentity
from i2cansay.service.access.tokens import Tokens
from i2cansay.service.errors import ServiceError, conflict, not_found, not_stored, refused
from i2cansay.service.limits import Limits
from i2cansay.service.model.exchange import read_export
from i2cansay.service.model.new_model import USUAL, OfferedChoice, offered, spelled_out, usual_encoder
from i2cansay.service.model.open_encoders import ImageQueue, OpenEncoders
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.model.size import check_size
from i2cansay.service.service_metrics import ServiceMetrics
from i2cansay.service.storage.database import Damaged, Database
from i2cansay.service.storage.database_file import MODEL_SUFFIX, remove
from i2cansay.service.storage.model_records import ModelFacts, check_name

log = logging.getLogger("i2cansay.service")


class Service:
    """The models of a data folder, ready to learn and predict; one process at a time.

    Parameters
    ----------
    folder : Path
        Created if missing. Holds `models/NAME.sqlite`, `tokens.json` and `lock`.
    limits : Limits
    learner, encoder : str
        What a model is made with where nothing else is asked for: a name of `CHOICES` or `LEARNERS`, and an encoder,
        "" for the one that goes with the learner.

    Attributes
    ----------
    models : dict from str to ServedModel
    damaged : dict from str to str
        Why a model could not be opened. Both are replaced, never changed, so that threads can iterate over them.
    """

    def __init__(
        self, folder: Path, *, limits: Limits | None = None, learner: str = USUAL, encoder: str = ""
    ) -> None:
        self.folder = folder
        self.limits = limits or Limits()
        self.learner = learner
        self.encoder = encoder
        self.metrics = ServiceMetrics()
        self.encoders = OpenEncoders(self.limits)
        self.tokens = Tokens(folder)
        self.models: dict[str, ServedModel] = {}
        self.damaged: dict[str, str] = {}
        self.stopping = False
        self.read_only = ""
        self._changing = threading.Lock()
        self._held = ExitStack()
        self._add_gauges()
        self._take_folder()
        for path in sorted(self._places.glob(f"[a-z0-9]*{MODEL_SUFFIX}")):
            self._open(path)

    @property
    def _places(self) -> Path:
        return self.folder / "models"

    def _take_folder(self) -> None:
        def refuse() -> None:
            raise ValueError(
                f"another service uses the folder {self.folder}; stop it first, or use another folder"
            )

        try:
            self._places.mkdir(parents=True, exist_ok=True)
            self._held.enter_context(exclusive(self.folder / "lock", waiting=refuse))
            for half in [*self._places.glob(".*.new"), *self._places.glob(".*.gone")]:
                remove(half)  # left by a crash while a model was being made or deleted
        except OSError as error:
            if not self._places.is_dir():
                raise
            self.read_only = f"the data folder cannot be written ({error.strerror})"
            log.warning("%s: models can predict, but not learn", self.read_only)

    def _open(self, path: Path) -> None:
        try:
            self.models = {**self.models, path.stem: ServedModel(path, self.limits, self.metrics)}
        except Damaged as error:
            self.damaged = {**self.damaged, path.stem: str(error)}
            log.error("the model %s %s; the others are served", path.stem, error)

    # -- models ---------------------------------------------------------------------------------------------

    def model(self, name: str) -> ServedModel:
        """Return a model by name; raise ServiceError where there is none, or it is damaged."""
        if (found := self.models.get(name)) is not None:
            return found
        if name in self.damaged:
            raise ServiceError(
                503, "damaged", f"the model {name!r} {self.damaged[name]}; restore its file from a backup"
            )
        raise not_found(f"there is no model {name!r}")

    def image_queue(self, model: ServedModel) -> ImageQueue:
        """Return the queue before the encoder of a model; raise ServiceError where the model takes features only."""
        if model.facts.encoder is None:
            raise refused(f"the model {model.facts.name!r} takes features, not images")
        return self.encoders.of(model.facts.encoder)

    def create(
        self,
        name: str,
        *,
        learner: str = "",
        parameters: dict[str, Any] | None = None,
        encoder: str | None = "",
        min_samples: int = 2,
    ) -> ServedModel:
        """Make a model.

        `learner` is a choice or a name, "" for the usual one. `encoder` is a name, "" for the usual one of the
        learner, or None for a model of features.
        """
        chosen = learner or self.learner
        facts = ModelFacts(check_name(name), chosen, parameters or {}, None, min_samples, time.time())
        facts.untried()  # a wrong name is told before an encoder is opened for it
        identity, widths = None, list[int]()
        if encoder is not None:
            opened = self.encoders.named(encoder or self.encoder or usual_encoder(chosen)).encoder
            identity, widths = EncoderIdentity.of(opened), [block.width for block in opened.blocks]
        named, given = spelled_out(chosen, facts.parameters, widths)
        facts = replace(facts, learner=named, parameters=given, encoder=identity)
        # Before the learner is tried: some allocate their matrix at once.
        check_size(facts.untried(), sum(widths) or facts.least_width, 1, self.limits.state_bytes)
        facts.make()
        return self._add(facts, lambda path: Database.create(path, facts))

    def choices(self) -> list[OfferedChoice]:
        """Return what a new model can be, in plain words."""
        return offered(self.learner, self.encoder or None)

    def import_model(self, name: str, data: bytes, min_samples: int = 2) -> ServedModel:
        """Make a model from an exported file."""
        facts, state, changes = read_export(
            data, name=check_name(name), min_samples=min_samples, limits=self.limits
        )
        if facts.encoder is not None:
            self.encoders.of(facts.encoder)

        def write(path: Path) -> None:
            Database.create(path, facts, state, changes)

        return self._add(facts, write)

    def _add(self, facts: ModelFacts, write: Callable[[Path], None]) -> ServedModel:
        with self._changing:
            if facts.name in self.models or facts.name in self.damaged:
                raise conflict(f"there is a model {facts.name!r} already")
            if len(self.models) + len(self.damaged) >= self.limits.models:
                raise conflict(f"there are {self.limits.models} models, which is the limit; delete one")
            path = self._places / f"{facts.name}{MODEL_SUFFIX}"
            if path.exists():
                raise conflict(f"there is a file {path.name} that came after the start; restart to serve it")
            try:
                write(path)
                model = ServedModel(path, self.limits, self.metrics)
            except Damaged as error:
                with suppress(OSError):
                    remove(path)
                raise not_stored(str(error)) from error
            except (sqlite3.Error, OSError) as error:
                raise not_stored(str(error)) from error
            self.models = {**self.models, facts.name: model}
            return model

    def delete(self, name: str) -> None:
        """Delete a model and overwrite its file."""
        with self._changing:
            if name not in self.damaged:
                self.model(name)
            path = self._places / f"{name}{MODEL_SUFFIX}"
            gone = path.with_name(f".{name}.gone")
            try:
                if (model := self.models.get(name)) is not None:
                    self.models = {other: kept for other, kept in self.models.items() if other != name}
                    model.close(deleted=True)
                for part in ("", "-wal", "-shm"):
                    place = path.with_name(path.name + part)
                    if place.exists():
                        place.replace(gone.with_name(gone.name + part))
                sync_folder(self._places)
                remove(gone)
            except OSError as error:
                self._open(path)
                raise not_stored(str(error)) from error
            self.damaged = {other: why for other, why in self.damaged.items() if other != name}

    # -- the whole ------------------------------------------------------------------------------------------

    def warm(self) -> None:
        """Open the encoders of all models now, not at the first image."""
        for name, model in self.models.items():
            if model.facts.encoder is not None:
                try:
                    self.encoders.of(model.facts.encoder)
                except ServiceError as error:
                    log.warning("the model %s takes features only: %s", name, error)

    def _add_gauges(self) -> None:
        gauge = self.metrics.gauge
        gauge("models", "Models that are served.", lambda: len(self.models))
        gauge("models_damaged", "Models that cannot be opened.", lambda: len(self.damaged))
        gauge(
            "waiting_to_learn",
            "Requests that wait for a commit.",
            lambda: sum(model.waiting for model in list(self.models.values())),
        )
        gauge("waiting_to_encode", "Requests that wait for an encoder.", self.encoders.waiting)

    def close(self) -> None:
        """Answer the waiting requests, then release the folder."""
        self.stopping = True
        self.encoders.close()
        for model in self.models.values():
            model.close()
        self._held.close()
