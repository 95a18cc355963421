"""Adapters import their package on use, and say in one sentence where it is missing."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from i2cansay.adapters.peer import import_peer
from i2cansay.learners import make_learner

PACKAGES = ("datasets", "mlflow", "pandas", "polars", "river", "skops", "tensorboard", "torch")


@pytest.mark.adapters
@pytest.mark.skipif("I2CANSAY_ADAPTERS" not in os.environ, reason="asked by make test-adapters")
@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_is_left_out(package: str) -> None:
    assert import_module(package)


def test_nobody_imports_a_package_before_it_is_used() -> None:
    adapters = ["hugging_face", "mlflow_tracking", "skops_types", "tensorboard_tracking", "torch_loader"]
    names = [f"i2cansay.adapters.{name}" for name in adapters]
    heavy = [name for name in PACKAGES if name != "pandas"]  # scikit-learn imports it where it is installed
    code = (
        f"import sys, i2cansay, {', '.join(names)}\nprint([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def use_river(folder: Path) -> None:
    # A class that was imported before stays the one under its name: other tests pickle it.
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "i2cansay.adapters.river_classifier", raising=False)
        import_module("i2cansay.adapters.river_classifier")


def use_mlflow(folder: Path) -> None:
    from i2cansay.adapters.mlflow_tracking import MlflowTracker

    MlflowTracker()


def save_to_mlflow(folder: Path) -> None:
    from i2cansay.adapters.mlflow_tracking import log_learner

    log_learner(make_learner("ncm"))


def use_tensorboard(folder: Path) -> None:
    from i2cansay.adapters.tensorboard_tracking import TensorBoardTracker

    TensorBoardTracker(folder)


def use_torch(folder: Path) -> None:
    from i2cansay.adapters.torch_loader import learn_loader

    learn_loader(make_learner("ncm"), [])


def use_datasets(folder: Path) -> None:
    from i2cansay.adapters.hugging_face import lessons

    next(lessons(None))


@pytest.mark.parametrize(
    ("package", "use", "install"),
    [
        ("river", use_river, '"i2cansay[river]"'),
        ("mlflow", use_mlflow, '"i2cansay[tracking]"'),
        ("mlflow", save_to_mlflow, '"i2cansay[tracking]"'),
        ("tensorboard", use_tensorboard, '"i2cansay[tracking]"'),
        ("torch", use_torch, '"i2cansay[torch]"'),
        ("datasets", use_datasets, "datasets"),
    ],
)
def test_a_missing_package_is_named_with_the_command(
    package: str, use: Any, install: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = [name for name in sys.modules if name == package or name.startswith(f"{package}.")]
    for name in {package, *loaded}:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError) as raised:
        use(tmp_path)
    assert str(raised.value) == f"this adapter needs the package {package}: pip install {install}"


def test_a_package_that_is_broken_keeps_its_own_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_peer.py").write_text("import a_package_nobody_has")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="No module named 'a_package_nobody_has'"):
        import_peer("broken_peer", "broken_peer")
