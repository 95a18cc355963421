"""Where Ray is not installed, a sentence says how to get it; where it is, nothing imports it before it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from i2cansay.engines import ray_cluster
from tests.cli.shell import refused


def test_a_missing_package_is_told_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: None)
    for words in (
        ["encode", "digits"],
        ["fit", "none.npz", "-o", tmp_path / "a.i2cs"],
        ["reproduce", "table1"],
    ):
        assert refused(*words, "--engine", "ray").endswith(
            "the engine ray needs the package ray: pip install 'i2cansay[ray]'\n"
        )


def test_a_module_that_is_missing_is_told_the_same_way() -> None:
    with pytest.raises(ImportError, match=r"pip install 'i2cansay\[ray\]'"):
        ray_cluster.import_ray("no_such_package_of_ray")


def test_ray_is_not_imported_before_it_is_used() -> None:
    code = (
        "import sys, i2cansay.cli, i2cansay.fitting, i2cansay.engines.ray_engine, i2cansay.features.ray_encoding\n"
        "import i2cansay.experiments.run.runner\n"
        "print('ray' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
