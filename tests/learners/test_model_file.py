"""One file holds a learner; what is not such a file, whole and understood, is refused with a sentence."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import i2cansay
from i2cansay import I2CANSAY, LEARNERS, SharedI2CANSAY, make_learner
from i2cansay.learners import model_file
from i2cansay.learners.closed_form.ncm import NearestClassMean
from i2cansay.testing.blobs import batches, blobs
from i2cansay.testing.requirements import state_difference, teach


class Mine(I2CANSAY):
    """A user's own class, in no table."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "model.i2cs"
    I2CANSAY(random_state=0, momentum=0.5, memory_size=10).partial_fit(*blobs()).save(file)
    return file


def parts_of(path: Path) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, str]]:
    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118


@pytest.mark.parametrize("name", LEARNERS)
def test_a_file_says_by_itself_which_learner_it_holds(name: str, tmp_path: Path) -> None:
    small = {"n_projections": 20} if "n_projections" in make_learner(name).get_params() else {}
    model = make_learner(name, **small).partial_fit(*blobs())
    model.save(tmp_path / "model")
    loaded = i2cansay.load(tmp_path / "model")
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert state_difference(model.state(), loaded.state()) is None
    assert parts_of(tmp_path / "model")[1]["learner"] == name


@pytest.mark.parametrize("memory_size", [0, 10])
def test_resuming_is_exact_generator_included(memory_size: int, tmp_path: Path) -> None:
    stream = list(batches(blobs(per_class=30, spread=2.0)))
    parameters: dict[str, Any] = {"memory_size": memory_size, "momentum": 0.9, "pseudo": "gaussian"}
    uninterrupted = teach(I2CANSAY(random_state=7, **parameters), stream)
    model = I2CANSAY(random_state=7, **parameters)
    for batch in stream:  # a shell user: load, teach, save, each time
        teach(model, [batch]).save(tmp_path / "model")
        model = i2cansay.load(tmp_path / "model")
    assert state_difference(uninterrupted.state(), model.state()) is None
    assert uninterrupted._rng.random() == model._rng.random()


def test_a_generator_as_seed_goes_on_where_it_was(tmp_path: Path) -> None:
    stream = list(batches(blobs(spread=2.0)))
    model = teach(I2CANSAY(random_state=np.random.default_rng(5)), stream[:2])
    model.save(tmp_path / "model")
    loaded = i2cansay.load(tmp_path / "model")
    assert loaded.get_params()["random_state"] is None  # the state of the generator is in the file instead
    assert state_difference(teach(model, stream[2:]).state(), teach(loaded, stream[2:]).state()) is None


def test_untaught_and_emptied_learners_have_files_too(tmp_path: Path) -> None:
    I2CANSAY(lr=0.5).save(tmp_path / "untaught")
    untaught = i2cansay.load(tmp_path / "untaught")
    assert untaught.state() == {}
    assert untaught.get_params()["lr"] == 0.5
    model = I2CANSAY(random_state=0).partial_fit([[1.0, 2.0]], ["only"]).forget("only")
    model.save(tmp_path / "emptied")
    emptied = i2cansay.load(tmp_path / "emptied")
    assert emptied.classes_.tolist() == []
    assert emptied.partial_fit([[1.0, 2.0]], [3]).predict([[0.0, 0.0]]).tolist() == [3]


def test_unusual_labels_survive(tmp_path: Path) -> None:
    labels = ["", "ü 猫", "a\nb", "\udc80", "x" * 1000]
    I2CANSAY(random_state=0).partial_fit(np.eye(5), labels).save(tmp_path / "model")
    assert i2cansay.load(tmp_path / "model").classes_.tolist() == sorted(labels)
    I2CANSAY(random_state=0).partial_fit(np.eye(2), [-(2**63), 2**63 - 1]).save(tmp_path / "model")
    assert i2cansay.load(tmp_path / "model").classes_.tolist() == [-(2**63), 2**63 - 1]


def test_a_file_from_a_newer_version_is_refused(path: Path) -> None:
    arrays, header = parts_of(path)
    save_file(arrays, path, metadata={**header, "version": str(model_file.VERSION + 1)})
    with pytest.raises(ValueError, match=r"written by a newer i2cansay .*upgrade"):
        i2cansay.load(path)


@pytest.mark.parametrize("version", ["", "one", "-1", "1.5"])
def test_a_file_without_a_version_is_refused(version: str, path: Path) -> None:
    arrays, header = parts_of(path)
    save_file(arrays, path, metadata={**header, "version": version})
    with pytest.raises(ValueError, match="which version"):
        i2cansay.load(path)


def test_a_file_cut_short_anywhere_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    offsets = {*range(64), *np.linspace(0, len(whole) - 1, 150).astype(int).tolist(), len(whole) - 1}
    for offset in sorted(offsets):
        path.write_bytes(whole[:offset])
        with pytest.raises(ValueError, match="not a model file"):
            i2cansay.load(path)
    path.write_bytes(whole + b"more")
    with pytest.raises(ValueError, match="not a model file"):
        i2cansay.load(path)


