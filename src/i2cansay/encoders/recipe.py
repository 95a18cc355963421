"""A recipe: how the weights of a published network become an encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from i2cansay.disk.places import data_folders
from i2cansay.encoders.checkpoint import CheckpointError, Weights, files_of, read_checkpoint
from i2cansay.encoders.description import preprocessing_beside
from i2cansay.encoders.device import CPU
from i2cansay.encoders.encoder import Encoder, Features
from i2cansay.encoders.graph_cache import cached_session
from i2cansay.encoders.graph_joining import features_info, joined, pixels_info
from i2cansay.encoders.graph_nodes import GraphNodes
from i2cansay.encoders.network_facts import NetworkFacts
from i2cansay.encoders.onnx_session import OnnxSession
from i2cansay.encoders.preprocessing import Pixels, Preprocessing, SizeError
from i2cansay.encoders.stages import Stage, StageError, blocks_from_text, stages_fingerprint, wanted_stages
from i2cansay.encoders.used_weights import HEADS, UsedWeights

# Raise when a builder changes what it writes, so that cached graphs are built anew.
BUILDER_VERSION = "1"
CHUNK = 2**20


@dataclass(frozen=True)
class OfficialFile:
    """A file of weights as its publisher offers it.

    `sha256` is the start of its hash, empty where the publisher names none; `resize` is given where the file
    was made for another resize than the recipe's.
    """

    name: str
    url: str
    sha256: str = ""
    resize: int | None = None


@dataclass(frozen=True)
class Recipe:
    """A network that can be built from its weights.

    Attributes
    ----------
    name, summary : str
    build : callable
        (weights, preprocessing, stages=()) to an ONNX model.
    preprocessing : Preprocessing
    packaged : callable or None
        Where the weights lie in an installed package.
    files : tuple of OfficialFile
        What to fetch otherwise, the recommended one first.
    fixed_size : bool
        Whether the graph is built for one input size (position embeddings), or takes any.
    shape_of : callable or None
        Weights to their network's blocks, depth and width in words.
    shape : str
        What `shape_of` says of this network; empty where any will do.
    adapt : callable or None
        Weights under the keys of a file to weights under the keys that `build` reads. It leaves those that have
        these keys already as they are, so that doing it twice is doing it once.
    arithmetic : str
        What `build` does in another way than its family, where the weights do not tell; part of the fingerprint.
    stages : tuple of Stage
        What `features="stages"` reads besides the last layer, in the order of the blocks.
    facts : NetworkFacts or None
        What a list says of it.
    """

    name: str
    summary: str
    build: Callable[..., Any]
    preprocessing: Preprocessing
    packaged: Callable[[], Path] | None = None
    files: tuple[OfficialFile, ...] = ()
    fixed_size: bool = False
    shape_of: Callable[[Weights], str] | None = None
    shape: str = ""
    adapt: Callable[[Weights], Weights] | None = None
    arithmetic: str = ""
    stages: tuple[Stage, ...] = ()
    facts: NetworkFacts | None = None

    def open(
        self,
        *,
        name: str | None = None,
        size: int | None = None,
        threads: int | None = None,
        weights: str | Path | None = None,
        preprocessing: Preprocessing | None = None,
        features: str = "last",
        device: str = CPU,
    ) -> Encoder:
        """Return the encoder, building its graph on first use; `preprocessing` replaces the recipe's."""
        stages = wanted_stages(features, self.stages, of=name or self.name)
        path = Path(weights) if weights is not None else self.find_weights()
        file_hash = sha256_of(path)
        preprocessing = (preprocessing or self.preprocessing_for(path, file_hash)).with_size(size)
        session = self._session(path, file_hash, preprocessing, stages, device)
        notes = session.with_threads(1).get_modelmeta().custom_metadata_map
        text = f"i2cansay encoder {BUILDER_VERSION}\n{notes['weights']}\n{preprocessing.fingerprint_text()}"
        last_fingerprint = hashlib.sha256(text.encode()).hexdigest()
        model = BuiltModel(session, int(session.with_threads(1).get_outputs()[0].shape[1]))
        return Encoder(
            name or self.name,
            model=model,
            preprocessing=preprocessing,
            fingerprint=stages_fingerprint(last_fingerprint, stages),
            threads=threads,
            blocks=blocks_from_text(notes["blocks"]) if stages else (),
            last_fingerprint=last_fingerprint,
        )

    def find_weights(self) -> Path:
        """Return the weights: packaged, or an official file in a folder of I2CANSAY_DATA."""
        if self.packaged is not None:
            return self.packaged()
        for folder in data_folders():
            for file in self.files:
                for place in (folder / "weights" / file.name, folder / file.name):
                    if place.is_file():
                        return place
        raise FileNotFoundError(self.how_to_get())

    def has_weights(self) -> bool:
        """Whether the weights are where they are looked for."""
        try:
            return self.find_weights().is_file()
        except (FileNotFoundError, ImportError):
            return False

    @property
    def can_be_fetched(self) -> bool:
        """Whether a file of its weights is published."""
        return any(file.url for file in self.files)

    def how_to_get(self) -> str:
        """Say which file to fetch, from where, and what to do with it."""
        if self.packaged is not None:
            try:
                return f"{self.name} has its weights at {self.packaged()}"
            except ImportError as error:
                return str(error)
        if not self.files:
            return f"{self.name} needs a checkpoint: i2cansay encoder add {self.name} --weights FILE"
        choices = " or ".join(
            f"{file.name} ({f'sha256 {file.sha256}..., ' if file.sha256 else ''}{file.url})"
            for file in self.files
            if file.url
        )
        choices = choices or (self.facts.source if self.facts is not None else "")
        return (
            f"{self.name} needs its weights: get {choices}, then run "
            f"`i2cansay encoder add {self.name} --weights FILE`, "
            "or put the file into the folder `weights` of a folder named in I2CANSAY_DATA"
        )

    def details(self) -> tuple[str, ...]:
        """Say what is known of the network without opening it: size, licence, source, and what was checked."""
        if self.facts is None:
            return ()
        urls = [file.url for file in self.files if file.url]
        return self.facts.sentences(size=self.preprocessing.size, source=urls[0] if urls else "")

    def preprocessing_for(self, path: Path, file_hash: str) -> Preprocessing:
        """Return the preprocessing that this very file was made for, or that a TOML file beside it names."""
        for file in self.files:
            if file.sha256 and file_hash.startswith(file.sha256):
                usual = self.preprocessing
                return preprocessing_beside(
                    path, replace(usual, resize=file.resize) if file.resize else usual
                )
        for file in self.files:
            if file.sha256 and file.name == path.name:
                raise CheckpointError(
                    f"{path.name} has the sha256 {file_hash[:8]}..., expected {file.sha256}...: "
                    "download it again"
                )
        return preprocessing_beside(path, self.preprocessing)

    def _session(
        self,
        path: Path,
        file_hash: str,
        preprocessing: Preprocessing,
        stages: tuple[Stage, ...],
        device: str,
    ) -> OnnxSession:
        """The graph from the cache, or built, tried and put there."""
        side = preprocessing.size if self.fixed_size else "any"
        key = f"{BUILDER_VERSION} {self.name} {file_hash} {preprocessing.mean} {preprocessing.std} {side}"
        key += f" {stages}" if stages else ""

        def build() -> bytes:
            model = self.build_model(read_checkpoint(path), preprocessing, stages=stages)
            graph: bytes = model.SerializeToString()
            self._try(graph, preprocessing.size)
            return graph

        return cached_session(self.name, key, build, device=device)

    def _try(self, graph: bytes, size: int) -> None:
        """Run a graph that was just built once."""
        try:
            features = OnnxSession(graph).run(np.full((1, size, size, 3), 128, np.uint8))
        except (ImportError, MemoryError):
            raise
        except Exception as error:  # ONNX Runtime's own errors share no base class
            raise CheckpointError(
                f"a {self.name} of these weights cannot be run at {size} px: {error}"
            ) from error
        if not np.isfinite(features).all():
            raise CheckpointError(f"a {self.name} of these weights gives features that are infinite or NaN")

    def build_model(
        self, weights: Weights, preprocessing: Preprocessing, *, stages: tuple[Stage, ...] = ()
    ) -> Any:
        """Build the ONNX model and note in it which weights it was made from."""
        weights = self.adapted(weights)
        used = UsedWeights(weights)
        try:
            if self.shape_of is not None and (found := self.shape_of(weights)) != self.shape:
                raise CheckpointError(
                    f"{self.name} has {self.shape}, these weights have {found}; add them under a name of their own"
                )
            model = self.build(used, preprocessing, **({"stages": stages} if stages else {}))
        except (CheckpointError, SizeError, StageError, ImportError, MemoryError):
            raise
        except (KeyError, IndexError) as error:
            raise CheckpointError(f"these are not the weights of {self.name}: missing {error}") from error
        except Exception as error:  # shapes that do not fit each other fail in numpy or in ONNX's checker
            raise CheckpointError(f"these weights do not make a {self.name}: {error}") from error
        used.check(self.name)
        entry = model.metadata_props.add()
        entry.key, entry.value = "weights", digest_of(weights, self.arithmetic)
        return model

    def adapted(self, weights: Weights) -> Weights:
        """Return the weights under the keys that the network is built from."""
        try:
            return weights if self.adapt is None else self.adapt(weights)
        except (CheckpointError, MemoryError):
            raise
        except Exception as error:  # shapes that cannot be transposed or joined fail in numpy
            raise CheckpointError(f"these are not the weights of {self.name}: {error}") from error


