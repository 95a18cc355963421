"""Encoders that a user has added, kept in the cache folder.

Each is two files: the weights (`.safetensors`, whatever they came as) or the graph (`.onnx`), and a TOML file
with how images are prepared and, for weights, which recipe builds the graph.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from i2cansay.disk.atomic import write_atomically
from i2cansay.disk.places import cache_folder
from i2cansay.encoders.checkpoint import CheckpointError, Weights, read_checkpoint
from i2cansay.encoders.description import describe, read_description
from i2cansay.encoders.device import CPU
from i2cansay.encoders.encoder import Encoder
from i2cansay.encoders.encoder_table import ENCODERS, entry_of, recipe_of
from i2cansay.encoders.onnx_file import open_onnx
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.recipe import Recipe, sha256_of

# How to tell a family by a key that only it has.
SIGNS = {
    "patch_embed.proj.weight": "vit",
    "embeddings.patch_embeddings.projection.weight": "vit",
    "layer1.0.conv1.weight": "resnet",
    "_conv_stem.weight": "efficientnet-lite0",
}


def added_folder() -> Path:
    """Return the folder of added encoders."""
    return cache_folder() / "encoders"


def added_names() -> list[str]:
    """Return the names of the added encoders, sorted."""
    return sorted(path.stem for path in added_folder().glob("*.toml"))


@dataclass(frozen=True)
class EncoderState:
    """An encoder's entry in a list: status is "ready", "added" or "needs weights"; `details` are sentences."""

    name: str
    status: str
    summary: str
    details: tuple[str, ...] = ()


def encoder_states() -> list[EncoderState]:
    """Return a line for each encoder of the table and each added one.

    Examples
    --------
    >>> next(state for state in encoder_states() if state.name == "pixels").status
    'ready'
    """
    added = added_names()
    states = []
    for name in ENCODERS:
        recipe = recipe_of(name)
        ready = recipe is None or recipe.has_weights()
        status = "added" if name in added else "ready" if ready else "needs weights"
        details = () if recipe is None else recipe.details()
        states.append(EncoderState(name, status, entry_of(name).summary, details))
    own = [name for name in added if name not in ENCODERS]
    return states + [EncoderState(name, "added", f"from {added_folder()}") for name in own]


def official_recipe(name: str) -> Recipe:
    """Return the recipe of a name in the table that needs weights."""
    recipe = recipe_of(name) if name in ENCODERS else None
    if recipe is not None and recipe.packaged is not None and not recipe.has_weights():
        raise FileNotFoundError(recipe.how_to_get())
    if recipe is None or recipe.packaged is not None:
        published = [each for each in ENCODERS if (found := recipe_of(each)) and found.can_be_fetched]
        raise ValueError(
            f"give --weights FILE for {name!r}; official weights exist for {', '.join(published)}"
        )
    return recipe