def test_a_damaged_header_never_escapes_as_another_error(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    size = int.from_bytes(whole[:8], "little")
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.integers(0, 8 + size, size=400).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(0, 7))
        path.write_bytes(damaged)
        try:
            i2cansay.load(path)
        except ValueError:
            refused += 1
    assert refused > 200


@pytest.mark.parametrize(
    "content", [b"", b"abc", b"an ordinary text file\n" * 50, b"\x0a" + b"\0" * 7 + b"x" * 40]
)
def test_another_kind_of_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(ValueError, match="not a model file"):
        i2cansay.load(tmp_path / "other")


def test_somebody_elses_safetensors_file_is_refused(tmp_path: Path) -> None:
    save_file({"weight": np.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(ValueError, match="not a model of i2cansay"):
        i2cansay.load(tmp_path / "other.safetensors")


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no model file .*nowhere"):
        i2cansay.load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="is not a file"):
        i2cansay.load(tmp_path)


def write_parts(path: Path, arrays: dict[str, Any], header: dict[str, str]) -> None:
    """Write a file whose checksum is right, whatever is in it."""
    save_file(arrays, path, metadata={**header, "checksum": model_file._checksum(arrays, header)})


def test_a_wrong_shape_is_refused(path: Path) -> None:
    arrays, header = parts_of(path)
    for name, array in arrays.items():
        for wrong in (
            array[:-1],
            np.concatenate([array, array[-1:]]),
            array.reshape(-1, 1, *array.shape[1:]),
        ):
            write_parts(path, {**arrays, name: np.ascontiguousarray(wrong)}, header)
            with pytest.raises(ValueError, match="damaged"):
                i2cansay.load(path)
        write_parts(path, {other: a for other, a in arrays.items() if other != name}, header)
        with pytest.raises(ValueError, match=r"damaged.*lacks|damaged.*should"):
            i2cansay.load(path)


@pytest.mark.parametrize("parameters", ['{"lr": -1.0}', '{"speed": 1}', "[]", "not json", '{"lr": "fast"}'])
def test_parameters_the_learner_does_not_take_are_refused(parameters: str, path: Path) -> None:
    arrays, header = parts_of(path)
    save_file(arrays, path, metadata={**header, "parameters": parameters})
    with pytest.raises(ValueError, match="damaged"):
        i2cansay.load(path)


def test_an_unknown_learner_asks_for_its_class(tmp_path: Path) -> None:
    model = Mine(random_state=0).partial_fit(*blobs())
    model.save(tmp_path / "mine")
    with pytest.raises(ValueError, match=r"Mine.*is not a learner of this i2cansay.*learner=YourClass"):
        i2cansay.load(tmp_path / "mine")
    loaded = i2cansay.load(tmp_path / "mine", learner=Mine)
    assert type(loaded) is Mine
    assert state_difference(model.state(), loaded.state()) is None


def test_a_class_that_does_not_fit_is_refused(path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds the learner 'i2cansay' \(I2CANSAY\), not NearestClassMean"):
        i2cansay.load(path, learner=NearestClassMean)
    assert type(i2cansay.load(path, learner=Mine)) is Mine  # a subclass can take over


def test_a_failing_save_leaves_the_old_file_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()
    model = i2cansay.load(path)
    model.partial_fit(*blobs(seed=1))

    def half_written(arrays: Any, name: str, metadata: Any) -> None:
        Path(name).write_bytes(b"half")
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(model_file, "save_file", half_written)
        with pytest.raises(OSError, match="no space"):
            model.save(path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            model.save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]
    model.save(path)
    assert path.read_bytes() != before
    assert os.listdir(path.parent) == [path.name]


def test_a_parameter_no_file_can_hold_is_refused_before_anything_is_written(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"parameter lr=.* cannot be written"):
        I2CANSAY(lr=[0.1]).save(path)  # type: ignore[arg-type]
    assert path.read_bytes() == before


def test_numpy_parameters_are_written_as_numbers(tmp_path: Path) -> None:
    I2CANSAY(lr=np.float64(0.5), random_state=np.int64(3)).save(tmp_path / "model")
    parameters = json.loads(parts_of(tmp_path / "model")[1]["parameters"])
    assert parameters["lr"] == 0.5
    assert parameters["random_state"] == 3


def test_whole_numbers_come_back_as_a_tuple(tmp_path: Path) -> None:
    numbers: list[Any] = [np.int64(2), 3]
    for given in ((2, 3), [2, 3], numbers):
        SharedI2CANSAY(blocks=given).save(tmp_path / "model")
        loaded = i2cansay.load(tmp_path / "model")
        assert isinstance(loaded, SharedI2CANSAY)
        assert loaded.blocks == (2, 3)


def test_the_file_has_the_permissions_of_any_other(path: Path) -> None:
    ordinary = path.parent / "ordinary"
    ordinary.write_text("")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(ordinary.stat().st_mode)


def test_a_name_without_a_folder_and_a_name_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    I2CANSAY(random_state=0).partial_fit(*blobs()).save("model with spaces.any.ending")
    assert i2cansay.load("model with spaces.any.ending").classes_.tolist() == [0, 1, 2, 3]