@dataclass(frozen=True)
class BuiltModel:
    """A graph that takes pixels as they are."""

    session: OnnxSession
    dim: int

    def __call__(self, squares: Pixels, *, threads: int) -> Features:
        return self.session.run(squares, threads=threads)

    def graph(self, preprocessing: Preprocessing) -> Any:
        """Return it as an ONNX model: `pixels` in, `features` out."""
        model, nothing = self.session.model(), GraphNodes()
        sides = [pixels_info(preprocessing.size)]
        return joined(model, nothing, nothing, inputs=sides, outputs=[features_info(self.dim)])


def digest_of(weights: Weights, arithmetic: str = "") -> str:
    """Hash the weights that features depend on, by value: the file format and float width do not matter."""
    digest = hashlib.sha256(arithmetic.encode())
    for name in sorted(weights):
        array = weights[name]
        if array.dtype.kind == "f" and not name.startswith(HEADS):
            digest.update(f"{name} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array, dtype="<f4").tobytes())
    return digest.hexdigest()


def sha256_of(path: Path) -> str:
    """Hash the file of a checkpoint, or its files, one after the other."""
    if not path.exists():
        raise FileNotFoundError(f"no file of weights at {path}")
    digest = hashlib.sha256()
    for file in files_of(path):
        with file.open("rb") as stream:
            while piece := stream.read(CHUNK):
                digest.update(piece)
    return digest.hexdigest()