def add_encoder(name: str, weights: Path) -> Encoder:
    """Build an encoder, let it encode an image, and copy it into the cache folder.

    Parameters
    ----------
    name : str
        A name of the table that needs weights (`resnet18`), or a new one.
    weights : Path
        A checkpoint (whatever `read_checkpoint` reads), or an `.onnx` file with its TOML file beside it. Beside
        a checkpoint too, a TOML file may say how images are prepared (size, resize, interpolation, mean,
        std); what it leaves out is the recipe's.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise ValueError(f"a name has letters, digits, dots, dashes and underscores, got {name!r}")
    if name.lower().endswith(".onnx"):
        raise ValueError(f"{name} would be taken for the path of a file; leave out .onnx")
    recipe = recipe_of(name) if name in ENCODERS else None
    if name in ENCODERS and (recipe is None or recipe.packaged is not None):
        raise ValueError(f"{name} needs no weights; choose another name for yours")
    if weights.suffix.lower() == ".onnx":
        description = read_description(weights.with_suffix(".toml"))
        # So that an error names the user's file, not the copy
        open_onnx(weights, features="stages" if description.stages else "last")
        return _keep(name, ".onnx", weights.read_bytes(), description.settings())
    arrays = read_checkpoint(weights)
    recipe = recipe or _recognised(arrays)
    arrays = recipe.adapted(arrays)
    looking = recipe.preprocessing_for(weights, sha256_of(weights))
    return _keep(name, ".safetensors", _safetensors(arrays), {"recipe": recipe.name, **asdict(looking)})


@dataclass(frozen=True)
class WeightsFile:
    """Weights on the disk, the recipe that makes a network of them, and how its images are prepared."""

    recipe: Recipe
    path: Path
    preprocessing: Preprocessing


def added_weights(name: str, *, folder: Path | None = None) -> WeightsFile | None:
    """Return the weights of an encoder that was added before; None if it was added as a graph."""
    folder = folder or added_folder()
    description = folder / f"{name}.toml"
    try:
        settings = tomllib.loads(description.read_text(encoding="utf-8"))
        if "recipe" not in settings and (folder / f"{name}.onnx").is_file():
            return None
        recipe = recipe_of(settings.pop("recipe"))
        looking = describe(settings).preprocessing
    except (KeyError, ValueError) as error:
        raise ValueError(f"{description} is damaged ({error}); add {name} again") from error
    if recipe is None:
        raise ValueError(f"{description} names a recipe that needs no weights; add {name} again")
    return WeightsFile(recipe, folder / f"{name}.safetensors", looking)


def open_added(
    name: str,
    *,
    size: int | None = None,
    threads: int | None = None,
    features: str = "last",
    device: str = CPU,
    folder: Path | None = None,
) -> Encoder:
    """Open an encoder that was added before."""
    weights = added_weights(name, folder=folder)
    if weights is None:
        graph = (folder or added_folder()) / f"{name}.onnx"
        return open_onnx(graph, name=name, size=size, threads=threads, features=features, device=device)
    return weights.recipe.open(
        name=name,
        size=size,
        threads=threads,
        weights=weights.path,
        preprocessing=weights.preprocessing,
        features=features,
        device=device,
    )


def _recognised(weights: Weights) -> Recipe:
    for key, name in SIGNS.items():
        recipe = recipe_of(name)
        if key in weights and recipe is not None:
            return recipe
    raise CheckpointError(
        "expected the keys of an EfficientNet-Lite, a ResNet (torchvision) or a vision transformer "
        f"(timm, DINO), got {', '.join(sorted(weights)[:3])}, ...; export the network to ONNX instead"
    )


def _keep(name: str, suffix: str, contents: bytes, settings: dict[str, object]) -> Encoder:
    """Write the two files to a temporary folder, try them there, and move them into place."""
    folder = added_folder()
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{key} = {_toml(value)}\n" for key, value in settings.items() if value is not None]
    with TemporaryDirectory(prefix=".trying-", dir=folder) as trial:
        tried = Path(trial) / f"{name}{suffix}"
        tried.write_bytes(contents)
        tried.with_name(f"{name}.toml").write_text("".join(lines), encoding="utf-8")
        open_added(name, folder=Path(trial)).encode([np.zeros((32, 32, 3), np.uint8)])
        write_atomically(folder / tried.name, tried.replace)
    # The description last: an encoder is there once its TOML file is.
    write_atomically(folder / f"{name}.toml", lambda path: path.write_text("".join(lines), encoding="utf-8"))
    other = ".onnx" if suffix == ".safetensors" else ".safetensors"
    (folder / f"{name}{other}").unlink(missing_ok=True)
    return open_added(name)


def _toml(value: object) -> str:
    """Write a value as TOML, which is JSON but for tables.

    >>> _toml([{"output": "tokens", "scale": 0.5}])
    '[{output = "tokens", scale = 0.5}]'
    """
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(each) for each in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_toml(each)}' for key, each in value.items())}}}"
    return json.dumps(value)


def _safetensors(weights: Weights) -> bytes:
    from safetensors.numpy import save

    kept = {key: array for key, array in weights.items() if array.dtype.kind in "fib"}
    # ascontiguousarray makes a single number an array of one.
    return save({key: np.ascontiguousarray(array).reshape(array.shape) for key, array in kept.items()})
